// Deltas of criteria that pair each detection with at most one reference and each reference with at
// most one detection, by as many pairs as possible (collar, intersection over union).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "component_tree.hpp"
#include "deltas.hpp"
#include "pair_sweep.hpp"
#include "references.hpp"

namespace sedscope {

template <class T, class Pairing>
class MatchingKernel {
public:
    MatchingKernel(const Pairing& pairing, bool cross_triggers, bool errors)
        : pairing_(pairing), cross_triggers_(cross_triggers), errors_(errors) {}

    // A detection that can be paired with no reference of its class, but with one of another class,
    // is a cross-trigger on that class.
    void run(const T* scores, std::size_t frames, const Time* edges, T floor, References* own,
             const std::vector<OtherClass>& others, Rows<T>& rows) {
        push_detection_counts(scores, frames, floor, rows.detections);
        const std::size_t cross = cross_triggers_ ? others.size() : 0;
        if (!own && cross == 0) return;
        pairs_.clear();
        tree_.sweep(
            scores, frames, floor, cross,
            [&](const Detection<T>& detection, int32_t* values) {
                const Time from = edges[detection.first], until = edges[detection.end];
                if (own)
                    pairing_.candidates(*own, from, until, [&](std::size_t j) {
                        if (errors_)
                            pairs_.add_candidate(j, from - (*own)[j].onset,
                                                 until - (*own)[j].offset);
                        else
                            pairs_.add_candidate(j);
                    });
                const bool paired = pairs_.add_detection(detection.score, detection.parent);
                for (std::size_t m = 0; m < cross; ++m) {
                    values[m] = 0;
                    if (!paired)
                        pairing_.candidates(*others[m].references, from, until,
                                            [&](std::size_t) { values[m] = 1; });
                }
            },
            [&](T score, const int32_t* delta) {
                for (std::size_t m = 0; m < cross; ++m)
                    if (delta[m]) rows.cross_triggers.push(score, others[m].label, delta[m]);
            });
        if (!own) return;
        // a pair is one true positive more and one false positive less
        pairs_.count_pairs(floor, own->count(), [&](T score, int32_t change) {
            rows.detections.push(score, change, -change);
        });
        if (errors_)
            pairs_.sum_errors(floor, own->count(), [&](T score, const PairErrors& change) {
                rows.errors.push(score, change.onset, change.offset);
            });
    }

private:
    Pairing pairing_;
    bool cross_triggers_, errors_;
    ComponentTree<T> tree_;
    PairSweep<T> pairs_;
};

}  // namespace sedscope
