// Fractions from Python.
#pragma once

#include <nanobind/stl/pair.h>

#include <cstdint>
#include <utility>

#include "core/fraction.hpp"
#include "python/arrays.hpp"

namespace sedscope::python {

using FractionPair = std::pair<int64_t, int64_t>;  // numerator, denominator

inline Fraction fraction_of(const FractionPair& pair) {
    require(pair.first >= 0 && pair.second > 0, "a fraction of at least 0 is needed");
    return {pair.first, pair.second};
}

constexpr int decimals_of_microseconds = 6;

// The microseconds to whose multiples times with so many decimals are rounded. Even, or 1.
inline int64_t rounding_step(int decimals) {
    require(decimals >= 0, "decimals must be at least 0");
    int64_t step = 1;
    for (; decimals < decimals_of_microseconds; ++decimals) step *= 10;
    return step;
}

}  // namespace sedscope::python
