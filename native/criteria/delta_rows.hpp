// Rows of deltas: by how much counts change where the threshold falls below a score.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <tuple>
#include <type_traits>

#include "core/buffer.hpp"

namespace sedscope {

// Takes as much of a change as a narrow column can hold. The rest goes into further rows of the
// same score, as rows of one score are added up anyway.
template <class Change, class Rest>
Change narrow(Rest& rest) {
    constexpr Rest most = std::numeric_limits<Change>::max();
    const Rest part = rest > most ? most : rest < -most ? -most : rest;
    rest -= part;
    return static_cast<Change>(part);
}

// Changes of true and false positives. Numbers of events take one byte, times in microseconds four.
template <class T, class Change = int8_t>
struct DetectionRows {
    using Rest = std::conditional_t<sizeof(Change) == 1, int32_t, int64_t>;

    Buffer<T> scores;
    Buffer<Change> tp, fp;

    auto columns() { return std::tie(scores, tp, fp); }
    std::size_t size() const { return scores.size(); }
    void push(T score, Rest tp_change, Rest fp_change) {
        do {
            scores.push(score);
            tp.push(narrow<Change>(tp_change));
            fp.push(narrow<Change>(fp_change));
        } while (tp_change || fp_change);
    }
};

// Changes of the cross-triggers on another class.
template <class T>
struct CrossTriggerRows {
    Buffer<T> scores;
    Buffer<int32_t> labels;
    Buffer<int8_t> ct;

    auto columns() { return std::tie(scores, labels, ct); }
    std::size_t size() const { return scores.size(); }
    void push(T score, int32_t label, int32_t ct_change) {
        do {
            scores.push(score);
            labels.push(label);
            ct.push(narrow<int8_t>(ct_change));
        } while (ct_change);
    }
};

// Changes of the sums of signed onset and offset errors of pairs.
template <class T>
struct ErrorRows {
    Buffer<T> scores;
    Buffer<int64_t> onset, offset;

    auto columns() { return std::tie(scores, onset, offset); }
    std::size_t size() const { return scores.size(); }
    void push(T score, int64_t onset_change, int64_t offset_change) {
        scores.push(score);
        onset.push(onset_change);
        offset.push(offset_change);
    }
};

// All deltas that a criterion emits.
template <class T, class Change = int8_t>
struct DeltaRows {
    DetectionRows<T, Change> detections;
    CrossTriggerRows<T> cross_triggers;
    ErrorRows<T> errors;
};

}  // namespace sedscope
