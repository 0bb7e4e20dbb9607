// How well the scored events of a clip and class hit its references: the largest intersection over
// union of any event with any reference.
//
// The deltas have one row for each clip and class with references and events. Its score is that
// value, so the true positives at a score count the clips that reach it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "clips/reference_table.hpp"
#include "clips/references.hpp"
#include "core/fraction.hpp"
#include "core/time.hpp"
#include "criteria/delta_rows.hpp"
#include "criteria/iou.hpp"
#include "criteria/overlap_ratio.hpp"

namespace sedscope {

// A kernel that takes events.
class QueryOverlap {
public:
    void begin(const ClipReferences& references, int32_t label, double) {
        references.counted_in_layers(label, own_);
        best_ = {0, 1};
        answered_ = false;
    }

    void add(const Interval& event, double, DeltaRows<double>&) {
        answered_ = true;
        for (References& layer : own_)
            any_.candidates(layer, event.onset, event.offset, [&](std::size_t j) {
                const OverlapRatio ratio = overlap_ratio(event, layer[j]);
                if (ratio > best_) best_ = ratio;
            });
    }

    void finish(DeltaRows<double>& rows) {
        if (answered_ && !own_.empty()) rows.detections.push(best_.value(), 1, 0);
    }

private:
    IoU any_{{Fraction(0, 1)}, true};  // any time that is shared will do
    std::vector<References> own_;      // in layers: those of one layer do not overlap
    OverlapRatio best_{0, 1};
    bool answered_ = false;
};

}  // namespace sedscope
