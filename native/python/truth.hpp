// The reference events of some clips, as Python passes them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "clips/reference_table.hpp"
#include "python/arrays.hpp"

namespace sedscope::python {

// Events of some clips.
struct Events {
    Matrix<int64_t> events;
    Vector<int32_t> labels;
    Vector<int64_t> starts;

    Events(Matrix<int64_t> events, Vector<int32_t> labels, Vector<int64_t> starts)
        : events(std::move(events)), labels(std::move(labels)), starts(std::move(starts)) {
        static_assert(sizeof(Interval) == 2 * sizeof(int64_t));
        require(this->events.shape(1) == 2 && this->events.shape(0) == this->labels.size(),
                "events must be (onset, offset) pairs, one per label");
        require_starts(this->starts, this->labels.size());
    }

    EventTable table() const {
        return {reinterpret_cast<const Interval*>(events.data()), labels.data(), starts.data()};
    }
};

// References, and what limits the work on the clips: the largest scores, the floors, the threads.
struct Truth {
    Events references;
    std::optional<Events> ignored;
    ScoreMatrix maxima;
    ScoreVector floors;
    std::size_t threads;

    ReferenceTable table() const {
        return {references.table(),
                ignored ? ignored->table() : EventTable{nullptr, nullptr, nullptr}};
    }

    void require_clips(std::size_t clips) const {
        require(references.starts.size() == clips + 1, "clips + 1 starts are needed");
        require(!ignored || ignored->starts.size() == clips + 1, "clips + 1 starts are needed");
    }

    void require_shape(std::size_t clips, std::size_t classes) const {
        require_clips(clips);
        require(floors.size() == classes, "one floor per class is needed");
        require(maxima.shape(0) == clips && maxima.shape(1) == classes,
                "one maximum per clip and class is needed");
    }
};

}  // namespace sedscope::python
