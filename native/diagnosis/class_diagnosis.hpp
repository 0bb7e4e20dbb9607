// The error types of the detections and references of one class in one clip, at some thresholds.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "clips/component_tree.hpp"
#include "clips/ignored_references.hpp"
#include "clips/references.hpp"
#include "core/out_of_line.hpp"
#include "core/time.hpp"
#include "criteria/contracts.hpp"
#include "criteria/scene.hpp"
#include "diagnosis/error_types.hpp"

namespace sedscope {

// Events that are detected as they are at every threshold below their score, in order of onset.
template <class T>
struct ScoredIntervals {
    const Interval* events = nullptr;
    const T* scores = nullptr;
    std::size_t count = 0;
};

// One class of one clip, and the thresholds at which it is diagnosed. It has scores of frames, or
// events whose boundaries are among the edges.
template <class T>
struct ClassView {
    const T* scores;  // null if there are none
    std::size_t frames;
    const Time* edges;
    ScoredIntervals<T> kept;
    const T* thresholds;  // decreasing
    std::size_t threshold_count;
    References* own;  // those that count; null if there are none
    IgnoredReferences& ignored;
    std::vector<OtherClass>& others;
};

// Gives each detection and each reference of one class in one clip its error type. `Judge` says
// for a criterion which of them are correct.
template <class T, class Judge>
class ClassDiagnosis {
public:
    static_assert(
        is_judge<Judge>,
        "a judge needs judge(), judges_strays(), triggers(), onset_off() and offset_off()");

    template <class Criterion>
    explicit ClassDiagnosis(const Criterion& criterion) : judge_(criterion) {}

    // Adds to `changes` (thresholds x type_columns) by how much each number differs from the one at
    // the threshold before.
    void count(const ClassView<T>& view, int64_t* changes) {
        find_spans(view);
        if (needs_judge(view))
            count_events(view, changes);
        else
            count_strays(view, changes);
    }

    // Finds the detections at the first threshold, and the types of all events.
    void examine(const ClassView<T>& view) {
        find_spans(view);
        examine(view, 0);
    }
    const Scene& scene() const { return scene_; }
    const std::vector<ErrorType>& detection_types() const { return detection_types_; }
    const std::vector<ErrorType>& reference_types() const { return reference_types_; }

    // Calls `emit(label)` for every other class on which a detection is a cross-trigger.
    template <class Emit>
    void each_triggered(const ClassView<T>& view, const DetectedEvent& detection, Emit&& emit) {
        for (OtherClass& other : view.others)
            if (judge_.triggers(detection, view.own, view.ignored, other.references))
                emit(other.label);
    }

private:
    // A detection that exists at the thresholds [from, until).
    struct Span {
        DetectedEvent event;
        std::size_t from, until;
    };

    bool needs_judge(const ClassView<T>& view) const {
        return view.own || view.ignored.any() || judge_.judges_strays();
    }

    // Finds the detections of all thresholds; those of one threshold are in order of time. Scores
    // between two thresholds make no difference, so the tree is built on the level of each frame:
    // the number of thresholds below its score.
    SEDSCOPE_OUT_OF_LINE void find_spans(const ClassView<T>& view) {
        spans_.clear();
        if (!view.scores) {
            keep_events(view);
            return;
        }
        levels_.resize(view.frames);
        const std::size_t thresholds = view.threshold_count;
        const T lowest = view.thresholds[thresholds - 1];  // most scores lie below it
        for (std::size_t frame = 0; frame < view.frames; ++frame) {
            const T score = view.scores[frame];
            levels_[frame] = score > lowest ? level(view, score) : 0;
        }
        const auto keep = [&](const Detection<uint32_t>& node, int32_t*) {
            const DetectedEvent event{node.first, node.end, view.edges[node.first],
                                      view.edges[node.end]};
            spans_.push_back({event, thresholds - node.score, thresholds - node.parent});
        };
        const auto nothing = [](uint32_t, const int32_t*) {};
        tree_.begin(0, 0);
        tree_.feed(levels_.data(), view.frames, keep, nothing);
        tree_.finish(keep, nothing);
    }

    // Takes events as they are.
    void keep_events(const ClassView<T>& view) {
        const std::size_t thresholds = view.threshold_count;
        const auto boundary = [&](Time time) {
            return static_cast<std::size_t>(
                std::lower_bound(view.edges, view.edges + view.frames + 1, time) - view.edges);
        };
        for (std::size_t k = 0; k < view.kept.count; ++k) {
            const std::size_t from = thresholds - level(view, view.kept.scores[k]);
            if (from == thresholds) continue;
            const Interval& event = view.kept.events[k];
            spans_.push_back(
                {{boundary(event.onset), boundary(event.offset), event.onset, event.offset},
                 from,
                 thresholds});
        }
    }

