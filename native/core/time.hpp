// Times and intervals of time, in whole microseconds.
#pragma once

#include <cstdint>
#include <limits>

#include "core/fraction.hpp"

namespace sedscope {

using Time = int64_t;  // microseconds

struct Interval {
    Time onset;
    Time offset;
};

constexpr Time before_all = std::numeric_limits<Time>::min();
constexpr Time after_all = std::numeric_limits<Time>::max();

// "At least this fraction of a length": a whole number of microseconds, never less than one.
struct Requirement {
    Fraction fraction;

    Time of(Time length) const {
        const Time required = fraction.of(length);
        return required > 1 ? required : 1;
    }
    // Whether a part of the length is enough.
    bool met_by(Time part, Time length) const {
        return part > 0 && fraction.reached_by(part, length);
    }
};

}  // namespace sedscope
