// Visits scored entries group by group, in each group from the highest score to the lowest.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "core/buffer.hpp"

namespace sedscope {

// `Entry` has a `group` and a `score`.
template <class Entry>
class GroupedSweep {
public:
    Buffer<Entry> entries;

    // Sorts the entries by group, then by decreasing score. Groups are numbered [0, groups).
    void arrange(std::size_t groups) {
        starts_.assign(groups + 1, 0);
        for (const Entry& entry : entries) ++starts_[entry.group + 1];
        for (std::size_t g = 0; g < groups; ++g) starts_[g + 1] += starts_[g];
        next_.assign(starts_.begin(), starts_.end() - 1);
        sorted_.assign(entries.size());
        for (const Entry& entry : entries) sorted_[next_[entry.group]++] = entry;
        for (std::size_t g = 0; g < groups; ++g)
            std::sort(sorted_.begin() + starts_[g], sorted_.begin() + starts_[g + 1],
                      [](const Entry& a, const Entry& b) { return a.score > b.score; });
    }

    bool empty(std::size_t group) const { return starts_[group] == starts_[group + 1]; }

    // Calls `take(entry)` for each entry of a group.
    template <class Take>
    void each(std::size_t group, Take&& take) const {
        for (std::size_t i = starts_[group]; i < starts_[group + 1]; ++i) take(sorted_[i]);
    }

    // Calls `take(entry)` for each entry of a group, and `settle(score)` after the last one of each
    // distinct score.
    template <class Take, class Settle>
    void sweep(std::size_t group, Take&& take, Settle&& settle) const {
        const Entry* entry = sorted_.data() + starts_[group];
        const Entry* const end = sorted_.data() + starts_[group + 1];
        while (entry != end) {
            const auto score = entry->score;
            for (; entry != end && entry->score == score; ++entry) take(*entry);
            settle(score);
        }
    }

private:
    Buffer<Entry> sorted_;
    std::vector<std::size_t> starts_, next_;
};

}  // namespace sedscope
