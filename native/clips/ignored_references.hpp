// The ignored references of one class in one clip: they need not be found, and detections that
// match them are neither right nor wrong.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "clips/layers.hpp"
#include "clips/references.hpp"
#include "core/time.hpp"

namespace sedscope {

// Look-ups of the ignored references. Each user has its own copy.
struct IgnoredReferences {
    std::vector<References> layers;  // all of them; those of one layer do not overlap
    References united;               // the time of ignored and counted references together

    bool any() const { return !layers.empty(); }
    std::size_t count() const { return count_in_layers(layers); }
};

// What the look-ups need besides the events. Built once for a clip and class, then only read.
class IgnoredIndex {
public:
    // `events` are sorted by onset and may overlap. `counted`: the other references of the class.
    void assign(const Interval* events, std::size_t count, const References& counted,
                const Time* edges, std::size_t boundaries) {
        separate(events, count, layers_);
        layer_indices_.resize(layers_.size());
        for (std::size_t layer = 0; layer < layers_.size(); ++layer)
            layer_indices_[layer].assign(layers_[layer].data(), layers_[layer].size(), edges,
                                         boundaries);
        unite(events, count, counted);
        united_index_.assign(united_.data(), united_.size(), edges, boundaries);
    }

    IgnoredReferences references() const {
        IgnoredReferences ignored;
        for (const ReferenceIndex& index : layer_indices_) ignored.layers.emplace_back(index);
        ignored.united = References(united_index_);
        return ignored;
    }

private:
    void unite(const Interval* events, std::size_t count, const References& counted) {
        std::vector<Interval> all(events, events + count);
        for (std::size_t j = 0; j < counted.count(); ++j) all.push_back(counted[j]);
        std::sort(all.begin(), all.end(),
                  [](const Interval& a, const Interval& b) { return a.onset < b.onset; });
        united_.clear();
        for (const Interval& event : all) {
            if (united_.empty() || united_.back().offset < event.onset)
                united_.push_back(event);
            else
                united_.back().offset = std::max(united_.back().offset, event.offset);
        }
    }

    std::vector<std::vector<Interval>> layers_;
    std::vector<ReferenceIndex> layer_indices_;
    std::vector<Interval> united_;
    ReferenceIndex united_index_;
};

}  // namespace sedscope
