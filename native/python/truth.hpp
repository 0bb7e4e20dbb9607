// The reference events of some clips, as Python passes them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "clips/reference_table.hpp"
#include "python/arrays.hpp"

namespace sedscope::python {

// References, and what limits the work on the clips: the largest scores, the floors, the threads.
struct Truth {
    Matrix<int64_t> events;
    Vector<int32_t> labels;
    Vector<int64_t> starts;
    AnyMatrix maxima;
    AnyVector floors;
    std::size_t threads;

    Truth(Matrix<int64_t> events, Vector<int32_t> labels, Vector<int64_t> starts, AnyMatrix maxima,
          AnyVector floors, std::size_t threads)
        : events(std::move(events)),
          labels(std::move(labels)),
          starts(std::move(starts)),
          maxima(std::move(maxima)),
          floors(std::move(floors)),
          threads(threads) {
        static_assert(sizeof(Interval) == 2 * sizeof(int64_t));
        require(this->events.shape(1) == 2 && this->events.shape(0) == this->labels.size(),
                "events must be (onset, offset) pairs, one per label");
    }

    ReferenceTable table() const {
        return {reinterpret_cast<const Interval*>(events.data()), labels.data(), starts.data()};
    }

    void require_shape(std::size_t clips, std::size_t classes) const {
        require(starts.size() == clips + 1, "clips + 1 starts are needed");
        require(floors.size() == classes, "one floor per class is needed");
        require(maxima.shape(0) == clips && maxima.shape(1) == classes,
                "one maximum per clip and class is needed");
    }
};

}  // namespace sedscope::python
