// Rows of deltas of one class, where the caller keeps them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sedscope {

// Rows by clip, in any order of scores. `starts` has clips + 1 values; row numbers count from
// starts[0], and so for cross-triggers. `Change` is one byte, or more if clips have weights.
template <class T, class Change>
struct ClassRows {
    std::size_t clips;
    const int64_t* starts;
    const T* scores;
    const Change* tp;
    const Change* fp;
    const int64_t* cross_starts;  // null if there are no cross-triggers
    const T* cross_scores;
    const int32_t* cross_labels;
    const Change* ct;

    std::size_t count() const { return static_cast<std::size_t>(starts[clips] - starts[0]); }
    std::size_t cross_count() const {
        return cross_starts ? static_cast<std::size_t>(cross_starts[clips] - cross_starts[0]) : 0;
    }
};

}  // namespace sedscope
