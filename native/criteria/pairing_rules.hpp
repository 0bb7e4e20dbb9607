// Which detections and references can be paired.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdlib>

#include "../clips/references.hpp"

namespace sedscope {

// Both boundaries of a detection near those of the reference, borders included. A boundary that is
// not judged may be anywhere.
struct Collar {
    bool judge_onset, judge_offset;
    Time onset, offset;
    double offset_rate;  // of the reference's length, if that is more than `offset`

    Time offset_tolerance(const Interval& event) const {
        const double length = static_cast<double>(event.offset - event.onset);
        constexpr double longest = 9e15;  // microseconds; more than any time can be
        return std::max(offset, static_cast<Time>(std::min(offset_rate * length + 0.5, longest)));
    }

    bool onset_off(Time error) const { return judge_onset && std::abs(error) > onset; }
    bool offset_off(Time error, const Interval& event) const {
        return judge_offset && std::abs(error) > offset_tolerance(event);
    }

    // Calls `found(j)` for every reference that a detection can be paired with.
    template <class Found>
    void candidates(References& events, Time from, Time until, Found&& found) const {
        // References begin and end in the same order. Look at those whose judged boundary, or the
        // first of two, is near; remember where none is.
        const Time place = judge_onset ? from : until;
        if (place > events.gap().onset && place < events.gap().offset) return;
        const Time reach = judge_onset ? onset : widest_tolerance(events);
        auto boundary = [&](std::size_t j) {
            return judge_onset ? events[j].onset : events[j].offset;
        };
        std::size_t first = 0;
        for (std::size_t step = events.count(); step > 0;) {  // the first not before place - reach
            const std::size_t half = step / 2;
            if (boundary(first + half) < place - reach) {
                first += half + 1;
                step -= half + 1;
            } else {
                step = half;
            }
        }
        if (first == events.count() || boundary(first) > place + reach) {
            events.gap().onset = first > 0 ? boundary(first - 1) + reach : before_all;
            events.gap().offset = first < events.count() ? boundary(first) - reach : after_all;
            return;
        }
        for (std::size_t j = first; j < events.count() && boundary(j) <= place + reach; ++j) {
            if (!offset_off(until - events[j].offset, events[j])) found(j);
        }
    }

private:
    Time widest_tolerance(const References& events) const {
        return offset_tolerance({0, events.longest()});
    }
};

// Enough time in common, relative to the time that either takes.
struct Overlap {
    Requirement iou;

    // No boundary is near enough by itself.
    bool onset_off(Time) const { return true; }
    bool offset_off(Time, const Interval&) const { return true; }

    template <class Found>
    void candidates(References& events, Time from, Time until, Found&& found) const {
        if (from >= events.gap().onset && until <= events.gap().offset) return;
        if (iou.of(until - from) > events.longest()) return;
        std::size_t first = 0;
        for (std::size_t step = events.count(); step > 0;) {  // the first that ends after `from`
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
            if (shared >= iou.of(united)) found(j);
        }
    }
};

}  // namespace sedscope
