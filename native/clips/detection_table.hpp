// Detected events of many clips in one table.
#pragma once

#include <cstddef>
#include <cstdint>

#include "clips/label_runs.hpp"
#include "core/time.hpp"

namespace sedscope {

// Events of all clips, ordered by clip, class and onset. They may overlap.
template <class T>
struct DetectionTable {
    const Interval* events;
    const T* scores;
    const int32_t* labels;
    const int64_t* starts;  // clip i has the events [starts[i], starts[i + 1])
    const int64_t* places;  // where the system lists each event

    // Whether event `a` is ranked before event `b`: by falling score, then as the system lists
    // them.
    bool is_better(int64_t a, int64_t b) const {
        return scores[a] != scores[b] ? scores[a] > scores[b] : places[a] < places[b];
    }

    // Calls `use(label, first, end)` for each class that has events [first, end) in a clip.
    template <class Use>
    void each_class(std::size_t clip, Use&& use) const {
        each_label_run(labels, starts[clip], starts[clip + 1], use);
    }
};

}  // namespace sedscope
