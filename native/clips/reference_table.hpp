// The reference events of many clips in one table, and those of one clip by class.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "clips/ignored_references.hpp"
#include "clips/label_runs.hpp"
#include "clips/references.hpp"
#include "clips/stretches.hpp"
#include "core/out_of_line.hpp"
#include "core/time.hpp"

namespace sedscope {

// Events of all clips, ordered by clip, class and onset.
struct EventTable {
    const Interval* events;
    const int32_t* labels;
    const int64_t* starts;  // clip i has the events [starts[i], starts[i + 1])

    // Calls `use(label, first, count)` for each class that has events in a clip.
    template <class Use>
    void each_class(std::size_t clip, Use&& use) const {
        each_label_run(labels, starts[clip], starts[clip + 1],
                       [&](int32_t label, int64_t first, int64_t end) {
                           use(label, events + first, static_cast<std::size_t>(end - first));
                       });
    }
};

// Reference events of all clips. Those of one clip and class may overlap; see ReferenceIndex.
struct ReferenceTable {
    EventTable counted;
    EventTable ignored;  // starts are null if there are none
};

// The references of one clip, for the classes that have any.
struct ClipReferences {
    std::vector<ReferenceIndex> by_class;  // as many as labels or more: entries are reused
    std::vector<int32_t> labels;
    std::vector<IgnoredIndex> ignored_by_class;  // likewise
    std::vector<int32_t> ignored_labels;
    std::size_t clip = 0;
    const Time* edges = nullptr;  // the clip's frame boundaries
    std::size_t boundaries = 0;
    std::vector<std::size_t> instants;  // frames of no length

    SEDSCOPE_OUT_OF_LINE void assign(const ReferenceTable& table, std::size_t clip_number,
                                     const Time* clip_edges, std::size_t clip_boundaries) {
        clip = clip_number;
        is_cut_ = false;
        edges = clip_edges;
        boundaries = clip_boundaries;
        instants.clear();
        for (std::size_t frame = 0; frame + 1 < boundaries; ++frame)
            if (edges[frame] == edges[frame + 1]) instants.push_back(frame);
        labels.clear();
        table.counted.each_class(
            clip, [&](int32_t label, const Interval* events, std::size_t count) {
                add_class(label, labels, by_class).assign(events, count, edges, boundaries);
            });
        ignored_labels.clear();
        if (!table.ignored.starts) return;
        table.ignored.each_class(clip,
                                 [&](int32_t label, const Interval* events, std::size_t count) {
                                     add_class(label, ignored_labels, ignored_by_class)
                                         .assign(events, count, counted(label), edges, boundaries);
                                 });
    }

    // Returns the references of a class that count; none if it has none.
    References counted(int32_t label) const {
        for (std::size_t k = 0; k < labels.size(); ++k)
            if (labels[k] == label) return References(by_class[k]);
        return References();
    }

    // Writes the references of a class that count to `layers`; those of one layer do not overlap.
    void counted_in_layers(int32_t label, std::vector<References>& layers) const {
        layers.clear();
        const References first = counted(label);
        if (first.count() > 0) layers.push_back(first);
        first.add_further_layers(layers);
    }

    // Returns the ignored references of a class.
    IgnoredReferences ignored(int32_t label) const {
        for (std::size_t k = 0; k < ignored_labels.size(); ++k)
            if (ignored_labels[k] == label) return ignored_by_class[k].references();
        return IgnoredReferences();
    }

    // Writes the references of all other classes to `others`.
    void of_others(int32_t label, std::vector<OtherClass>& others) const {
        others.clear();
        for (std::size_t k = 0; k < labels.size(); ++k)
            if (labels[k] != label) others.push_back({labels[k], References(by_class[k])});
    }

    // Cuts the clip at the boundaries of each set of references.
    void cut(const std::vector<References>& sets, Stretches& stretches) const {
        stretches.cut(edges, boundaries, instants, sets);
    }

    // The clip cut at the boundaries of all references that count; set k is of class labels[k]. It
    // is cut when somebody first asks, so threads that share references must not ask at once.
    const Stretches& stretches() const {
        if (!is_cut_) {
            sets_.clear();
            for (std::size_t k = 0; k < labels.size(); ++k) sets_.emplace_back(by_class[k]);
            cut(sets_, stretches_);
            is_cut_ = true;
        }
        return stretches_;
    }

private:
    // Adds a label. Returns the index of its class, perhaps that of an earlier clip.
    template <class Index>
    static Index& add_class(int32_t label, std::vector<int32_t>& labels,
                            std::vector<Index>& indices) {
        if (indices.size() == labels.size()) indices.emplace_back();
        labels.push_back(label);
        return indices[labels.size() - 1];
    }

    mutable bool is_cut_ = false;
    mutable std::vector<References> sets_;
    mutable Stretches stretches_;
};

}  // namespace sedscope
