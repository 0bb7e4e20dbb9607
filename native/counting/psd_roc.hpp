// PSD-ROC curves: which operating points of a class lie on its curve, and the curve over all
// classes.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/buffer.hpp"
#include "core/parallel.hpp"
#include "counting/run_minima.hpp"

namespace sedscope {

// Returns the rows with more true positives than all of lower rates, by rising rate. Of equal
// rates, the one with the most true positives comes first. Rows with a rate above `highest` are
// left out.
inline Buffer<int64_t> best_of_rates(const int64_t* tp, const double* rates, std::size_t count,
                                     double highest) {
    // of consecutive rows with equal true positives only the cheapest can lie on the best curve
    Buffer<int64_t> rows = first_minima_of_runs(tp, rates, count);
    int64_t* const end = std::remove_if(rows.begin(), rows.end(),
                                        [&](int64_t row) { return !(rates[row] <= highest); });
    std::sort(rows.begin(), end, [&](int64_t a, int64_t b) {
        if (rates[a] != rates[b]) return rates[a] < rates[b];
        return tp[a] != tp[b] ? tp[a] > tp[b] : a < b;
    });
    Buffer<int64_t> best;
    int64_t most = 0;
    for (const int64_t* row = rows.begin(); row != end; ++row) {
        if (tp[*row] <= most) continue;
        most = tp[*row];
        best.push(*row);
    }
    return best;
}

// A step function: `y[i]` holds from `x[i]` on, which rises from 0.
struct Steps {
    const double* x;
    const double* y;
    std::size_t count;
};

// The area under a step function from 0 to `end`.
inline double area_under(const Steps& curve, double end) {
    double area = 0;
    for (std::size_t i = 0; i < curve.count; ++i) {
        const double next = i + 1 < curve.count ? std::min(curve.x[i + 1], end) : end;
        area += (next - std::min(curve.x[i], end)) * curve.y[i];
    }
    return area;
}

// Writes, at each of some rising rates, the mean of the curves less `weight` times their standard
// deviation, but not below 0. Adds up in the order of the curves.
inline void mean_of_curves(const std::vector<Steps>& curves, const double* rates, std::size_t count,
                           double weight, std::size_t threads, double* out) {
    constexpr std::size_t block = 512;  // rates
    const auto number = static_cast<double>(curves.size());
    parallel_for((count + block - 1) / block, threads, [&] {
        return [&, levels = std::vector<double>(block), sums = std::vector<double>(block),
                means = std::vector<double>(block)](std::size_t part) mutable {
            const std::size_t first = part * block, size = std::min(block, count - first);
            // calls `use(levels)` with the heights of each curve at the rates of the block
            const auto each_curve = [&](auto&& use) {
                for (const Steps& curve : curves) {
                    std::size_t step = static_cast<std::size_t>(
                        std::upper_bound(curve.x, curve.x + curve.count, rates[first]) - curve.x);
                    for (std::size_t i = 0; i < size;) {
                        std::size_t last = size;
                        if (step < curve.count)
                            last = static_cast<std::size_t>(std::lower_bound(rates + first + i,
                                                                             rates + first + size,
                                                                             curve.x[step]) -
                                                            (rates + first));
                        std::fill(levels.begin() + static_cast<std::ptrdiff_t>(i),
                                  levels.begin() + static_cast<std::ptrdiff_t>(last),
                                  curve.y[step - 1]);
                        i = last;
                        ++step;
                    }
                    use(levels.data());
                }
            };
            std::fill(sums.begin(), sums.end(), 0.0);
            each_curve([&](const double* level) {
                for (std::size_t i = 0; i < size; ++i) sums[i] += level[i];
            });
            for (std::size_t i = 0; i < size; ++i) means[i] = sums[i] / number;
            std::fill(sums.begin(), sums.end(), 0.0);
            each_curve([&](const double* level) {
                for (std::size_t i = 0; i < size; ++i) {
                    const double apart = level[i] - means[i];
                    sums[i] += apart * apart;
                }
            });
            for (std::size_t i = 0; i < size; ++i)
                out[first + i] = std::max(means[i] - weight * std::sqrt(sums[i] / number), 0.0);
        };
    });
}

}  // namespace sedscope
