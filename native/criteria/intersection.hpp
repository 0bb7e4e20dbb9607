// The intersection criterion: the deltas of one clip and class, and the judge of single events.
//
// A detection is relevant if enough of it overlaps references of its class (DTC), ignored ones
// included; otherwise it is a false positive. A reference is found if relevant detections cover
// enough of it (GTC). A false positive is a cross-trigger on another class if enough of it overlaps
// references of that class (CTTC).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "clips/component_tree.hpp"
#include "clips/ignored_references.hpp"
#include "clips/references.hpp"
#include "core/out_of_line.hpp"
#include "core/time.hpp"
#include "counting/delta_rows.hpp"
#include "criteria/detection_count.hpp"
#include "criteria/grouped_sweep.hpp"
#include "criteria/scene.hpp"

namespace sedscope {

template <class T>
class IntersectionKernel;
class IntersectionJudge;

struct Intersection {
    template <class T>
    using Kernel = IntersectionKernel<T>;
    using Judge = IntersectionJudge;

    Requirement dtc, gtc, cttc;
    bool cross_triggers;
};

template <class T>
class IntersectionKernel {
public:
    explicit IntersectionKernel(const Intersection& criterion) : criterion_(criterion) {}

    // `own`: the references of the class that count, possibly none. `others` matters only with
    // cross-triggers.
    SEDSCOPE_OUT_OF_LINE void begin(const Time* edges, T floor, const References& own,
                                    const std::vector<OtherClass>& others,
                                    const IgnoredReferences& ignored) {
        edges_ = edges;
        floor_ = floor;
        own_ = own;
        others_.clear();
        if (criterion_.cross_triggers) others_ = others;
        has_ignored_ = ignored.any();
        if (has_ignored_) united_ = ignored.united;
        only_count_ = own.count() == 0 && others_.empty() && !has_ignored_;
        if (only_count_) {
            count_.begin(floor);
        } else {
            partial_.entries.clear();
            tree_.begin(floor, first_cross_trigger + others_.size());
        }
    }

    SEDSCOPE_OUT_OF_LINE void feed(const T* scores, std::size_t frames, DeltaRows<T>& rows) {
        if (only_count_)
            count_.feed(scores, frames, rows.detections);
        else
            sweep(rows,
                  [&](auto& measure, auto& emit) { tree_.feed(scores, frames, measure, emit); });
    }

    SEDSCOPE_OUT_OF_LINE void finish(DeltaRows<T>& rows) {
        if (only_count_) {
            count_.finish(rows.detections);
            return;
        }
        sweep(rows, [&](auto& measure, auto& emit) { tree_.finish(measure, emit); });
        if (own_.count() > 0) count_covered_in_part(rows.detections);
    }

private:
    // The quantities summed over detections; the cross-triggers on each other class follow. A
    // reference that lies inside one relevant detection is found, and no other detection overlaps
    // it. References that are covered in part are counted at the end.
    enum Quantity : std::size_t { false_positives, found_whole, first_cross_trigger };

    // A change of the time for which relevant detections cover a reference in part, where the
    // threshold falls below the score.
    struct Coverage {
        uint32_t group;  // the reference
        T score;
        Time change;
    };

    // `step(measure, emit)` advances the tree.
    template <class Step>
    void sweep(DeltaRows<T>& rows, Step&& step) {
        auto measure = [&](const Detection<T>& detection, int32_t* values) {
            const Time length = edges_[detection.end] - edges_[detection.first];
            values[found_whole] = 0;
            const bool relevant =
                has_ignored_ ? reaches_ignored(detection, length, values)
                             : own_.count() > 0 && is_relevant(detection, length, values);
            values[false_positives] = !relevant;
            for (std::size_t m = 0; m < others_.size(); ++m)
                values[first_cross_trigger + m] =
                    !relevant &&
                    criterion_.cttc.met_by(
                        others_[m].references.overlap(detection.first, detection.end), length);
        };
        auto emit = [&](T score, const int32_t* delta) {
            if (delta[found_whole] || delta[false_positives])
                rows.detections.push(score, delta[found_whole], delta[false_positives]);
            for (std::size_t m = 0; m < others_.size(); ++m)
                if (const int32_t change = delta[first_cross_trigger + m])
                    rows.cross_triggers.push(score, others_[m].label, change);
        };
        step(measure, emit);
    }

    // Whether the detection is relevant. If so, records what it covers.
    bool is_relevant(const Detection<T>& detection, Time length, int32_t* values) {
        if (own_.in_gap(detection.first, detection.end)) return false;
        const std::size_t begun_first = own_.begun(detection.first);
        const std::size_t begun_end = own_.begun(detection.end);
        const Time overlap = own_.overlap(detection.first, begun_first, detection.end, begun_end);
        if (!criterion_.dtc.met_by(overlap, length)) return false;
        cover_references(detection, begun_first, begun_end, values);
        return true;
    }

