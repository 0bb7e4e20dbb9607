// The best F-score over all thresholds, of many resamples: sets of weights of the clips.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "core/parallel.hpp"
#include "counting/lane_weights.hpp"
#include "counting/point_sweep.hpp"
#include "counting/weighted_counts.hpp"

namespace sedscope {

// Finds the best F-score of a class for a few resamples side by side. `Real` holds all counts
// exactly. One per thread: it keeps its buffers.
template <class Real>
class FscoreResampler {
public:
    static constexpr std::size_t lanes = 32;

    // `weights`: (resamples x clips). `weight`: of recall, the square of beta.
    FscoreResampler(const int32_t* weights, std::size_t clips, double weight)
        : all_weights_(weights), clips_(clips), weight_(weight) {}

    // Takes resamples [first, last), at most `lanes`.
    void take(std::size_t first, std::size_t last) {
        lanes_used_ = last - first;
        weights_.assign(all_weights_, clips_, first, last);
    }

    // Writes the best F-score of each resample; 0 where nothing is ever found. `references`,
    // `best`: of the resamples, `stride` apart. Without references, the value means nothing.
    template <class T, class Change>
    void measure(const OrderedRows<T, Change>& ordered, const int64_t* references, double* best,
                 std::size_t stride) {
        for (std::size_t k = 0; k < lanes_used_; ++k) best[k * stride] = 0;
        FalsePositives<Real, lanes> false_positives;
        auto limit = [&](std::size_t k, Real tp) {
            return most_false_positives(tp, references[k * stride], best[k * stride]);
        };
        auto look = [&](std::size_t k, Real tp) {
            const Real fp = false_positives.costs()[k];
            double& highest = best[k * stride];
            highest = std::max(highest, fscore(tp, fp, references[k * stride]));
            return fp;
        };
        sweep_points(ordered, weights_, lanes_used_, false_positives, limit, look);
    }

private:
    // The arithmetic has the same order as for one set of counts, so that the bits are the same.
    double fscore(double tp, double fp, int64_t references) const {
        const double fn = static_cast<double>(references) - tp;
        const double whole = (1 + weight_) * tp + weight_ * fn + fp;
        return whole > 0 ? (1 + weight_) * tp / whole : 0;
    }

    // More false positives than any point with a better F-score has; a little is left for rounding.
    Real most_false_positives(double tp, int64_t references, double best) const {
        if (tp == 0) return -std::numeric_limits<Real>::infinity();
        if (best == 0) return std::numeric_limits<Real>::infinity();
        const double most =
            (1 + weight_) * tp / best - tp - weight_ * static_cast<double>(references);
        return static_cast<Real>(std::ceil(most + 1e-9 * (std::abs(most) + tp + 1)));
    }

    const int32_t* all_weights_;
    std::size_t clips_, lanes_used_ = 0;
    double weight_;
    LaneWeights<Real, lanes> weights_;
};

// Writes the best F-scores of all resamples and classes, as `best` (count x classes).
template <class Real, class T, class Change>
void resampled_fscore(const std::vector<OrderedRows<T, Change>>& rows, const int32_t* weights,
                      std::size_t count, std::size_t clips, const int64_t* references,
                      double weight, std::size_t threads, double* best) {
    using Resampler = FscoreResampler<Real>;
    constexpr std::size_t lanes = Resampler::lanes;
    const std::size_t classes = rows.size();
    parallel_for((count + lanes - 1) / lanes, threads, [&] {
        return [&, resampler = Resampler(weights, clips, weight)](std::size_t block) mutable {
            const std::size_t first = block * lanes;
            resampler.take(first, std::min(first + lanes, count));
            for (std::size_t c = 0; c < classes; ++c)
                resampler.measure(rows[c], references + first * classes + c,
                                  best + first * classes + c, classes);
        };
    });
}

}  // namespace sedscope
