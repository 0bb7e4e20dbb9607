// A clip cut into stretches of frames at the boundaries of references.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "clips/references.hpp"
#include "core/time.hpp"

namespace sedscope {

// Frames that end before frame `end`, and begin where the stretch before ends. Each set of
// references covers all of a stretch or none of it, except where `mixed`: that is one frame with a
// boundary inside it, or of no length.
struct Stretch {
    std::size_t end;
    bool mixed;
    std::size_t first_cover, end_cover;  // events in it: a range of `Stretches::covers`
};

class Stretches {
public:
    struct Cover {
        uint32_t set;    // the number of the set of references
        uint32_t event;  // which of its events it is
    };

    // Cuts a clip at the boundaries of each set of references. Those of one set do not overlap.
    // `instants`: the frames of no length.
    void cut(const Time* edges, std::size_t boundaries, const std::vector<std::size_t>& instants,
             const std::vector<References>& sets) {
        cuts_.clear();
        mixed_.clear();
        for (const std::size_t frame : instants) add_mixed(frame);
        next_.assign(sets.size(), 0);
        for (const References& references : sets)
            for (std::size_t j = 0; j < references.count(); ++j) {
                add_boundary(references[j].onset, edges, boundaries);
                add_boundary(references[j].offset, edges, boundaries);
            }
        cuts_.push_back(boundaries - 1);
        std::sort(cuts_.begin(), cuts_.end());
        std::sort(mixed_.begin(), mixed_.end());
        stretches_.clear();
        covers_.clear();
        std::size_t first = 0;
        auto mixed = mixed_.begin();
        for (const std::size_t end : cuts_) {
            if (end == first) continue;
            while (mixed != mixed_.end() && *mixed < first) ++mixed;
            const bool is_mixed = mixed != mixed_.end() && *mixed == first;
            const std::size_t first_cover = covers_.size();
            find_covers(edges[first], edges[end], sets);
            stretches_.push_back({end, is_mixed, first_cover, covers_.size()});
            first = end;
        }
    }

    std::size_t size() const { return stretches_.size(); }
    const Stretch& operator[](std::size_t i) const { return stretches_[i]; }
    // The events in a stretch.
    const Cover* begin(const Stretch& stretch) const {
        return covers_.data() + stretch.first_cover;
    }
    const Cover* end(const Stretch& stretch) const { return covers_.data() + stretch.end_cover; }

private:
    void add_boundary(Time time, const Time* edges, std::size_t boundaries) {
        const Time* const edge = std::lower_bound(edges, edges + boundaries, time);
        const auto number = static_cast<std::size_t>(edge - edges);
        if (number == 0 || number == boundaries) return;  // not inside the clip
        if (*edge == time)
            cuts_.push_back(number);
        else
            add_mixed(number - 1);
    }

    void add_mixed(std::size_t frame) {
        mixed_.push_back(frame);
        cuts_.push_back(frame);
        cuts_.push_back(frame + 1);
    }

    // Records which sets have events in the stretch [from, until).
    void find_covers(Time from, Time until, const std::vector<References>& sets) {
        for (std::size_t k = 0; k < sets.size(); ++k) {
            const References& events = sets[k];
            std::size_t& next = next_[k];
            while (next < events.count() && events[next].offset <= from) ++next;
            for (std::size_t j = next; j < events.count() && events[j].onset < until; ++j)
                covers_.push_back({static_cast<uint32_t>(k), static_cast<uint32_t>(j)});
        }
    }

    std::vector<std::size_t> cuts_;   // boundaries of frames
    std::vector<std::size_t> mixed_;  // frames
    std::vector<std::size_t> next_;   // per set, the first event that ends after the stretch begins
    std::vector<Stretch> stretches_;
    std::vector<Cover> covers_;
};

}  // namespace sedscope
