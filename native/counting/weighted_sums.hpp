// Sums over clips, of whole numbers times the weights of many resamples.
//
// numpy would multiply the matrices on threads of its own, which then wait for more work and take
// the cores from everything that follows.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/parallel.hpp"
#include "counting/lane_weights.hpp"

namespace sedscope {

class WeightedSums {
public:
    // `weights`: (resamples x clips). `heaviest`: of them, at most 2^24.
    WeightedSums(const int32_t* weights, std::size_t resamples, std::size_t clips, int64_t heaviest,
                 std::size_t threads)
        : resamples_(resamples),
          clips_(clips),
          threads_(threads),
          heaviest_(static_cast<double>(heaviest)),
          blocks_((resamples + lanes - 1) / lanes) {
        parallel_for(blocks_.size(), threads, [&] {
            return [&](std::size_t block) {
                blocks_[block].assign(weights, clips, block * lanes, end_of(block));
            };
        });
    }

    std::size_t resamples() const { return resamples_; }
    std::size_t clips() const { return clips_; }

    // No sum of `values` (clips x columns) is larger.
    double most(const double* values, std::size_t columns) const {
        std::vector<double> totals(columns);
        for (std::size_t clip = 0; clip < clips_; ++clip)
            for (std::size_t c = 0; c < columns; ++c)
                totals[c] += std::abs(values[clip * columns + c]);
        double largest = 0;
        for (double total : totals) largest = std::max(largest, total);
        return largest * heaviest_;
    }

    // Writes the (resamples x columns) sums of `values` (clips x columns), which must be below
    // 2^63: each is exact, and rounded once if a double does not hold it.
    void add_up(const double* values, std::size_t columns, double* sums) const {
        const double largest = most(values, columns);
        if (largest < (1 << 24))
            add_up_as<float>(values, columns, sums);
        else if (largest < static_cast<double>(int64_t{1} << 53))
            add_up_as<double>(values, columns, sums);
        else
            add_up_as<int64_t>(values, columns, sums);
    }

private:
    static constexpr std::size_t lanes = 32;

    std::size_t end_of(std::size_t block) const {
        return std::min((block + 1) * lanes, resamples_);
    }

    // `Number` holds all sums exactly.
    template <class Number>
    void add_up_as(const double* values, std::size_t columns, double* sums) const {
        parallel_for(blocks_.size(), threads_, [&] {
            return [&, totals = std::vector<Number>(columns * lanes)](std::size_t block) mutable {
                std::fill(totals.begin(), totals.end(), Number{0});
                for (std::size_t clip = 0; clip < clips_; ++clip) {
                    const float* weights = blocks_[block].of_clip(static_cast<int32_t>(clip));
                    for (std::size_t c = 0; c < columns; ++c) {
                        const auto value = static_cast<Number>(values[clip * columns + c]);
                        if (value == 0) continue;
                        Number* const total = totals.data() + c * lanes;
                        for (std::size_t k = 0; k < lanes; ++k)
                            total[k] += static_cast<Number>(weights[k]) * value;
                    }
                }
                for (std::size_t i = block * lanes; i < end_of(block); ++i)
                    for (std::size_t c = 0; c < columns; ++c)
                        sums[i * columns + c] =
                            static_cast<double>(totals[c * lanes + (i - block * lanes)]);
            };
        });
    }

    std::size_t resamples_, clips_, threads_;
    double heaviest_;
    std::vector<LaneWeights<float, lanes>> blocks_;
};

}  // namespace sedscope
