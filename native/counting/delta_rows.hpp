// How counts change as the threshold falls below each score.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "../core/buffer.hpp"
#include "../clips/component_tree.hpp"

namespace sedscope {

// Splits a change that a narrow column cannot hold into several rows of the same score: rows of one
// score are added up anyway.
inline int8_t narrow(int32_t& rest) {
    constexpr int32_t most = std::numeric_limits<int8_t>::max();
    const int32_t part = rest > most ? most : rest < -most ? -most : rest;
    rest -= part;
    return static_cast<int8_t>(part);
}

// Changes of true and false positives.
template <class T>
struct DetectionRows {
    Buffer<T> scores;
    Buffer<int8_t> tp, fp;

    std::size_t size() const { return scores.size(); }
    void push(T score, int32_t tp_change, int32_t fp_change) {
        do {
            scores.push(score);
            tp.push(narrow(tp_change));
            fp.push(narrow(fp_change));
        } while (tp_change || fp_change);
    }
};

// Changes of cross-triggers on one other class.
template <class T>
struct CrossTriggerRows {
    Buffer<T> scores;
    Buffer<int32_t> labels;
    Buffer<int8_t> ct;

    std::size_t size() const { return scores.size(); }
    void push(T score, int32_t label, int32_t ct_change) {
        do {
            scores.push(score);
            labels.push(label);
            ct.push(narrow(ct_change));
        } while (ct_change);
    }
};

// Every detection as a false positive: what holds where there is no reference in question.
template <class T>
class DetectionCount {
public:
    void begin(T floor) { extrema_.begin(floor); }
    void feed(const T* scores, std::size_t frames, DetectionRows<T>& rows) {
        push(frames, rows,
             [&](T* at, int8_t* change) { return extrema_.feed(scores, frames, at, change); });
    }
    void finish(DetectionRows<T>& rows) {
        push(1, rows, [&](T* at, int8_t* change) { return extrema_.finish(at, change); });
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

// Changes of the sums of signed onset and offset errors of pairs.
template <class T>
struct ErrorRows {
    Buffer<T> scores;
    Buffer<int64_t> onset, offset;

    std::size_t size() const { return scores.size(); }
    void push(T score, int64_t onset_change, int64_t offset_change) {
        scores.push(score);
        onset.push(onset_change);
        offset.push(offset_change);
    }
};

template <class T>
struct Rows {
    DetectionRows<T> detections;
    CrossTriggerRows<T> cross_triggers;
    ErrorRows<T> errors;
};

}  // namespace sedscope
