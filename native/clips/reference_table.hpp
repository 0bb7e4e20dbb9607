// The reference events of many clips in one table, and those of one clip by class.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "clips/references.hpp"
#include "core/time.hpp"

namespace sedscope {

// Reference events of all clips, ordered by clip, class and onset.
struct ReferenceTable {
    const Interval* events;
    const int32_t* labels;
    const int64_t* starts;  // clip i has the events [starts[i], starts[i + 1])
};

// The references of one clip, for the classes that have any.
struct ClipReferences {
    std::vector<ReferenceIndex> by_class;  // as many as labels or more: entries are reused
    std::vector<int32_t> labels;

    void assign(const ReferenceTable& table, std::size_t clip, const Time* edges,
                std::size_t boundaries) {
        labels.clear();
        const int64_t end = table.starts[clip + 1];
        for (int64_t first = table.starts[clip], last; first < end; first = last) {
            const int32_t label = table.labels[first];
            for (last = first; last < end && table.labels[last] == label; ++last) {
            }
            if (by_class.size() == labels.size()) by_class.emplace_back();
            by_class[labels.size()].assign(
                table.events + first, static_cast<std::size_t>(last - first), edges, boundaries);
            labels.push_back(label);
        }
    }

    // Returns the references of class `c` and writes those of all other classes to `others`.
    References split(std::size_t c, std::vector<OtherClass>& others) const {
        References own;
        others.clear();
        for (std::size_t k = 0; k < labels.size(); ++k) {
            if (labels[k] == static_cast<int32_t>(c))
                own = References(by_class[k]);
            else
                others.push_back({labels[k], References(by_class[k])});
        }
        return own;
    }
};

}  // namespace sedscope
