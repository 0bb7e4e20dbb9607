// Deltas of the intersection criterion for one clip and class.
//
// A detection is relevant when it shares enough time with references of its class (DTC), else it is
// a false positive. A reference is found when it shares enough time with relevant detections (GTC).
// A false positive that shares enough time with references of another class is a cross-trigger
// (CTTC).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "../clips/component_tree.hpp"
#include "../counting/delta_rows.hpp"
#include "grouped_sweep.hpp"
#include "../clips/references.hpp"

namespace sedscope {

struct Intersection {
    Requirement dtc, gtc, cttc;
    bool cross_triggers;
};

template <class T>
class IntersectionKernel {
public:
    explicit IntersectionKernel(const Intersection& criterion) : criterion_(criterion) {}

    // `own` is empty where the clip has no reference of the class; `others` counts only with
    // cross-triggers.
    void begin(const Time* edges, T floor, const References& own,
               const std::vector<OtherClass>& others) {
        edges_ = edges;
        floor_ = floor;
        own_ = own;
        others_.clear();
        if (criterion_.cross_triggers) others_ = others;
        only_count_ = own.count() == 0 && others_.empty();
        if (only_count_) {
            count_.begin(floor);
        } else {
            partial_.entries.clear();
            tree_.begin(floor, quantities_before_cross + others_.size());
        }
    }

    void feed(const T* scores, std::size_t frames, Rows<T>& rows) {
        if (only_count_)
            count_.feed(scores, frames, rows.detections);
        else
            sweep(rows,
                  [&](auto& measure, auto& emit) { tree_.feed(scores, frames, measure, emit); });
    }

    void finish(Rows<T>& rows) {
        if (only_count_) {
            count_.finish(rows.detections);
            return;
        }
        sweep(rows, [&](auto& measure, auto& emit) { tree_.finish(measure, emit); });
        if (own_.count() > 0) find_by_parts(rows.detections);
    }

private:
    // The quantities summed over detections. A reference inside one relevant detection is found
    // ("whole") and touched by no other; one that is covered in part is looked at afterwards.
    enum Quantity : std::size_t { false_positives, found_whole, quantities_before_cross };

    // From this score on, the time of a reference that relevant detections cover in part.
    struct Coverage {
        uint32_t group;  // the reference
        T score;
        Time change;
    };

    // `step(measure, emit)` takes the tree further.
    template <class Step>
    void sweep(Rows<T>& rows, Step&& step) {
        auto measure = [&](const Detection<T>& detection, int32_t* values) {
            const Time length = edges_[detection.end] - edges_[detection.first];
            values[found_whole] = 0;
            const bool relevant = own_.count() > 0 && match(detection, length, values);
            values[false_positives] = !relevant;
            for (std::size_t m = 0; m < others_.size(); ++m)
                values[quantities_before_cross + m] =
                    !relevant && others_[m].references.overlap(detection.first, detection.end) >=
                                     criterion_.cttc.of(length);
        };
        auto emit = [&](T score, const int32_t* delta) {
            if (delta[found_whole] || delta[false_positives])
                rows.detections.push(score, delta[found_whole], delta[false_positives]);
            for (std::size_t m = 0; m < others_.size(); ++m)
                if (const int32_t change = delta[quantities_before_cross + m])
                    rows.cross_triggers.push(score, others_[m].label, change);
        };
        step(measure, emit);
    }

    // Whether the detection is relevant; if so, notes what it covers.
    bool match(const Detection<T>& detection, Time length, int32_t* values) {
        if (own_.passed_by(detection.first, detection.end)) return false;
        const std::size_t begun_first = own_.begun(detection.first);
        const std::size_t begun_end = own_.begun(detection.end);
        const Time overlap = own_.overlap(detection.first, begun_first, detection.end, begun_end);
        if (overlap < criterion_.dtc.of(length)) return false;

        const std::size_t ended_first = own_.ended(detection.first, begun_first);
        const std::size_t ended_end = own_.ended(detection.end, begun_end);
        if (ended_end > begun_first)
            values[found_whole] = static_cast<int32_t>(ended_end - begun_first);
        const Time onset = edges_[detection.first], offset = edges_[detection.end];
        if (ended_first < begun_first)  // begins inside a reference
            cover(ended_first, std::min(offset, own_[ended_first].offset) - onset, detection);
        if (ended_end < begun_end && begun_first <= ended_end)  // ends inside one begun within
            cover(ended_end, offset - own_[ended_end].onset, detection);
        return true;
    }

    void cover(std::size_t reference, Time time, const Detection<T>& detection) {
        const auto j = static_cast<uint32_t>(reference);
        partial_.entries.push({j, detection.score, time});
        if (detection.parent > floor_) partial_.entries.push({j, detection.parent, -time});
    }

    // Adds up, per reference, what is covered as the threshold falls, and notes each time that it
    // becomes enough or ceases to be.
    void find_by_parts(DetectionRows<T>& rows) {
        partial_.arrange(own_.count());
        for (std::size_t j = 0; j < own_.count(); ++j) {
            const Time needed = criterion_.gtc.of(own_[j].offset - own_[j].onset);
            Time covered = 0;
            bool found = false;
            partial_.sweep(
                j, [&](const Coverage& entry) { covered += entry.change; },
                [&](T score) {
                    const bool enough = covered >= needed;
                    if (enough != found) rows.push(score, enough ? 1 : -1, 0);
                    found = enough;
                });
        }
    }

    Intersection criterion_;
    const Time* edges_ = nullptr;
    T floor_{};
    References own_;
    std::vector<OtherClass> others_;
    bool only_count_ = true;  // no reference is in question
    DetectionCount<T> count_;
    ComponentTree<T> tree_;
    GroupedSweep<Coverage> partial_;
};

}  // namespace sedscope
