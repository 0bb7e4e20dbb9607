// Means over the rows of a matrix, group by group, each rounded only once.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/buffer.hpp"
#include "core/exact_means.hpp"

namespace sedscope {

// The mean of each column over the rows [starts[g], starts[g + 1]), for each group g of rows; 0 if
// there are none.
template <class T>
Buffer<double> group_means(const T* values, std::size_t columns, const int64_t* starts,
                           std::size_t groups) {
    Buffer<double> means(groups * columns);
    ExactMeans sums;
    for (std::size_t g = 0; g < groups; ++g) {
        sums.begin(columns);
        for (int64_t row = starts[g]; row < starts[g + 1]; ++row) {
            const T* const of_row = values + static_cast<std::size_t>(row) * columns;
            sums.add([&](std::size_t c) { return of_row[c]; }, 1);
        }
        for (std::size_t c = 0; c < columns; ++c)
            means[g * columns + c] = sums.weight() > 0 ? sums.mean(c) : 0;
    }
    return means;
}

}  // namespace sedscope
