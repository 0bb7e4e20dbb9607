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

    // Where a detection must have a frame to be paired with a reference: at its judged boundary
    // (the onset if both are judged).
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
        auto boundary = [&](const Interval& event) {
            return judge_onset ? event.onset : event.offset;
        };
        const Interval *const begin = events.begin(), *const end = events.end();
        const Interval* event = std::partition_point(
            begin, end, [&](const Interval& other) { return boundary(other) < target - reach; });
        if (event == end || boundary(*event) > target + reach) {
            events.gap().onset = event == begin ? before_all : boundary(event[-1]) + reach;
            events.gap().offset = event == end ? after_all : boundary(*event) - reach;
            return;
        }
        for (; event != end && boundary(*event) <= target + reach; ++event)
            if (!offset_off(until - event->offset, *event))
                emit(static_cast<std::size_t>(event - begin));
    }

private:
    Time widest_tolerance(const References& events) const {
        return offset_tolerance({0, events.longest()});
    }
};

}  // namespace sedscope