    // The same where there are ignored references.
    bool reaches_ignored(const Detection<T>& detection, Time length, int32_t* values) {
        if (!criterion_.dtc.met_by(united_.overlap(detection.first, detection.end), length))
            return false;
        if (own_.count() > 0)
            cover_references(detection, own_.begun(detection.first), own_.begun(detection.end),
                             values);
        return true;
    }

    // Records what a relevant detection covers, given how many references have begun at its ends.
    void cover_references(const Detection<T>& detection, std::size_t begun_first,
                          std::size_t begun_end, int32_t* values) {
        const std::size_t ended_first = own_.ended(detection.first, begun_first);
        const std::size_t ended_end = own_.ended(detection.end, begun_end);
        if (ended_end > begun_first)
            values[found_whole] = static_cast<int32_t>(ended_end - begun_first);
        const Time onset = edges_[detection.first], offset = edges_[detection.end];
        if (ended_first < begun_first)  // begins inside a reference
            cover(ended_first, std::min(offset, own_[ended_first].offset) - onset, detection);
        if (ended_end < begun_end && begun_first <= ended_end)  // ends inside one begun within
            cover(ended_end, offset - own_[ended_end].onset, detection);
    }

    void cover(std::size_t reference, Time time, const Detection<T>& detection) {
        const auto j = static_cast<uint32_t>(reference);
        Buffer<Coverage>& entries = partial_.entries;
        // Most detections take the place of the last one, which grew into them.
        Coverage* const last = entries.size() > 0 ? entries.end() - 1 : nullptr;
        if (last && last->group == j && last->score == detection.score)
            last->change += time;
        else
            entries.push({j, detection.score, time});
        if (detection.parent > floor_) entries.push({j, detection.parent, -time});
    }

    // Adds up the covered time of each reference as the threshold falls. Emits a true positive
    // where it becomes enough, and takes it back where it no longer is.
    void count_covered_in_part(DetectionRows<T>& rows) {
        partial_.arrange(own_.count());
        for (std::size_t j = 0; j < own_.count(); ++j) {
            const Time required = criterion_.gtc.of(own_[j].offset - own_[j].onset);
            Time covered = 0;
            bool was_enough = false;
            partial_.sweep(
                j, [&](const Coverage& entry) { covered += entry.change; },
                [&](T score) {
                    const bool enough = covered >= required;
                    if (enough != was_enough) rows.push(score, enough ? 1 : -1, 0);
                    was_enough = enough;
                });
        }
    }

    Intersection criterion_;
    const Time* edges_ = nullptr;
    T floor_{};
    References own_;
    References united_;  // with the ignored references, if there are any
    bool has_ignored_ = false;
    std::vector<OtherClass> others_;
    bool only_count_ = true;  // without references every detection is a false positive
    DetectionCount<T> count_;
    ComponentTree<T> tree_;
    GroupedSweep<Coverage> partial_;
};

class IntersectionJudge {
public:
    explicit IntersectionJudge(const Intersection& criterion) : criterion_(criterion) {}

    // Marks the true detections, the found references, and the detections that are relevant
    // because of ignored references.
    void judge(Scene& scene, References& own, IgnoredReferences& ignored) {
        covered_.assign(scene.detections.size(), 0);
        for (const Overlap& overlap : scene.overlaps) covered_[overlap.detection] += overlap.shared;
        for (std::size_t i = 0; i < scene.detections.size(); ++i) {
            const DetectedEvent& detection = scene.detections[i];
            const Time of_detection = length(detection);
            scene.is_true[i] = criterion_.dtc.met_by(covered_[i], of_detection);
            scene.is_ignored[i] =
                ignored.any() && !scene.is_true[i] &&
                criterion_.dtc.met_by(ignored.united.overlap(detection.first, detection.end),
                                      of_detection);
        }
        covered_.assign(own.count(), 0);
        for (const Overlap& overlap : scene.overlaps)
            if (scene.is_true[overlap.detection] || scene.is_ignored[overlap.detection])
                covered_[overlap.reference] += overlap.shared;
        for (std::size_t j = 0; j < own.count(); ++j)
            scene.is_found[j] = criterion_.gtc.met_by(covered_[j], own[j].offset - own[j].onset);
    }

    // Whether a false detection is a cross-trigger on another class. If the criterion does not
    // count cross-triggers, any overlap makes one. `own` is null if the class has no references.
    bool triggers(const DetectedEvent& detection, References*, IgnoredReferences&,
                  References& other) const {
        if (!criterion_.cross_triggers) return other.overlaps(detection.onset, detection.offset);
        const Time shared = other.overlap(detection.first, detection.end);
        return criterion_.cttc.met_by(shared, length(detection));
    }

    // Whether a boundary is too far off, given its error. This criterion tolerates no error.
    bool onset_off(Time) const { return true; }
    bool offset_off(Time, const Interval&) const { return true; }

private:
    static Time length(const DetectedEvent& detection) {
        return detection.offset - detection.onset;
    }

    Intersection criterion_;
    std::vector<Time> covered_;
};

}  // namespace sedscope
