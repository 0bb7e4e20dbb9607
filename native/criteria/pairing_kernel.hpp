// The deltas of criteria that make as many pairs as possible, each of one detection and one
// reference (collar, intersection over union).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "clips/component_tree.hpp"
#include "clips/references.hpp"
#include "core/time.hpp"
#include "counting/delta_rows.hpp"
#include "criteria/detection_count.hpp"
#include "criteria/pair_sweep.hpp"

namespace sedscope {

template <class T, class Rule>
class PairingKernel {
public:
    // `criterion` has a `rule`, and says whether to count `cross_triggers` and sum `errors`.
    template <class Criterion>
    explicit PairingKernel(const Criterion& criterion)
        : rule_(criterion.rule),
          cross_triggers_(criterion.cross_triggers),
          errors_(criterion.errors) {}

    // `own`: the references of the class, possibly none. `others` matters only with
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

    void feed(const T* scores, std::size_t frames, DeltaRows<T>& rows) {
        count_.feed(scores, frames, rows.detections);
        if (!only_count_)
            sweep(rows,
                  [&](auto& measure, auto& emit) { tree_.feed(scores, frames, measure, emit); });
    }

    // Takes an event that is detected as it is at every threshold below its score, in place of
    // frames. Events may overlap.
    void add(const Interval& event, T score, DeltaRows<T>& rows) {
        rows.detections.push(score, 0, 1);
        if (only_count_) return;
        crossed_.resize(others_.size());
        take(event.onset, event.offset, score, floor_, crossed_.data());
        for (std::size_t m = 0; m < others_.size(); ++m)
            if (crossed_[m]) rows.cross_triggers.push(score, others_[m].label, 1);
    }

    void finish(DeltaRows<T>& rows) {
        count_.finish(rows.detections);
        if (only_count_) return;
        sweep(rows, [&](auto& measure, auto& emit) { tree_.finish(measure, emit); });
        if (own_.count() == 0) return;
        // a pair turns a false positive into a true positive
        pairs_.count_pairs(floor_, own_.count(), [&](T score, int32_t change) {
            rows.detections.push(score, change, -change);
        });
        if (errors_)
            pairs_.sum_errors(floor_, own_.count(), [&](T score, const PairErrors& change) {
                rows.errors.push(score, change.onset, change.offset);
            });
    }

private:
    // Takes a detection that exists for thresholds in [parent, score), and writes which of the other
    // classes it is a cross-trigger on: it can be paired with a reference of that class, but with
    // none of its own.
    void take(Time from, Time until, T score, T parent, int32_t* crossed) {
        if (own_.count() > 0)
            rule_.candidates(own_, from, until, [&](std::size_t j) {
                if (errors_)
                    pairs_.add_candidate(j, from - own_[j].onset, until - own_[j].offset);
                else
                    pairs_.add_candidate(j);
            });
        const bool paired = pairs_.add_detection(score, parent);
        for (std::size_t m = 0; m < others_.size(); ++m) {
            crossed[m] = 0;
            if (!paired)
                rule_.candidates(others_[m].references, from, until,
                                 [&](std::size_t) { crossed[m] = 1; });
        }
    }

    // `step(measure, emit)` advances the tree.
    template <class Step>
    void sweep(DeltaRows<T>& rows, Step&& step) {
        auto measure = [&](const Detection<T>& detection, int32_t* crossed) {
            take(edges_[detection.first], edges_[detection.end], detection.score, detection.parent,
                 crossed);
        };
        auto emit = [&](T score, const int32_t* delta) {
            for (std::size_t m = 0; m < others_.size(); ++m)
                if (delta[m]) rows.cross_triggers.push(score, others_[m].label, delta[m]);
        };
        step(measure, emit);
    }

    Rule rule_;
    bool cross_triggers_, errors_;
    const Time* edges_ = nullptr;
    T floor_{};
    References own_;
    std::vector<OtherClass> others_;
    std::vector<int32_t> crossed_;
    bool only_count_ = true;  // without references every detection is a false positive
    DetectionCount<T> count_;
    ComponentTree<T> tree_;
    PairSweep<T> pairs_;
};

}  // namespace sedscope
