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
#include <limits>
#include <vector>

#include "clips/component_tree.hpp"
#include "clips/ignored_references.hpp"
#include "clips/outline.hpp"
#include "clips/reference_table.hpp"
#include "clips/references.hpp"
#include "clips/stretches.hpp"
#include "core/out_of_line.hpp"
#include "core/time.hpp"
#include "criteria/coverage.hpp"
#include "criteria/delta_rows.hpp"
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

// Between two neighbouring boundaries of references, all detections are judged alike: they lie in a
// reference as a whole or not at all. Extrema count them, without a look at each. Detections across
// a boundary form a tree of outlines, which is much smaller than that of all frames.
template <class T>
class IntersectionKernel {
public:
    explicit IntersectionKernel(const Intersection& criterion) : criterion_(criterion) {}

    SEDSCOPE_OUT_OF_LINE void begin(const ClipReferences& references, int32_t label, T floor) {
        edges_ = references.edges;
        floor_ = floor;
        label_ = label;
        own_ = references.counted(label);
        const IgnoredReferences ignored = references.ignored(label);
        has_ignored_ = ignored.any();
        if (has_ignored_) united_ = ignored.united;
        others_.clear();
        if (criterion_.cross_triggers) references.of_others(label, others_);
        only_count_ = own_.count() == 0 && others_.empty() && !has_ignored_;
        if (only_count_) {
            count_.begin(floor);
            return;
        }
        cut(references);
        frame_ = stretch_ = 0;
        within_ = false;
        inside_.clear();
        withheld_.entries.clear();
        tree_.begin(floor, first_cross_trigger + others_.size());
    }

    SEDSCOPE_OUT_OF_LINE void feed(const T* scores, std::size_t frames, DeltaRows<T>& rows) {
        if (only_count_) {
            count_.feed(scores, frames, rows.detections);
            return;
        }
        while (frames > 0) {
            const Stretch& stretch = stretches()[stretch_];
            if (!within_) begin_stretch(stretch);
            const std::size_t part = std::min(frames, stretch.end - frame_);
            if (stretch.mixed)
                take_mixed(stretch, scores[0], rows);
            else
                take(scores, part, rows);
            frame_ += part;
            scores += part;
            frames -= part;
            if (frame_ == stretch.end) finish_stretch(stretch, rows);
        }
    }

    SEDSCOPE_OUT_OF_LINE void finish(DeltaRows<T>& rows) {
        if (only_count_) {
            count_.finish(rows.detections);
            return;
        }
        sweep(rows, [&](auto& measure, auto& emit) { tree_.finish(measure, emit); });
        count_found(rows.detections);
    }

private:
    static constexpr uint32_t no_event = std::numeric_limits<uint32_t>::max();
    static constexpr int32_t united = -1;  // in place of a label

    // The quantities summed over detections across boundaries; the cross-triggers on each other
    // class follow. A reference inside a detection that is not relevant is not found, though all of
    // its frames are above the threshold.
    enum Quantity : std::size_t { false_positives, lost, first_cross_trigger };

    using Coverage = sedscope::Coverage<T>;

    // Cuts the clip at the boundaries of all references in question. With cross-triggers these are
    // the same for all classes, unless some are ignored: then the clip has one cut for them all.
    void cut(const ClipReferences& references) {
        if (criterion_.cross_triggers && !has_ignored_) {
            cut_of_clip_ = &references.stretches();
            set_labels_ = references.labels;
            return;
        }
        cut_of_clip_ = nullptr;
        set_labels_.clear();
        sets_.clear();
        auto add = [&](int32_t label, const References& set) {
            set_labels_.push_back(label);
            sets_.push_back(set);
        };
        if (criterion_.cross_triggers)
            for (std::size_t k = 0; k < references.labels.size(); ++k)
                add(references.labels[k], References(references.by_class[k]));
        else
            add(label_, own_);
        if (has_ignored_) add(united, united_);
        references.cut(sets_, own_cut_);
    }

    const Stretches& stretches() const { return cut_of_clip_ ? *cut_of_clip_ : own_cut_; }

    void begin_stretch(const Stretch& stretch) {
        within_ = true;
        own_event_ = no_event;
        relevant_ = false;
        crossed_.clear();
        if (stretch.mixed) return;
        const Stretches& all = stretches();
        for (auto cover = all.begin(stretch); cover != all.end(stretch); ++cover) {
            const int32_t label = set_labels_[cover->set];
            if (label == label_) own_event_ = cover->event;
            if (label == label_ || label == united)
                relevant_ = true;
            else
                crossed_.push_back(label);
        }
        outline_.begin(floor_);
        if (!relevant_) inner_count_.begin(floor_);
    }