    // The number of thresholds below a score.
    static uint32_t level(const ClassView<T>& view, T score) {
        // A binary search without branches, as they would be hard to predict.
        const T* threshold = view.thresholds;
        std::size_t count = view.threshold_count;
        while (count > 1) {
            const std::size_t half = count / 2;
            threshold += threshold[half - 1] >= score ? half : 0;
            count -= half;
        }
        return static_cast<uint32_t>(view.thresholds + view.threshold_count - threshold -
                                     (*threshold >= score));
    }

    // The type of a detection that is not judged does not depend on the others.
    void count_strays(const ClassView<T>& view, int64_t* changes) {
        for (const Span& span : spans_) {
            int64_t* const column = changes + error_types + stray_type(view, span.event);
            ++column[span.from * type_columns];
            if (span.until < view.threshold_count) --column[span.until * type_columns];
        }
    }

    // Examines each threshold at which the detections are not those of the threshold before.
    void count_events(const ClassView<T>& view, int64_t* changes) {
        differs_.assign(view.threshold_count + 1, 0);
        differs_[0] = 1;
        for (const Span& span : spans_) differs_[span.from] = differs_[span.until] = 1;
        std::array<int64_t, type_columns> before{};
        for (std::size_t t = 0; t < view.threshold_count; ++t) {
            if (!differs_[t]) continue;
            examine(view, t);
            std::array<int64_t, type_columns> now{};
            for (ErrorType type : reference_types_) ++now[type];
            for (ErrorType type : detection_types_) ++now[error_types + type];
            for (std::size_t column = 0; column < type_columns; ++column)
                changes[t * type_columns + column] += now[column] - before[column];
            before = now;
        }
    }

    // Finds the detections at one threshold, and the types of all events.
    SEDSCOPE_OUT_OF_LINE void examine(const ClassView<T>& view, std::size_t t) {
        scene_.detections.clear();
        for (const Span& span : spans_)
            if (span.from <= t && t < span.until) scene_.detections.push_back(span.event);
        References none;
        References& references = view.own ? *view.own : none;
        scene_.find_overlaps(references);
        if (needs_judge(view)) judge_.judge(scene_, references, view.ignored);
        of_detections_.assign(scene_.detections.size(), {});
        of_references_.assign(references.count(), {});
        for (const auto& [i, j, shared] : scene_.overlaps) {
            of_detections_[i].add(j);
            of_references_[j].add(i);
        }
        reference_types_.clear();
        for (std::size_t j = 0; j < references.count(); ++j)
            reference_types_.push_back(reference_type(references, j));
        detection_types_.clear();
        for (std::size_t i = 0; i < scene_.detections.size(); ++i)
            detection_types_.push_back(detection_type(view, i));
    }

    ErrorType reference_type(const References& references, std::size_t j) const {
        if (scene_.is_found[j]) return correct;
        const Neighbours& neighbours = of_references_[j];
        if (neighbours.count == 0) return missed;
        if (neighbours.count > 1) return fragmented;
        if (of_detections_[neighbours.last].count > 1) return merged;
        return boundary_type(scene_.detections[neighbours.last], references[j]);
    }

    ErrorType detection_type(const ClassView<T>& view, std::size_t i) {
        if (scene_.is_true[i]) return correct;
        if (scene_.is_ignored[i]) return ignored;
        const Neighbours& neighbours = of_detections_[i];
        if (neighbours.count == 0) return stray_type(view, scene_.detections[i]);
        if (neighbours.count > 1) return merged;
        if (of_references_[neighbours.last].count > 1) return fragmented;
        return boundary_type(scene_.detections[i], (*view.own)[neighbours.last]);
    }

    // A false detection that overlaps no reference of its class.
    ErrorType stray_type(const ClassView<T>& view, const DetectedEvent& detection) {
        for (OtherClass& other : view.others)
            if (judge_.triggers(detection, view.own, view.ignored, other.references))
                return cross_trigger;
        return background;
    }

    // A detection and a reference that overlap each other and no other.
    ErrorType boundary_type(const DetectedEvent& detection, const Interval& reference) const {
        const Time onset = detection.onset - reference.onset;
        const Time offset = detection.offset - reference.offset;
        const bool bad_onset = judge_.onset_off(onset);
        const bool bad_offset = judge_.offset_off(offset, reference);
        if (bad_onset != bad_offset) return bad_onset ? wrong_onset : wrong_offset;
        if (onset <= 0 && offset >= 0) return too_long;
        if (onset >= 0 && offset <= 0) return too_short;
        return std::abs(onset) >= std::abs(offset) ? wrong_onset : wrong_offset;
    }

    // The events of the other side that an event overlaps: how many, and the last of them.
    struct Neighbours {
        uint32_t count = 0, last = 0;

        void add(uint32_t other) {
            ++count;
            last = other;
        }
    };

    Judge judge_;
    std::vector<uint32_t> levels_;
    ComponentTree<uint32_t> tree_;
    std::vector<Span> spans_;
    std::vector<uint8_t> differs_;
    Scene scene_;
    std::vector<Neighbours> of_detections_, of_references_;
    std::vector<ErrorType> detection_types_, reference_types_;
};

}  // namespace sedscope
