// The collar rule: a detection and a reference can be paired if their boundaries are close.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdlib>

#include "clips/references.hpp"
#include "core/time.hpp"
#include "criteria/least_error_matching.hpp"

namespace sedscope {

// Both boundaries of the detection lie within a tolerance of those of the reference, limits
// included. A boundary that is not judged may lie anywhere.
struct Collar {
    bool judge_onset, judge_offset;
    Time onset, offset;
    Fraction offset_rate;  // of the reference's length: the offset's tolerance, if larger

    Time offset_tolerance(const Interval& event) const {
        return std::max(offset, offset_rate.of(event.offset - event.onset));
    }

    bool onset_off(Time error) const { return judge_onset && std::abs(error) > onset; }
    bool offset_off(Time error, const Interval& event) const {
        return judge_offset && std::abs(error) > offset_tolerance(event);
    }

    // The boundary errors of a pair.
    PairErrors errors(const Interval& detection, const Interval& event) const {
        const Time of_onset = detection.onset - event.onset;
        const Time of_offset = detection.offset - event.offset;
        const Time onset_size = std::abs(of_onset), offset_size = std::abs(of_offset);
        return {(judge_onset ? onset_size : 0) + (judge_offset ? offset_size : 0),
                onset_size + offset_size, of_onset, of_offset};
    }

    // Where a detection must have a frame to be paired with a reference: at its judged boundary (the
    // onset if both are judged).
    Interval window(const Interval& event) const {
        const Time boundary = judge_onset ? event.onset : event.offset;
        const Time reach = judge_onset ? onset : offset_tolerance(event);
        return {boundary - reach - 1, boundary + reach + 1};
    }

    // Calls `emit(j)` for every reference that the detection [from, until) can be paired with.
    template <class Emit>
    void candidates(References& events, Time from, Time until, Emit&& emit) const {
        // References begin and end in the same order. Look at those whose judged boundary (the
        // onset if both are judged) is close. Remember the gap if there are none.
        const Time target = judge_onset ? from : until;
        if (target > events.gap().onset && target < events.gap().offset) return;
        const Time reach = judge_onset ? onset : widest_tolerance(events);
        auto boundary = [&](std::size_t j) {
            return judge_onset ? events[j].onset : events[j].offset;
        };
        std::size_t first = 0;  // the first at or after target - reach
        for (std::size_t step = events.count(); step > 0;) {
            const std::size_t half = step / 2;
            if (boundary(first + half) < target - reach) {
                first += half + 1;
                step -= half + 1;
            } else {
                step = half;
            }
        }
        if (first == events.count() || boundary(first) > target + reach) {
            events.gap().onset = first > 0 ? boundary(first - 1) + reach : before_all;
            events.gap().offset = first < events.count() ? boundary(first) - reach : after_all;
            return;
        }
        for (std::size_t j = first; j < events.count() && boundary(j) <= target + reach; ++j) {
            if (!offset_off(until - events[j].offset, events[j])) emit(j);
        }
    }

private:
    Time widest_tolerance(const References& events) const {
        return offset_tolerance({0, events.longest()});
    }
};

}  // namespace sedscope
