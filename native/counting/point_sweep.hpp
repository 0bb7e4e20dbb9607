// Goes through the operating points of a class for a few resamples side by side, and stops only at
// points that may improve what a resample has found so far.
#pragma once

#include <cstddef>
#include <cstdint>

#include "counting/lane_weights.hpp"

namespace sedscope {

// `ordered`: the rows of the class. `lanes_used`: the lanes with a resample.
//
// `limit(lane, tp)` returns how many false positives are too many for a point with so many true
// positives. `look(lane, tp, fp)` is called at a point with fewer; until the true positives change,
// only points with fewer than this one follow.
template <class Rows, class Real, std::size_t lanes, class Limit, class Look>
void sweep_points(const Rows& ordered, const LaneWeights<Real, lanes>& all_weights,
                  std::size_t lanes_used, Limit&& limit, Look&& look) {
    Real tp[lanes] = {}, fp[lanes] = {}, tp_before[lanes] = {};
    LanesToLookAt<Real, lanes> to_look_at;
    auto look_at_points = [&](const Real* weights) {
        to_look_at.visit(fp, weights, [&](std::size_t k) {
            look(k, tp[k], fp[k]);
            to_look_at.to_beat[k] = fp[k];
        });
    };
    bool at_point = false, tp_changed = false;
    for (const auto& row : ordered.rows()) {
        const Real* weights = all_weights.of_clip(row.clip);
        if (at_point && (!row.last || row.makes_worse()))
            look_at_points(row.last ? weights : all_weights.of_any());
        const Real fp_change = static_cast<Real>(row.fp);
        for (std::size_t k = 0; k < lanes; ++k) fp[k] += weights[k] * fp_change;
        if (row.tp) {
            const Real tp_change = static_cast<Real>(row.tp);
            for (std::size_t k = 0; k < lanes; ++k) tp[k] += weights[k] * tp_change;
            tp_changed = true;
        }
        at_point = row.last;
        if (!at_point || !tp_changed) continue;
        tp_changed = false;
        for (std::size_t k = 0; k < lanes_used; ++k) {
            if (tp[k] == tp_before[k]) continue;
            tp_before[k] = tp[k];
            to_look_at.to_beat[k] = limit(k, tp[k]);
        }
    }
    look_at_points(all_weights.of_any());
}

}  // namespace sedscope
