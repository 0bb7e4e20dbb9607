// The collar rule: a detection and a reference can be paired if their boundaries are close.
#pragma once

#include <algorithm>
#include <cmath>
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
    Fraction offset_rate;        // of the reference's length: the offset's tolerance, if larger
    Time slack = 0;              // by how much tolerances may be exceeded, as this is rounded to 0
    double float_precision = 0;  // in units a second: compare seconds in floats. 0: microseconds

    bool onset_off(Time error) const { return judge_onset && std::abs(error) > onset + slack; }
    bool offset_off(Time error, const Interval& event) const {
        const Time excess = std::abs(error) - slack, length = event.offset - event.onset;
        return judge_offset && excess > offset &&
               (slack ? offset_rate.is_exceeded_by(excess, length)
                      : excess > offset_rate.of(length));
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
        const Time reach = judge_onset ? onset + slack : offset_reach(event);
        return {boundary - reach - 1, boundary + reach + 1};
    }

    // Calls `emit(j)` for every reference that the detection [from, until) can be paired with.
    template <class Emit>
    void candidates(References& events, Time from, Time until, Emit&& emit) const {
        // References begin and end in the same order. Look at those whose judged boundary (the
        // onset if both are judged) is close. Remember the gap if there are none.
        const Time target = judge_onset ? from : until;
        if (target > events.gap().onset && target < events.gap().offset) return;
        const Time reach = judge_onset ? onset + slack : offset_reach({0, events.longest()});
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
            if (!offset_off(until - event->offset, *event) &&
                (float_precision == 0 || close_as_floats({from, until}, *event)))
                emit(static_cast<std::size_t>(event - begin));
    }

private:
    Time offset_reach(const Interval& event) const {
        return std::max(offset, offset_rate.of(event.offset - event.onset)) + slack;
    }

    // What differs from the comparison of microseconds only where those are equal.
    bool close_as_floats(const Interval& detection, const Interval& event) const {
        const double length = seconds(event.offset) - seconds(event.onset);
        const double of_offset = std::max(seconds(offset), offset_rate.value() * length);
        auto close = [&](Time a, Time b, double tolerance) {
            return (std::abs(seconds(a) - seconds(b)) - tolerance) * float_precision <= 0.5;
        };
        return (!judge_onset || close(detection.onset, event.onset, seconds(onset))) &&
               (!judge_offset || close(detection.offset, event.offset, of_offset));
    }

    static double seconds(Time time) { return static_cast<double>(time) / 1e6; }
};

}  // namespace sedscope
