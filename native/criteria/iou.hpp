// The rule of intersection over union: a detection and a reference can be paired if they share
// enough of the time that either covers.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdlib>

#include "clips/references.hpp"
#include "core/time.hpp"
#include "criteria/least_error_matching.hpp"
#include "criteria/overlap_ratio.hpp"

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
        const Interval *const begin = events.begin(), *const end = events.end();
        const Interval* event = std::partition_point(
            begin, end, [&](const Interval& other) { return other.offset <= from; });
        if (event == end || event->onset >= until) {
            events.gap().onset = event == begin ? before_all : event[-1].offset;
            events.gap().offset = event == end ? after_all : event->onset;
            return;
        }
        for (; event != end && event->onset < until; ++event) {
            const auto [shared, united] = overlap_ratio({from, until}, *event);
            if (strict ? threshold.fraction.is_exceeded_by(shared, united)
                       : threshold.met_by(shared, united))
                emit(static_cast<std::size_t>(event - begin));
        }
    }
};

}  // namespace sedscope
