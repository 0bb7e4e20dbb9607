// False positives that are counted without a look at references.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "clips/component_tree.hpp"
#include "criteria/delta_rows.hpp"

namespace sedscope {

// Adds false positives that `write(scores, changes)` writes, at most as many as `most`.
template <class T, class Write>
void push_false_positives(std::size_t most, DetectionRows<T>& rows, Write&& write) {
    const std::size_t n = write(rows.scores.reserve(most), rows.fp.reserve(most));
    std::fill_n(rows.tp.reserve(n), n, static_cast<int8_t>(0));
    rows.scores.grow(n);
    rows.fp.grow(n);
    rows.tp.grow(n);
}

// Emits the number of detections as false positives.
template <class T>
class DetectionCount {
public:
    void begin(T floor) { extrema_.begin(floor); }
    void feed(const T* scores, std::size_t frames, DetectionRows<T>& rows) {
        push_false_positives(frames, rows, [&](T* at, int8_t* change) {
            return extrema_.feed(scores, frames, at, change);
        });
    }
    void finish(DetectionRows<T>& rows) {
        push_false_positives(1, rows,
                             [&](T* at, int8_t* change) { return extrema_.finish(at, change); });
    }

private:
    ExtremaCount<T> extrema_;
};

// Emits the number of detections inside a stretch, which touch neither its first frame nor its
// last.
//
// They are what lies between the two detections that touch the ends: at each local maximum there is
// one more and at each local minimum one less, except that the lowest minimum joins the two. That
// one is held back, and found on the way.
template <class T>
class InnerDetectionCount {
public:
    void begin(T floor) {
        extrema_.begin_inside(floor);
        holds_ = false;
    }
    void feed(const T* scores, std::size_t frames, DetectionRows<T>& rows) {
        const std::size_t before = rows.size();
        push_false_positives(frames, rows, [&](T* at, int8_t* change) {
            return extrema_.feed(scores, frames, at, change);
        });
        hold_lowest(before, rows);
    }
    // `reaches_floor`: whether the lowest score of the stretch is not above the floor. Then it
    // joins nothing, and no minimum is left out.
    void finish(bool reaches_floor, DetectionRows<T>& rows) {
        const std::size_t before = rows.size();
        push_false_positives(
            1, rows, [&](T* at, int8_t* change) { return extrema_.finish_inside(at, change); });
        hold_lowest(before, rows);
        if (holds_ && reaches_floor) rows.push(held_, 0, -1);
    }

private:
    void hold_lowest(std::size_t before, DetectionRows<T>& rows) {
        const std::size_t end = rows.size();
        std::size_t lowest = end;
        for (std::size_t row = before; row < end; ++row)
            if (rows.fp[row] < 0 && (lowest == end || rows.scores[row] < rows.scores[lowest]))
                lowest = row;
        if (lowest == end) return;
        if (holds_) {
            if (rows.scores[lowest] < held_) std::swap(rows.scores[lowest], held_);
            return;
        }
        holds_ = true;
        held_ = rows.scores[lowest];
        rows.scores[lowest] = rows.scores[end - 1];
        rows.fp[lowest] = rows.fp[end - 1];
        rows.scores.pop();
        rows.fp.pop();
        rows.tp.pop();
    }

    ExtremaCount<T> extrema_;
    bool holds_ = false;
    T held_{};
};

}  // namespace sedscope
