// The deltas of criteria that make as many pairs as possible, each of one detection and one
// reference (collar, intersection over union).
//
// Where there are ignored references, the pairs with the others are true positives, and detections
// that are in no pair of a largest matching with all references are false positives.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "clips/ignored_references.hpp"
#include "clips/reference_table.hpp"
#include "clips/references.hpp"
#include "clips/windowed_tree.hpp"
#include "core/out_of_line.hpp"
#include "core/time.hpp"
#include "criteria/delta_rows.hpp"
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

    SEDSCOPE_OUT_OF_LINE void begin(const ClipReferences& references, int32_t label, T floor) {
        edges_ = references.edges;
        floor_ = floor;
        references.counted_in_layers(label, own_);
        counted_ = count_in_layers(own_);
        others_.clear();
        if (cross_triggers_) references.of_others(label, others_);
        ignored_ = references.ignored(label);
        only_count_ = counted_ == 0 && others_.empty() && !ignored_.any();
        count_.begin(floor);
        if (only_count_) return;
        pairs_.clear();
        all_pairs_.clear();
        tree_.begin(edges_, references.boundaries);
        for (const References& layer : own_) add_windows(layer);
        for (const References& layer : ignored_.layers) add_windows(layer);
        for (const OtherClass& other : others_) add_windows(other.references);
        tree_.open(floor, others_.size());
    }

    SEDSCOPE_OUT_OF_LINE void feed(const T* scores, std::size_t frames, DeltaRows<T>& rows) {
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

    SEDSCOPE_OUT_OF_LINE void finish(DeltaRows<T>& rows) {
        count_.finish(rows.detections);
        if (only_count_) return;
        sweep(rows, [&](auto& measure, auto& emit) { tree_.finish(measure, emit); });
        if (ignored_.any()) {
            finish_with_ignored(rows);
            return;
        }
        if (counted_ == 0) return;
        // a pair turns a false positive into a true positive
        pairs_.count_pairs(floor_, counted_, [&](T score, int32_t change) {
            rows.detections.push(score, change, -change);
        });
        if (errors_) sum_errors(pairs_, counted_, rows);
    }

private:
    void add_windows(const References& references) {
        for (std::size_t j = 0; j < references.count(); ++j) {
            const Interval window = rule_.window(references[j]);
            tree_.add(window.onset, window.offset);
        }
    }

    void finish_with_ignored(DeltaRows<T>& rows) {
        const std::size_t references = counted_ + ignored_.count();
        pairs_.count_pairs(floor_, counted_, [&](T score, int32_t change) {
            rows.detections.push(score, change, 0);
        });
        all_pairs_.count_pairs(floor_, references, [&](T score, int32_t change) {
            rows.detections.push(score, 0, -change);
        });
        if (errors_) sum_errors(all_pairs_, references, rows);
    }

    void sum_errors(PairSweep<T>& pairs, std::size_t references, DeltaRows<T>& rows) {
        pairs.sum_errors(floor_, references, [&](T score, const PairErrors& change) {
            rows.errors.push(score, change.onset, change.offset);
        });
    }

    // Adds the references that a detection can be paired with, without ignored ones.
    void add_candidates(PairSweep<T>& pairs, Time from, Time until) {
        std::size_t before = 0;
        for (References& layer : own_) {
            rule_.candidates(layer, from, until, [&](std::size_t j) {
                if (errors_)
                    pairs.add_candidate(before + j, rule_.errors({from, until}, layer[j]));
                else
                    pairs.add_candidate(before + j);
            });
            before += layer.count();
        }
    }

    // Adds the detection to those that can be paired with any reference, ignored ones included.
    // Returns whether it can.
    bool add_to_all(Time from, Time until, T score, T parent) {
        add_candidates(all_pairs_, from, until);
        std::size_t before = counted_;
        for (References& layer : ignored_.layers) {
            rule_.candidates(layer, from, until, [&](std::size_t j) {
                all_pairs_.add_ignored_candidate(before + j, errors_);
            });
            before += layer.count();
        }
        return all_pairs_.add_detection(score, parent);
    }

    // Takes a detection that exists for thresholds in [parent, score), and writes which of the
    // other classes it is a cross-trigger on: it can be paired with a reference of that class, but
    // with none of its own.
    void take(Time from, Time until, T score, T parent, int32_t* crossed) {
        add_candidates(pairs_, from, until);
        bool paired = pairs_.add_detection(score, parent);
        if (ignored_.any()) paired = add_to_all(from, until, score, parent);
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
    std::vector<References> own_;  // in layers: those of one layer do not overlap
    std::size_t counted_ = 0;      // references in all layers
    std::vector<OtherClass> others_;
    IgnoredReferences ignored_;
    std::vector<int32_t> crossed_;
    bool only_count_ = true;  // without references every detection is a false positive
    DetectionCount<T> count_;
    WindowedTree<T> tree_;
    PairSweep<T> pairs_;      // with the references that count
    PairSweep<T> all_pairs_;  // with all references, if any is ignored
};

}  // namespace sedscope
