// Deltas of criteria that pair each detection with at most one reference and each reference with at
// most one detection, by as many pairs as possible (collar, intersection over union).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "../clips/component_tree.hpp"
#include "../counting/delta_rows.hpp"
#include "pair_sweep.hpp"
#include "../clips/references.hpp"

namespace sedscope {

template <class T, class Pairing>
class MatchingKernel {
public:
    MatchingKernel(const Pairing& pairing, bool cross_triggers, bool errors)
        : pairing_(pairing), cross_triggers_(cross_triggers), errors_(errors) {}

    // `own` is empty where the clip has no reference of the class; `others` counts only with
    // cross-triggers.
    void begin(const Time* edges, T floor, const References& own,
               const std::vector<OtherClass>& others) {
        edges_ = edges;
        floor_ = floor;
        own_ = own;
        others_.clear();
        if (cross_triggers_) others_ = others;
        only_count_ = own.count() == 0 && others_.empty();
        count_.begin(floor);
        if (only_count_) return;
        pairs_.clear();
        tree_.begin(floor, others_.size());
    }

    void feed(const T* scores, std::size_t frames, Rows<T>& rows) {
        count_.feed(scores, frames, rows.detections);
        if (!only_count_)
            sweep(rows,
                  [&](auto& measure, auto& emit) { tree_.feed(scores, frames, measure, emit); });
    }

    void finish(Rows<T>& rows) {
        count_.finish(rows.detections);
        if (only_count_) return;
        sweep(rows, [&](auto& measure, auto& emit) { tree_.finish(measure, emit); });
        if (own_.count() == 0) return;
        // a pair is one true positive more and one false positive less
        pairs_.count_pairs(floor_, own_.count(), [&](T score, int32_t change) {
            rows.detections.push(score, change, -change);
        });
        if (errors_)
            pairs_.sum_errors(floor_, own_.count(), [&](T score, const PairErrors& change) {
                rows.errors.push(score, change.onset, change.offset);
            });
    }

private:
    // A detection that can be paired with no reference of its class, but with one of another class,
    // is a cross-trigger on that class. `step(measure, emit)` takes the tree further.
    template <class Step>
    void sweep(Rows<T>& rows, Step&& step) {
        auto measure = [&](const Detection<T>& detection, int32_t* values) {
            const Time from = edges_[detection.first], until = edges_[detection.end];
            if (own_.count() > 0)
                pairing_.candidates(own_, from, until, [&](std::size_t j) {
                    if (errors_)
                        pairs_.add_candidate(j, from - own_[j].onset, until - own_[j].offset);
                    else
                        pairs_.add_candidate(j);
                });
            const bool paired = pairs_.add_detection(detection.score, detection.parent);
            for (std::size_t m = 0; m < others_.size(); ++m) {
                values[m] = 0;
                if (!paired)
                    pairing_.candidates(others_[m].references, from, until,
                                        [&](std::size_t) { values[m] = 1; });
            }
        };
        auto emit = [&](T score, const int32_t* delta) {
            for (std::size_t m = 0; m < others_.size(); ++m)
                if (delta[m]) rows.cross_triggers.push(score, others_[m].label, delta[m]);
        };
        step(measure, emit);
    }

    Pairing pairing_;
    bool cross_triggers_, errors_;
    const Time* edges_ = nullptr;
    T floor_{};
    References own_;
    std::vector<OtherClass> others_;
    bool only_count_ = true;  // no reference is in question
    DetectionCount<T> count_;
    ComponentTree<T> tree_;
    PairSweep<T> pairs_;
};

}  // namespace sedscope
