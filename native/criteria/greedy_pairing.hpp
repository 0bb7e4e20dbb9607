// The deltas of scored events that take references one after the other, the best event first.
//
// Each event takes the free reference with the largest intersection over union that is enough. So
// what it is does not depend on events with lower ranks. Of equal references, it takes the one with
// the later onset, then with the later offset. An event that takes none, but has enough in common
// with an ignored reference, is neither right nor wrong.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "clips/ignored_references.hpp"
#include "clips/reference_table.hpp"
#include "clips/references.hpp"
#include "core/time.hpp"
#include "criteria/delta_rows.hpp"
#include "criteria/iou.hpp"
#include "criteria/overlap_ratio.hpp"

namespace sedscope {

// A kernel that takes events. Those of a clip and class come in the order of their ranks, and so
// do the rows.
class GreedyPairing {
public:
    explicit GreedyPairing(const IoU& rule) : rule_(rule) {}

    void begin(const ClipReferences& references, int32_t label, double) {
        references.counted_in_layers(label, own_);
        taken_.assign(count_in_layers(own_), 0);
        ignored_ = references.ignored(label);
    }

    void add(const Interval& event, double score, DeltaRows<double>& rows) {
        if (take_reference(event))
            rows.detections.push(score, 1, 0);
        else if (!is_ignored(event))
            rows.detections.push(score, 0, 1);
    }

    void finish(DeltaRows<double>&) {}

private:
    static bool starts_first(const Interval& a, const Interval& b) {
        return a.onset != b.onset ? a.onset < b.onset : a.offset < b.offset;
    }

    // Takes the best free reference of an event. Returns whether there is one.
    bool take_reference(const Interval& event) {
        OverlapRatio best{0, 1};
        Interval best_times{};
        std::size_t before = 0, chosen = taken_.size();
        for (References& layer : own_) {
            rule_.candidates(layer, event.onset, event.offset, [&](std::size_t j) {
                if (taken_[before + j]) return;
                const OverlapRatio ratio = overlap_ratio(event, layer[j]);
                const bool better = chosen == taken_.size() || ratio > best ||
                                    (!(best > ratio) && starts_first(best_times, layer[j]));
                if (!better) return;
                best = ratio;
                best_times = layer[j];
                chosen = before + j;
            });
            before += layer.count();
        }
        if (chosen == taken_.size()) return false;
        taken_[chosen] = 1;
        return true;
    }

    bool is_ignored(const Interval& event) {
        bool ignored = false;
        for (References& layer : ignored_.layers)
            rule_.candidates(layer, event.onset, event.offset,
                             [&](std::size_t) { ignored = true; });
        return ignored;
    }

    IoU rule_;
    std::vector<References> own_;  // in layers: those of one layer do not overlap
    std::vector<uint8_t> taken_;   // per reference, layer after layer
    IgnoredReferences ignored_;
};

}  // namespace sedscope
