// Rows of deltas: by how much counts change where the threshold falls below a score.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include "core/buffer.hpp"

namespace sedscope {

// Takes as much of a change as a one-byte column can hold. The rest goes into further rows of the
// same score, as rows of one score are added up anyway.
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

// Changes of the cross-triggers on another class.
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

// All deltas that a criterion emits.
template <class T>
struct DeltaRows {
    DetectionRows<T> detections;
    CrossTriggerRows<T> cross_triggers;
    ErrorRows<T> errors;
};

}  // namespace sedscope
