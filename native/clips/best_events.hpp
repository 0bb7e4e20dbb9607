// Scored events in the order of their ranks.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "clips/detection_table.hpp"
#include "core/buffer.hpp"

namespace sedscope {

// Returns the `top` best events of each clip and class, the best first or, unless `ranked`, in the
// order of the table.
inline Buffer<int64_t> best_events(const DetectionTable<double>& detected, std::size_t clips,
                                   std::size_t top, bool ranked) {
    const auto is_better = [&](int64_t a, int64_t b) { return detected.is_better(a, b); };
    Buffer<int64_t> kept;
    std::vector<int64_t> group;
    for (std::size_t clip = 0; clip < clips; ++clip) {
        detected.each_class(clip, [&](int32_t, int64_t first_event, int64_t end) {
            group.resize(static_cast<std::size_t>(end - first_event));
            std::iota(group.begin(), group.end(), first_event);
            if (group.size() > top) {
                const auto last = group.begin() + static_cast<std::ptrdiff_t>(top);
                std::nth_element(group.begin(), last, group.end(), is_better);
                group.erase(last, group.end());
                if (!ranked) std::sort(group.begin(), group.end());
            }
            if (ranked) std::sort(group.begin(), group.end(), is_better);
            for (const int64_t event : group) kept.push(event);
        });
    }
    return kept;
}

}  // namespace sedscope
