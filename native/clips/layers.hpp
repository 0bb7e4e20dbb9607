// Events that overlap, separated into layers in which they do not.
#pragma once

#include <cstddef>
#include <vector>

#include "core/time.hpp"

namespace sedscope {

// Whether any of the events, which are sorted by onset, overlap.
inline bool any_overlap(const Interval* events, std::size_t count) {
    for (std::size_t j = 1; j < count; ++j)
        if (events[j].onset < events[j - 1].offset) return true;
    return false;
}

// Puts each event, in order of onset, into the first layer that is free there.
inline void separate(const Interval* events, std::size_t count,
                     std::vector<std::vector<Interval>>& layers) {
    layers.clear();
    for (std::size_t j = 0; j < count; ++j) {
        std::size_t layer = 0;
        while (layer < layers.size() && layers[layer].back().offset > events[j].onset) ++layer;
        if (layer == layers.size()) layers.emplace_back();
        layers[layer].push_back(events[j]);
    }
}

}  // namespace sedscope
