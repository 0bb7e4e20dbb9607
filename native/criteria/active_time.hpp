// The time in which a class is active, rightly or wrongly, at every threshold.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "clips/envelope.hpp"
#include "clips/reference_table.hpp"
#include "core/buffer.hpp"
#include "core/out_of_line.hpp"
#include "core/time.hpp"
#include "criteria/delta_rows.hpp"

namespace sedscope {

// Where the threshold falls below the score of a frame, its time within references becomes true
// positive, and the rest false positive. Neither ignored references nor what lies outside the clip
// are judged. No two references may overlap, whether they are ignored or not.
template <class T>
class ActiveTime {
public:
    using Change = int32_t;  // microseconds

    // `durations`: of all clips.
    explicit ActiveTime(const Time* durations) : durations_(durations) {}

    void begin(const ClipReferences& references, int32_t label, T floor) {
        edges_ = references.edges;
        duration_ = durations_[references.clip];
        floor_ = floor;
        references_ = Cursor(references.counted(label));
        const IgnoredReferences ignored = references.ignored(label);
        ignored_ = Cursor(ignored.any() ? ignored.layers[0] : References());
        envelope_.begin();
    }

    SEDSCOPE_OUT_OF_LINE void feed(const T* scores, std::size_t frames,
                                   DeltaRows<T, Change>& rows) {
        for (std::size_t i = 0; i < frames; ++i) {
            i = take_stretch(scores, i, frames, rows);
            if (i < frames && scores[i] > floor_)
                take_mixed(edges_[i], edges_[i + 1], scores[i], rows);
        }
        edges_ += frames;
    }

    // Takes an event in place of frames. Where events overlap, the highest score counts.
    void add(const Interval& event, T score, DeltaRows<T, Change>& rows) {
        envelope_.add(event, score, [&](Time from, Time until, T highest) {
            take_mixed(from, until, highest, rows);
        });
    }

    void finish(DeltaRows<T, Change>& rows) {
        envelope_.finish(
            [&](Time from, Time until, T highest) { take_mixed(from, until, highest, rows); });
    }

private:
    // The events of one class, passed from left to right.
    class Cursor {
    public:
        Cursor() = default;
        explicit Cursor(const References& events) : events_(events) {}

        // Returns whether an event covers a time. Lowers `until` to the next time at which the
        // answer changes. Times must come in order.
        bool lasts(Time time, Time& until) {
            pass(time);
            if (next_ == events_.count()) return false;
            const bool begun = events_[next_].onset <= time;
            until = std::min(until, begun ? events_[next_].offset : events_[next_].onset);
            return begun;
        }
        // The time that the events share with an interval. Intervals must come in order.
        Time shared(Time from, Time until) {
            pass(from);
            Time time = 0;
            for (std::size_t j = next_; j < events_.count() && events_[j].onset < until; ++j)
                time += std::min(until, events_[j].offset) - std::max(from, events_[j].onset);
            return time;
        }

    private:
        void pass(Time time) {
            while (next_ < events_.count() && events_[next_].offset <= time) ++next_;
        }

        References events_;
        std::size_t next_ = 0;  // the first that does not end before the time
    };

    // Takes the frames from `first` on that lie within the clip, and within a reference, within an
    // ignored one or between them as a whole. Returns the first frame that does not.
    std::size_t take_stretch(const T* scores, std::size_t first, std::size_t frames,
                             DeltaRows<T, Change>& rows) {
        const Time from = edges_[first];
        if (from < 0) return first;
        Time until = std::min(duration_, from + longest_);
        const bool found = references_.lasts(from, until), ignored = ignored_.lasts(from, until);
        const Time* const end = std::upper_bound(edges_ + first + 1, edges_ + frames + 1, until);
        const auto last = static_cast<std::size_t>(end - edges_) - 1;
        if (!ignored) {
            auto& [row_scores, tp, fp] = rows.detections;
            push_frames(scores, first, last, row_scores, found ? tp : fp, found ? fp : tp);
        }
        return last;
    }

    // Pushes rows with the time of the frames in one column and 0 in the other. Frames of one score
    // that follow each other make one row. Without branches, because scores change unpredictably.
    void push_frames(const T* scores, std::size_t first, std::size_t last, Buffer<T>& row_scores,
                     Buffer<Change>& times, Buffer<Change>& zeros) {
        while (first < last && !(scores[first] > floor_)) ++first;
        if (first == last) return;
        T* const to_score = row_scores.reserve(last - first);
        Change* const to_time = times.reserve(last - first);
        Change* const to_zero = zeros.reserve(last - first);
        std::size_t row = 0;
        T score = scores[first];
        Change time = 0;
        for (std::size_t i = first; i < last; ++i) {
            const bool active = scores[i] > floor_, changes = active & (scores[i] != score);
            const auto length = static_cast<Change>(edges_[i + 1] - edges_[i]);
            row += changes;
            score = active ? scores[i] : score;
            time = (changes ? 0 : time) + (active ? length : 0);
            to_score[row] = score;
            to_time[row] = time;
            to_zero[row] = 0;
        }
        row_scores.grow(row + 1);
        times.grow(row + 1);
        zeros.grow(row + 1);
    }

    void take_mixed(Time from, Time until, T score, DeltaRows<T, Change>& rows) {
        from = std::max<Time>(from, 0);
        until = std::min(until, duration_);
        if (until <= from) return;
        const Time tp = references_.shared(from, until);
        const Time fp = until - from - tp - ignored_.shared(from, until);
        if (tp || fp) rows.detections.push(score, tp, fp);
    }

    // What a column can hold, so that a row can take the time of all frames of a stretch.
    static constexpr Time longest_ = std::numeric_limits<Change>::max();

    const Time* durations_;
    const Time* edges_ = nullptr;  // of the frames that come
    Time duration_ = 0;
    T floor_{};
    Cursor references_, ignored_;
    Envelope<T> envelope_;  // of events in place of frames
};

}  // namespace sedscope
