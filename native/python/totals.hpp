// Counts of one class as Python sees them. Each attribute is one numpy array.
#pragma once

#include <cstdint>
#include <utility>

#include "counting/accumulate.hpp"
#include "counting/weighted_counts.hpp"
#include "python/arrays.hpp"

namespace sedscope::python {

struct Totals {
    FloatArray scores;
    NumpyArray<int64_t> tp, fp, cross_rows;
    NumpyArray<int32_t> cross_labels;
    NumpyArray<int64_t> cross_changes;
};

inline Totals without_cross_triggers(FloatArray scores, NumpyArray<int64_t> tp,
                                     NumpyArray<int64_t> fp) {
    return {std::move(scores),
            std::move(tp),
            std::move(fp),
            to_numpy(Buffer<int64_t>()),
            to_numpy(Buffer<int32_t>()),
            to_numpy(Buffer<int64_t>())};
}

template <class T>
Totals to_python(ClassTotals<T>&& totals) {
    return {to_numpy(std::move(totals.scores)),       to_numpy(std::move(totals.tp)),
            to_numpy(std::move(totals.fp)),           to_numpy(std::move(totals.cross_rows)),
            to_numpy(std::move(totals.cross_labels)), to_numpy(std::move(totals.cross_changes))};
}

template <class T>
Totals to_python(WeightedCounts<T>&& counts) {
    return without_cross_triggers(to_numpy(std::move(counts.scores)),
                                  to_numpy(std::move(counts.tp)), to_numpy(std::move(counts.fp)));
}

}  // namespace sedscope::python