    // Takes a frame with a boundary inside it.
    void take_mixed(const Stretch& stretch, T score, DeltaRows<T>& rows) {
        const Time from = edges_[frame_], until = edges_[frame_ + 1];
        const Stretches& all = stretches();
        if (score > floor_)
            for (auto cover = all.begin(stretch); cover != all.end(stretch); ++cover)
                if (set_labels_[cover->set] == label_) {
                    const Interval& event = own_[cover->event];
                    inside_.push({cover->event, score,
                                  std::min(until, event.offset) - std::max(from, event.onset)});
                }
        sweep(rows, [&](auto& measure, auto& emit) { tree_.take(score, frame_, measure, emit); });
    }

    // Takes frames without a boundary.
    void take(const T* scores, std::size_t frames, DeltaRows<T>& rows) {
        if (own_event_ != no_event)
            for (std::size_t i = 0; i < frames; ++i)
                if (scores[i] > floor_)
                    inside_.push(
                        {own_event_, scores[i], edges_[frame_ + i + 1] - edges_[frame_ + i]});
        if (!relevant_)
            count_inside(rows, [&] { inner_count_.feed(scores, frames, rows.detections); });
        sweep(rows, [&](auto& measure, auto& emit) {
            outline_.feed(scores, frames, frame_, [&](T score, std::size_t frame) {
                tree_.take(score, frame, measure, emit);
            });
        });
    }

    void finish_stretch(const Stretch& stretch, DeltaRows<T>& rows) {
        within_ = false;
        ++stretch_;
        if (stretch.mixed) return;
        if (!relevant_)
            count_inside(
                rows, [&] { inner_count_.finish(!(outline_.lowest() > floor_), rows.detections); });
        sweep(rows, [&](auto& measure, auto& emit) {
            outline_.finish(
                [&](T score, std::size_t frame) { tree_.take(score, frame, measure, emit); });
        });
    }

    // `count()` adds false positives that lie inside references of other classes as a whole.
    template <class Count>
    void count_inside(DeltaRows<T>& rows, Count&& count) {
        const std::size_t before = rows.detections.size();
        count();
        for (const int32_t label : crossed_)
            for (std::size_t row = before; row < rows.detections.size(); ++row)
                rows.cross_triggers.push(rows.detections.scores[row], label,
                                         rows.detections.fp[row]);
    }

    // `step(measure, emit)` advances the tree.
    template <class Step>
    void sweep(DeltaRows<T>& rows, Step&& step) {
        auto measure = [&](const Detection<T>& detection, int32_t* values) {
            const Time length = edges_[detection.end] - edges_[detection.first];
            References& relevance = has_ignored_ ? united_ : own_;
            const bool relevant =
                relevance.count() > 0 &&
                criterion_.dtc.met_by(relevance.overlap(detection.first, detection.end), length);
            values[false_positives] = !relevant;
            values[lost] = 0;
            if (!relevant && own_.count() > 0) withhold(detection, values);
            for (std::size_t m = 0; m < others_.size(); ++m)
                values[first_cross_trigger + m] =
                    !relevant &&
                    criterion_.cttc.met_by(
                        others_[m].references.overlap(detection.first, detection.end), length);
        };
        auto emit = [&](T score, const int32_t* delta) {
            if (delta[lost] || delta[false_positives])
                rows.detections.push(score, -delta[lost], delta[false_positives]);
            for (std::size_t m = 0; m < others_.size(); ++m)
                if (const int32_t change = delta[first_cross_trigger + m])
                    rows.cross_triggers.push(score, others_[m].label, change);
        };
        step(measure, emit);
    }

    // Records the references that a detection overlaps without being relevant.
    void withhold(const Detection<T>& detection, int32_t* values) {
        if (own_.in_gap(detection.first, detection.end)) return;
        const std::size_t begun_first = own_.begun(detection.first);
        const std::size_t begun_end = own_.begun(detection.end);
        const std::size_t ended_first = own_.ended(detection.first, begun_first);
        const std::size_t ended_end = own_.ended(detection.end, begun_end);
        if (ended_end > begun_first) values[lost] = static_cast<int32_t>(ended_end - begun_first);
        const Time onset = edges_[detection.first], offset = edges_[detection.end];
        if (ended_first < begun_first)  // begins inside a reference
            withhold(ended_first, std::min(offset, own_[ended_first].offset) - onset, detection);
        if (ended_end < begun_end && begun_first <= ended_end)  // ends inside one begun within
            withhold(ended_end, offset - own_[ended_end].onset, detection);
    }

    void withhold(std::size_t reference, Time time, const Detection<T>& detection) {
        const auto j = static_cast<uint32_t>(reference);
        withheld_.entries.push({j, detection.score, -time});
        if (detection.parent > floor_) withheld_.entries.push({j, detection.parent, time});
    }

