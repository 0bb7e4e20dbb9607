// The cheapest row of each run of rows that are alike.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/buffer.hpp"

namespace sedscope {

// Returns, for each run of consecutive equal values, the index of its first smallest cost. A run
// with a cost that is not a number has none.
template <class Cost>
Buffer<int64_t> first_minima_of_runs(const int64_t* runs, const Cost* costs, std::size_t count) {
    Buffer<int64_t> minima;
    for (std::size_t first = 0, next; first < count; first = next) {
        std::size_t smallest = first;
        bool are_numbers = true;
        for (next = first; next < count && runs[next] == runs[first]; ++next) {
            are_numbers &= costs[next] == costs[next];
            if (costs[next] < costs[smallest]) smallest = next;
        }
        if (are_numbers) minima.push(static_cast<int64_t>(smallest));
    }
    return minima;
}

}  // namespace sedscope
