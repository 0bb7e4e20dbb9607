// The criterion of any overlap: a reference is found by any detection that overlaps its window.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "clips/component_tree.hpp"
#include "clips/reference_table.hpp"
#include "core/time.hpp"
#include "criteria/closed_gaps.hpp"
#include "criteria/delta_rows.hpp"
#include "criteria/detection_count.hpp"

namespace sedscope {

// The window of a reference reaches from `before` its onset until `after` its offset. Gaps between
// detections of at most `longest_gap` are closed, and detections longer than `longest_piece` are
// cut into pieces of this length, each of which is judged by itself.
struct AnyOverlap {
    Time before, after;
    Time longest_gap;    // negative: none is closed
    Time longest_piece;  // zero: none is cut

    template <class T>
    class Kernel;
};

// The windows of one class in one clip.
class OverlapWindows {
public:
    void assign(const AnyOverlap& criterion, const ClipReferences& references, int32_t label) {
        longest_piece_ = criterion.longest_piece;
        windows_.clear();
        std::vector<References> layers;
        references.counted_in_layers(label, layers);
        add(criterion, layers);
        sort_by_onset();
        counted_ = windows_;
        add(criterion, references.ignored(label).layers);
        sort_by_onset();
        std::size_t last = 0;  // those that touch become one
        for (std::size_t k = 1; k < windows_.size(); ++k) {
            if (windows_[k].onset > windows_[last].offset)
                windows_[++last] = windows_[k];
            else
                windows_[last].offset = std::max(windows_[last].offset, windows_[k].offset);
        }
        if (!windows_.empty()) windows_.resize(last + 1);
    }

    // The windows of the references that count, by onset.
    const std::vector<Interval>& counted() const { return counted_; }
    // Whether there are none, of ignored references either.
    bool empty() const { return windows_.empty(); }

    // The pieces of a detection that overlap no window.
    int32_t false_pieces(Time onset, Time offset) const {
        auto window =
            std::upper_bound(windows_.begin(), windows_.end(), onset,
                             [](Time time, const Interval& other) { return time < other.offset; });
        const bool touches = window != windows_.end() && window->onset < offset;
        if (longest_piece_ == 0) return !touches;
        const Time pieces =
            std::max<Time>(1, (offset - onset + longest_piece_ - 1) / longest_piece_);
        if (!touches) return static_cast<int32_t>(pieces);
        Time touched = 0, next = 0;  // the first piece that no window before this one overlaps
        for (; window != windows_.end() && window->onset < offset; ++window) {
            const Time from = std::max(window->onset, onset) - onset;
            const Time until = std::max<Time>(1, std::min(window->offset, offset) - onset);
            const Time first = std::max(next, from / longest_piece_);
            next = std::max(next, (until + longest_piece_ - 1) / longest_piece_);
            touched += next - first;
        }
        return static_cast<int32_t>(pieces - touched);
    }

private:
    void add(const AnyOverlap& criterion, const std::vector<References>& layers) {
        for (const References& layer : layers)
            for (std::size_t j = 0; j < layer.count(); ++j)
                windows_.push_back(
                    {layer[j].onset - criterion.before, layer[j].offset + criterion.after});
    }

    void sort_by_onset() {
        std::sort(windows_.begin(), windows_.end(),
                  [](const Interval& a, const Interval& b) { return a.onset < b.onset; });
    }

    Time longest_piece_ = 0;
    std::vector<Interval> counted_;
    std::vector<Interval> windows_;  // all of them, united
};

// Emits the deltas of one class in one clip. A reference is found from the highest score on with
// which a frame overlaps its window, and a detection has false pieces while it exists.
template <class T>
class AnyOverlap::Kernel {
public:
    explicit Kernel(const AnyOverlap& criterion)
        : criterion_(criterion), gaps_(criterion.longest_gap) {}

