// Times and intervals of time, in whole microseconds.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "core/fraction.hpp"

namespace sedscope {

using Time = int64_t;  // microseconds

struct Interval {
    Time onset;
    Time offset;
};

// Whether two events share time. A point in time, which has no length, shares it with an event that
// it lies in, from the onset on and before the offset; never with another point.
inline bool touch(const Interval& a, const Interval& b) {
    const Time from = std::max(a.onset, b.onset), until = std::min(a.offset, b.offset);
    if (from != until) return from < until;
    const bool point_in_b = a.onset == a.offset && a.onset < b.offset;
    const bool point_in_a = b.onset == b.offset && b.onset < a.offset;
    return point_in_a || point_in_b;
}

constexpr Time before_all = std::numeric_limits<Time>::min();
constexpr Time after_all = std::numeric_limits<Time>::max();

// "At least this fraction of a length": a whole number of microseconds, never less than one.
struct Requirement {
    Fraction fraction;
    Time step = 1;  // of more than one, to whose multiples both sides are rounded; even

    Time of(Time length) const {
        const Time required = step == 1 ? fraction.of(length) : rounded(length);
        return required > 1 ? required : 1;
    }
    // Whether a part of the length is enough.
    bool met_by(Time part, Time length) const {
        return part > 0 &&
               (step == 1 ? fraction.reached_by(part, length) : part >= rounded(length));
    }

private:
    // The least part that has as many steps as what is required. Halves become even numbers of
    // steps.
    Time rounded(Time length) const {
        Time steps = fraction.of(length, step);
        if (steps % 2 == 1 && fraction.is_half_below(steps, length, step)) --steps;
        return steps * step - step / 2 + steps % 2;
    }
};

}  // namespace sedscope
