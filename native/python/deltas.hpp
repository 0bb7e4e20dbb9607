// Deltas of counts as Python sees them: named columns, as results of a criterion and as input to
// counting. Each attribute is one numpy array.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "counting/row_assembly.hpp"
#include "python/arrays.hpp"

namespace sedscope::python {

// `starts` is (classes x (clips + 1)) in all of these: the rows of class c and clip i are
// [starts[c, i], starts[c, i + 1]). Where the threshold falls below `scores[k]`, the other columns
// say by how much counts change.

using Changes = NumpyArray<int8_t, int32_t, int64_t>;
using ChangeVector = AnyVector<int8_t, int32_t, int64_t>;

struct DetectionDeltas {
    NumpyArray<int64_t> starts;
    FloatArray scores;
    Changes tp, fp;
};

struct CrossTriggerDeltas {
    NumpyArray<int64_t> starts;
    FloatArray scores;
    NumpyArray<int32_t> labels;
    Changes ct;
};

struct ErrorDeltas {
    NumpyArray<int64_t> starts;
    FloatArray scores;
    NumpyArray<int64_t> onset, offset;
};

struct PairDeltas {
    NumpyArray<int64_t> starts;
    FloatArray scores;
    NumpyArray<int8_t> pairs;
};

struct EventDeltas {
    DetectionDeltas detections;
    CrossTriggerDeltas cross_triggers;
    ErrorDeltas errors;
};

template <class T, class Change>
EventDeltas to_python(BatchDeltas<T, Change>&& deltas, std::size_t classes, std::size_t clips) {
    auto starts = [&](Buffer<int64_t>& of_rows) {
        return to_numpy(std::move(of_rows), classes, clips + 1);
    };
    auto& [detections, cross_triggers, errors] = deltas.rows;
    return {{starts(deltas.starts), to_numpy(std::move(detections.scores)),
             to_numpy(std::move(detections.tp)), to_numpy(std::move(detections.fp))},
            {starts(deltas.cross_starts), to_numpy(std::move(cross_triggers.scores)),
             to_numpy(std::move(cross_triggers.labels)), to_numpy(std::move(cross_triggers.ct))},
            {starts(deltas.error_starts), to_numpy(std::move(errors.scores)),
             to_numpy(std::move(errors.onset)), to_numpy(std::move(errors.offset))}};
}

// Changes of the number of pairs, emitted as true positives: one "class" for all labels.
template <class T>
PairDeltas to_python(Buffer<int64_t>&& starts, DetectionRows<T>&& rows) {
    const std::size_t size = starts.size();
    return {to_numpy(std::move(starts), 1, size), to_numpy(std::move(rows.scores)),
            to_numpy(std::move(rows.tp))};
}

}  // namespace sedscope::python
