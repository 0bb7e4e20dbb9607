// Detected events of many clips, as Python passes them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "clips/detection_table.hpp"
#include "python/arrays.hpp"

namespace sedscope::python {

struct DetectedEvents {
    Matrix<int64_t> events;
    Vector<int32_t> labels;
    Vector<double> scores;
    Vector<int64_t> starts;
    Vector<int64_t> places;
    std::size_t classes;

    DetectedEvents(Matrix<int64_t> events, Vector<int32_t> labels, Vector<double> scores,
                   Vector<int64_t> starts, Vector<int64_t> places, std::size_t classes)
        : events(std::move(events)),
          labels(std::move(labels)),
          scores(std::move(scores)),
          starts(std::move(starts)),
          places(std::move(places)),
          classes(classes) {
        static_assert(sizeof(Interval) == 2 * sizeof(int64_t));
        require(this->events.shape(1) == 2 && this->events.shape(0) == this->labels.size() &&
                    this->scores.size() == this->labels.size() &&
                    this->places.size() == this->labels.size(),
                "events must be (onset, offset) pairs, one per label, score and place");
        for (std::size_t i = 0; i < this->labels.size(); ++i)
            require(this->labels(i) >= 0 && static_cast<std::size_t>(this->labels(i)) < classes,
                    "label out of range");
        require(this->starts.size() > 0, "clips + 1 starts are needed");
        require_starts(this->starts, this->labels.size());
    }

    std::size_t clips() const { return starts.size() - 1; }
    DetectionTable<double> table() const {
        return {reinterpret_cast<const Interval*>(events.data()), scores.data(), labels.data(),
                starts.data(), places.data()};
    }
};

}  // namespace sedscope::python