    void begin(const ClipReferences& references, int32_t label, T floor) {
        windows_.assign(criterion_, references, label);
        edges_ = references.edges;
        floor_ = floor;
        frame_ = 0;
        targets_.clear();
        longest_window_ = 0;
        for (const Interval& window : windows_.counted()) {
            targets_.push_back({window, 0, 0, floor});
            longest_window_ = std::max(longest_window_, window.offset - window.onset);
        }
        if (!edges_) return;  // events follow, not frames
        const std::size_t frames = references.boundaries - 1;
        const Time* const ends = edges_ + 1;  // of frames
        for (Target& target : targets_) {
            target.first = static_cast<std::size_t>(
                std::upper_bound(ends, ends + frames, target.window.onset) - ends);
            target.end = static_cast<std::size_t>(
                std::lower_bound(edges_, edges_ + frames, target.window.offset) - edges_);
        }
        gaps_.begin(edges_, floor);
        all_false_ = windows_.empty() && criterion_.longest_piece == 0;
        if (all_false_)
            count_.begin(floor);
        else
            tree_.begin(floor, 1);
    }

    void feed(const T* scores, std::size_t frames, DeltaRows<T>& rows) {
        if (criterion_.longest_gap < 0)
            take(scores, frames, rows);
        else
            gaps_.feed(scores, frames, taking(rows));
    }

    // Takes an event that is detected as it is.
    void add(const Interval& event, T score, DeltaRows<T>& rows) {
        const int32_t pieces = windows_.false_pieces(event.onset, event.offset);
        if (pieces) rows.detections.push(score, 0, pieces);
        auto target = std::upper_bound(
            targets_.begin(), targets_.end(), event.onset - longest_window_,
            [](Time time, const Target& other) { return time < other.window.onset; });
        for (; target != targets_.end() && target->window.onset < event.offset; ++target)
            if (target->window.offset > event.onset) target->score = std::max(target->score, score);
    }

    void finish(DeltaRows<T>& rows) {
        if (edges_) {
            if (criterion_.longest_gap >= 0) gaps_.finish(taking(rows));
            if (all_false_)
                count_.finish(rows.detections);
            else
                tree_.finish(false_pieces(), false_positives(rows));
        }
        for (const Target& target : targets_)
            if (target.score > floor_) rows.detections.push(target.score, 1, 0);
    }

private:
    // A reference to be found: its window, the frames [first, end) that overlap it, and their
    // largest score so far.
    struct Target {
        Interval window;
        std::size_t first, end;
        T score;
    };

    auto false_pieces() {
        return [this](const Detection<T>& detection, int32_t* pieces) {
            *pieces = windows_.false_pieces(edges_[detection.first], edges_[detection.end]);
        };
    }
    static auto false_positives(DeltaRows<T>& rows) {
        return [&rows](T score, const int32_t* change) { rows.detections.push(score, 0, *change); };
    }
    auto taking(DeltaRows<T>& rows) {
        return [this, &rows](const T* scores, std::size_t frames) { take(scores, frames, rows); };
    }

    void take(const T* scores, std::size_t frames, DeltaRows<T>& rows) {
        if (all_false_)
            count_.feed(scores, frames, rows.detections);
        else
            tree_.feed(scores, frames, false_pieces(), false_positives(rows));
        const std::size_t end = frame_ + frames;
        for (Target& target : targets_) {
            const std::size_t until = std::min(target.end, end);
            for (std::size_t frame = std::max(target.first, frame_); frame < until; ++frame)
                target.score = std::max(target.score, scores[frame - frame_]);
        }
        frame_ = end;
    }

    const AnyOverlap criterion_;
    OverlapWindows windows_;
    ClosedGaps<T> gaps_;
    ComponentTree<T> tree_;
    DetectionCount<T> count_;
    bool all_false_ = false;  // every detection is one false positive: only their number matters
    const Time* edges_ = nullptr;
    T floor_{};
    std::size_t frame_ = 0;        // frames so far
    std::vector<Target> targets_;  // by onset
    Time longest_window_ = 0;
};

}  // namespace sedscope
