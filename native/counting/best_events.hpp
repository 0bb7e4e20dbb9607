// Scored events in the order of their scores.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "clips/detection_table.hpp"
#include "core/buffer.hpp"
#include "core/time.hpp"

namespace sedscope {

struct ScoredEvent {
    Interval times;
    double score;
};

inline bool starts_first(const Interval& a, const Interval& b) {
    return a.onset != b.onset ? a.onset < b.onset : a.offset < b.offset;
}

// Whether `a` comes first: by falling score, then onset, then offset.
inline bool is_better(const ScoredEvent& a, const ScoredEvent& b) {
    return a.score != b.score ? a.score > b.score : starts_first(a.times, b.times);
}

// Returns the `top` best events of each clip and class, in the order of the table.
inline Buffer<int64_t> best_events(const DetectionTable<double>& detected, std::size_t clips,
                                   std::size_t top) {
    Buffer<int64_t> kept;
    std::vector<int64_t> group;
    for (std::size_t clip = 0; clip < clips; ++clip) {
        detected.each_class(clip, [&](int32_t, int64_t first_event, int64_t end) {
            group.resize(static_cast<std::size_t>(end - first_event));
            std::iota(group.begin(), group.end(), first_event);
            if (group.size() > top) {
                const auto last = group.begin() + static_cast<std::ptrdiff_t>(top);
                std::nth_element(group.begin(), last, group.end(), [&](int64_t a, int64_t b) {
                    const ScoredEvent first{detected.events[a], detected.scores[a]};
                    const ScoredEvent second{detected.events[b], detected.scores[b]};
                    return is_better(first, second) || (!is_better(second, first) && a < b);
                });
                group.erase(last, group.end());
                std::sort(group.begin(), group.end());
            }
            for (const int64_t event : group) kept.push(event);
        });
    }
    return kept;
}

}  // namespace sedscope
