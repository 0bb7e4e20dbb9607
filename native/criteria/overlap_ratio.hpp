// Intersection over union as an exact fraction.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/fraction.hpp"
#include "core/time.hpp"

namespace sedscope {

// The time that two events share, and the time that either covers.
struct OverlapRatio {
    Time shared, united;

    bool operator>(const OverlapRatio& other) const {
        return !(product(other.shared, united) >= product(shared, other.united));
    }
    double value() const { return static_cast<double>(shared) / static_cast<double>(united); }

private:
    static Product product(Time a, Time b) {
        return Product(static_cast<uint64_t>(a), static_cast<uint64_t>(b));
    }
};

// The two events share time.
inline OverlapRatio overlap_ratio(const Interval& a, const Interval& b) {
    const Time shared = std::min(a.offset, b.offset) - std::max(a.onset, b.onset);
    return {shared, (a.offset - a.onset) + (b.offset - b.onset) - shared};
}

}  // namespace sedscope
