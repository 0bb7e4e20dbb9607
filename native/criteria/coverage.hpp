// How much of a reference is covered where the threshold falls.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>

#include "core/time.hpp"

namespace sedscope {

// A change of the time for which detections cover a reference, where the threshold falls below the
// score.
template <class T>
struct Coverage {
    uint32_t group;  // the reference
    T score;
    Time change;
};

// The highest score at which the time of all entries with at least this score is enough. That of
// all together is. The entries are put into another order.
//
// It is found like the n-th element of a list: by comparing with the score of some entry, and going
// on with the higher or the lower ones. The entry is chosen at random, because the one in the
// middle would always be the lowest of a score that falls and rises again.
template <class T>
T score_of_enough(Coverage<T>* first, Coverage<T>* end, Time required) {
    std::minstd_rand random;
    while (true) {
        const T pivot = first[random() % static_cast<std::size_t>(end - first)].score;
        Time above = 0, equal = 0;
        Coverage<T>* const not_above = std::partition(first, end, [&](const Coverage<T>& entry) {
            const bool higher = entry.score > pivot;
            above += higher ? entry.change : 0;
            equal += entry.score == pivot ? entry.change : 0;
            return higher;
        });
        if (above >= required) {
            end = not_above;
        } else if (above + equal >= required) {
            return pivot;
        } else {
            required -= above + equal;
            first = std::partition(not_above, end,
                                   [&](const Coverage<T>& entry) { return entry.score == pivot; });
        }
    }
}

}  // namespace sedscope
