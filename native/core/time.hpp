// Times and intervals of time, in whole microseconds.
#pragma once

#include <cstdint>
#include <limits>

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
    double fraction;

    Time of(Time length) const {
        const Time required = static_cast<Time>(fraction * static_cast<double>(length) + 0.5);
        return required > 1 ? required : 1;
    }
};

}  // namespace sedscope
