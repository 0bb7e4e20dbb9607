// False positives that are counted without a look at references.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "clips/component_tree.hpp"
#include "counting/delta_rows.hpp"

namespace sedscope {

// Emits the number of detections as false positives: of all, or of those that touch neither the first
// nor the last frame, together with -1 at the lowest score.
template <class T>
class DetectionCount {
public:
    void begin(T floor) { extrema_.begin(floor); }
    void begin_inside(T floor) { extrema_.begin_inside(floor); }
    void feed(const T* scores, std::size_t frames, DetectionRows<T>& rows) {
        push(frames, rows,
             [&](T* at, int8_t* change) { return extrema_.feed(scores, frames, at, change); });
    }
    void finish(DetectionRows<T>& rows) {
        push(1, rows, [&](T* at, int8_t* change) { return extrema_.finish(at, change); });
    }
    void finish_inside(DetectionRows<T>& rows) {
        push(1, rows, [&](T* at, int8_t* change) { return extrema_.finish_inside(at, change); });
    }

private:
    template <class Write>
    static void push(std::size_t most, DetectionRows<T>& rows, Write&& write) {
        const std::size_t n = write(rows.scores.reserve(most), rows.fp.reserve(most));
        std::fill_n(rows.tp.reserve(n), n, static_cast<int8_t>(0));
        rows.scores.grow(n);
        rows.fp.grow(n);
        rows.tp.grow(n);
    }

    ExtremaCount<T> extrema_;
};

}  // namespace sedscope