    // Emits a true positive where enough of a reference is covered, and takes it back where it no
    // longer is.
    void count_found(DetectionRows<T>& rows) {
        if (inside_.size() == 0) return;
        withheld_.arrange(own_.count());
        for (Coverage *first = inside_.begin(), *end; first != inside_.end(); first = end) {
            const uint32_t j = first->group;
            Time total = 0;
            for (end = first; end != inside_.end() && end->group == j; ++end) total += end->change;
            const Time required = criterion_.gtc.of(own_[j].offset - own_[j].onset);
            if (total < required) continue;
            if (withheld_.empty(j)) {
                rows.push(score_of_enough(first, end, required), 1, 0);
                continue;
            }
            count_found_in_sweep(first, end, j, required, rows);
        }
    }

    // The same for a reference that is also covered by detections that are not relevant.
    void count_found_in_sweep(Coverage* first, Coverage* end, uint32_t j, Time required,
                              DetectionRows<T>& rows) {
        all_.assign(first, end);
        withheld_.each(j, [&](const Coverage& entry) { all_.push_back(entry); });
        std::sort(all_.begin(), all_.end(),
                  [](const Coverage& a, const Coverage& b) { return a.score > b.score; });
        Time covered = 0;
        bool was_enough = false;
        for (auto entry = all_.begin(); entry != all_.end();) {
            const T score = entry->score;
            for (; entry != all_.end() && entry->score == score; ++entry) covered += entry->change;
            const bool enough = covered >= required;
            if (enough != was_enough) rows.push(score, enough ? 1 : -1, 0);
            was_enough = enough;
        }
    }

    Intersection criterion_;
    const Time* edges_ = nullptr;
    T floor_{};
    int32_t label_ = 0;
    References own_;
    References united_;  // with the ignored references, if there are any
    bool has_ignored_ = false;
    std::vector<OtherClass> others_;
    bool only_count_ = true;  // without references every detection is a false positive
    DetectionCount<T> count_;
    InnerDetectionCount<T> inner_count_;
    std::vector<References> sets_;
    std::vector<int32_t> set_labels_;
    const Stretches* cut_of_clip_ = nullptr;  // that of the references of `begin`, ...
    Stretches own_cut_;                       // ... or, if null, this one
    std::size_t frame_ = 0;                   // frames so far
    std::size_t stretch_ = 0;                 // the number of the present one
    bool within_ = false;                     // whether a part of it was taken
    uint32_t own_event_ = no_event;
    bool relevant_ = false;
    std::vector<int32_t> crossed_;  // the other classes that have references in it
    Outline<T> outline_;
    ComponentTree<T> tree_;
    Buffer<Coverage> inside_;          // the frames in references, by reference
    GroupedSweep<Coverage> withheld_;  // their time in detections that are not relevant
    std::vector<Coverage> all_;
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
        until_.assign(own.count(), before_all);
        for (const Overlap& overlap : scene.overlaps)
            if (scene.is_true[overlap.detection] || scene.is_ignored[overlap.detection])
                cover(overlap.reference, own[overlap.reference],
                      scene.detections[overlap.detection]);
        for (std::size_t j = 0; j < own.count(); ++j)
            scene.is_found[j] = criterion_.gtc.met_by(covered_[j], own[j].offset - own[j].onset);
    }

    // Whether a false detection is a cross-trigger on another class. If the criterion does not
    // count cross-triggers, any overlap makes one. `own` is null if the class has no references.
    bool triggers(const DetectedEvent& detection, References*, IgnoredReferences&,
                  References& other) const {
        if (!criterion_.cross_triggers) return other.touched_by(detection.interval());
        const Time shared = other.overlap(detection.first, detection.end);
        return criterion_.cttc.met_by(shared, length(detection));
    }

    // Whether a boundary is too far off, given its error. This criterion tolerates no error.
    bool judges_strays() const { return false; }
    bool onset_off(Time) const { return true; }
    bool offset_off(Time, const Interval&) const { return true; }

private:
    static Time length(const DetectedEvent& detection) {
        return detection.offset - detection.onset;
    }

    // Adds the time of a reference that a detection covers, if no earlier one does. Detections come
    // in order of onset.
    void cover(std::size_t reference, const Interval& event, const DetectedEvent& detection) {
        const Time from = std::max({event.onset, detection.onset, until_[reference]});
        const Time until = std::min(event.offset, detection.offset);
        covered_[reference] += std::max<Time>(0, until - from);
        until_[reference] = std::max(until_[reference], until);
    }

    Intersection criterion_;
    std::vector<Time> covered_, until_;
};

}  // namespace sedscope
