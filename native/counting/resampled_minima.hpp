// The fewest false positives at each number of true positives, of many resamples: sets of weights
// of the clips. A curve of precision over recall needs no more.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/parallel.hpp"
#include "counting/lane_weights.hpp"
#include "counting/weighted_counts.hpp"

namespace sedscope {

// Goes through the operating points of a class for a few resamples side by side. `Real` holds all
// counts exactly. One per thread: it keeps its buffers.
template <class Real>
class MinimaResampler {
public:
    static constexpr std::size_t lanes = 32;

    // `weights`: (resamples x clips).
    MinimaResampler(const int32_t* weights, std::size_t clips)
        : all_weights_(weights), clips_(clips) {}

    // Takes resamples [first, last), at most `lanes`.
    void take(std::size_t first, std::size_t last) {
        lanes_used_ = last - first;
        weights_.assign(all_weights_, clips_, first, last);
    }

    // Writes the fewest false positives at 0, 1, … true positives, for each resample to where
    // `fewest(lane)` points; there, -1 says that none are found with so many.
    template <class T, class Change, class Fewest>
    void measure(const OrderedRows<T, Change>& ordered, Fewest&& fewest) const {
        Real tp[lanes] = {}, fp[lanes] = {}, tp_before[lanes] = {}, least[lanes] = {};
        auto finish = [&](std::size_t k) {
            int64_t& at = fewest(k)[static_cast<std::size_t>(tp_before[k])];
            const int64_t number = static_cast<int64_t>(least[k]);
            at = at < 0 ? number : std::min(at, number);
        };
        bool tp_changed = false;
        for (const auto& row : ordered.rows()) {
            const Real* weights = weights_.of_clip(row.clip);
            const Real false_change = static_cast<Real>(row.fp);
            for (std::size_t k = 0; k < lanes; ++k) fp[k] += weights[k] * false_change;
            if (row.tp) {
                const Real change = static_cast<Real>(row.tp);
                for (std::size_t k = 0; k < lanes; ++k) tp[k] += weights[k] * change;
                tp_changed = true;
            }
            if (!row.last) continue;
            if (tp_changed) {
                for (std::size_t k = 0; k < lanes_used_; ++k) {
                    if (tp[k] == tp_before[k]) continue;
                    finish(k);
                    tp_before[k] = tp[k];
                    least[k] = fp[k];
                }
                tp_changed = false;
            }
            for (std::size_t k = 0; k < lanes; ++k) least[k] = std::min(least[k], fp[k]);
        }
        for (std::size_t k = 0; k < lanes_used_; ++k) finish(k);
    }

private:
    const int32_t* all_weights_;
    std::size_t clips_, lanes_used_ = 0;
    LaneWeights<Real, lanes> weights_;
};

// Writes the minima of all resamples and classes: those of a resample and class begin at its place
// in `starts` (count x classes).
template <class Real, class T, class Change>
void resampled_minima(const std::vector<OrderedRows<T, Change>>& rows, const int32_t* weights,
                      std::size_t count, std::size_t clips, const std::vector<std::size_t>& starts,
                      std::size_t threads, int64_t* minima) {
    using Resampler = MinimaResampler<Real>;
    constexpr std::size_t lanes = Resampler::lanes;
    const std::size_t classes = rows.size();
    parallel_for((count + lanes - 1) / lanes, threads, [&] {
        return [&, resampler = Resampler(weights, clips)](std::size_t block) mutable {
            const std::size_t first = block * lanes;
            resampler.take(first, std::min(first + lanes, count));
            for (std::size_t c = 0; c < classes; ++c)
                resampler.measure(rows[c], [&, c](std::size_t k) {
                    return minima + starts[(first + k) * classes + c];
                });
        };
    });
}

}  // namespace sedscope
