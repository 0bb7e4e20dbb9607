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

}  // namespace sedscope::python
