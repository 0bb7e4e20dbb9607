// Goes through the operating points of a class for a few resamples side by side, and stops only at
// points that may improve what a resample has found so far.
#pragma once

#include <algorithm>
#include <cstddef>
#include <type_traits>

#include "counting/lane_weights.hpp"

namespace sedscope {

// The false positives of each lane: what a point costs where nothing else counts. `Real` holds all
// counts exactly.
template <class Real, std::size_t lanes>
class FalsePositives {
public:
    template <class Row>
    void add(const Row& row, const Real* weights) {
        const Real change = static_cast<Real>(row.fp);
        for (std::size_t k = 0; k < lanes; ++k) counts_[k] += weights[k] * change;
    }

    // The costs of the present point.
    const Real* costs() const { return counts_; }

private:
    Real counts_[lanes] = {};
};

// `ordered`: the rows of the class. `lanes_used`: the lanes with a resample. `price`: adds up what
// points cost, as `FalsePositives` does.
//
// `limit(lane, tp)` returns the cost below which a point with so many true positives is looked at.
// `look(lane, tp)` is called at such a point, and returns the cost below which points with as many
// are looked at from then on.
template <class Rows, class Real, std::size_t lanes, class Price, class Limit, class Look>
void sweep_points(const Rows& ordered, const LaneWeights<Real, lanes>& all_weights,
                  std::size_t lanes_used, Price& price, Limit&& limit, Look&& look) {
    using Cost = std::decay_t<decltype(*price.costs())>;
    Real tp[lanes] = {}, tp_before[lanes] = {};
    LanesToLookAt<Cost, lanes> to_look_at;
    auto look_at_points = [&](const Real* weights) {
        to_look_at.visit(price.costs(), weights, [&](std::size_t k) {
            to_look_at.to_beat[k] = std::min<Cost>(to_look_at.to_beat[k], look(k, tp[k]));
        });
    };
    bool at_point = false, tp_changed = false;
    for (const auto& row : ordered.rows()) {
        const Real* weights = all_weights.of_clip(row.clip);
        if (at_point && (!row.last || row.makes_worse()))
            look_at_points(row.last ? weights : all_weights.of_any());
        price.add(row, weights);
        if (row.tp) {
            const Real change = static_cast<Real>(row.tp);
            for (std::size_t k = 0; k < lanes; ++k) tp[k] += weights[k] * change;
            tp_changed = true;
        }
        at_point = row.last;
        if (!at_point || !tp_changed) continue;
        tp_changed = false;
        for (std::size_t k = 0; k < lanes_used; ++k) {
            if (tp[k] == tp_before[k]) continue;
            tp_before[k] = tp[k];
            to_look_at.to_beat[k] = static_cast<Cost>(limit(k, tp[k]));
        }
    }
    look_at_points(all_weights.of_any());
}

}  // namespace sedscope
