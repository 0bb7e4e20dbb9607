// Runs of equal labels.
#pragma once

#include <cstdint>

namespace sedscope {

// Calls `use(label, first, end)` for each run [first, end) of equal labels among [begin, end).
template <class Use>
void each_label_run(const int32_t* labels, int64_t begin, int64_t end, Use&& use) {
    for (int64_t first = begin, last; first < end; first = last) {
        for (last = first + 1; last < end && labels[last] == labels[first]; ++last) {
        }
        use(labels[first], first, last);
    }
}

}  // namespace sedscope
