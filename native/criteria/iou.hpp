// The rule of intersection over union: a detection and a reference can be paired if they share
// enough of the time that either covers.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdlib>

#include "clips/references.hpp"
#include "core/time.hpp"
#include "criteria/least_error_matching.hpp"

namespace sedscope {

// The time that both share is at least a fraction of the time that either of them covers or, if
// `strict`, more than that.
struct IoU {
    Requirement threshold;
    bool strict;

    // This rule tolerates no boundary error.
    bool onset_off(Time) const { return true; }
    bool offset_off(Time, const Interval&) const { return true; }

    // The boundary errors of a pair. None is judged more than another.
    PairErrors errors(const Interval& detection, const Interval& event) const {
        const Time of_onset = detection.onset - event.onset;
        const Time of_offset = detection.offset - event.offset;
        const Time total = std::abs(of_onset) + std::abs(of_offset);
        return {total, total, of_onset, of_offset};
    }

    // Where a detection must have a frame to be paired with a reference.
    Interval window(const Interval& event) const { return event; }

    // Calls `emit(j)` for every reference that the detection [from, until) can be paired with.
    template <class Emit>
    void candidates(References& events, Time from, Time until, Emit&& emit) const {
        if (from >= events.gap().onset && until <= events.gap().offset) return;
        if (!threshold.met_by(events.longest(), until - from)) return;
        std::size_t first = 0;  // the first that ends after `from`
        for (std::size_t step = events.count(); step > 0;) {
            const std::size_t half = step / 2;
            if (events[first + half].offset <= from) {
                first += half + 1;
                step -= half + 1;
            } else {
                step = half;
            }
        }
        if (first == events.count() || events[first].onset >= until) {
            events.gap().onset = first > 0 ? events[first - 1].offset : before_all;
            events.gap().offset = first < events.count() ? events[first].onset : after_all;
            return;
        }
        for (std::size_t j = first; j < events.count() && events[j].onset < until; ++j) {
            const Interval& event = events[j];
            const Time shared = std::min(until, event.offset) - std::max(from, event.onset);
            const Time united = (until - from) + (event.offset - event.onset) - shared;
            if (strict ? threshold.fraction.is_exceeded_by(shared, united)
                       : threshold.met_by(shared, united))
                emit(j);
        }
    }
};

}  // namespace sedscope
