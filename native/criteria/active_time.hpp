// The time in which a class is active, rightly or wrongly, at every threshold.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "clips/reference_table.hpp"
#include "core/out_of_line.hpp"
#include "core/time.hpp"
#include "counting/delta_rows.hpp"

namespace sedscope {

// Where the threshold falls below the score of a frame, its time within references becomes true
// positive, and the rest false positive. Ignored references are not judged, nor is what lies outside
// the clip. Neither kind of references may overlap within itself or with the other.
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
        frame_ = 0;
        tp_ = fp_ = 0;
    }

    SEDSCOPE_OUT_OF_LINE void feed(const T* scores, std::size_t frames,
                                   DeltaRows<T, Change>& rows) {
        for (std::size_t i = 0; i < frames; ++i) {
            const T score = scores[i];
            const Time from = std::max<Time>(edges_[frame_ + i], 0);
            const Time until = std::min(edges_[frame_ + i + 1], duration_);
            if (!(score > floor_) || until <= from) continue;
            if (score != score_) {
                push(rows);
                score_ = score;
            }
            const Time found = references_.shared(from, until);
            tp_ += found;
            fp_ += until - from - found - ignored_.shared(from, until);
        }
        frame_ += frames;
    }

    void finish(DeltaRows<T, Change>& rows) { push(rows); }

private:
    // The events of one class, passed from left to right.
    class Cursor {
    public:
        Cursor() = default;
        explicit Cursor(const References& events) : events_(events) {}

        // The time that the events share with an interval. Intervals must come in order.
        Time shared(Time from, Time until) {
            while (next_ < events_.count() && events_[next_].offset <= from) ++next_;
            Time time = 0;
            for (std::size_t j = next_; j < events_.count() && events_[j].onset < until; ++j)
                time += std::min(until, events_[j].offset) - std::max(from, events_[j].onset);
            return time;
        }

    private:
        References events_;
        std::size_t next_ = 0;  // the first that does not end before the interval
    };

    // Frames of one score that follow each other make one row.
    void push(DeltaRows<T, Change>& rows) {
        if (tp_ || fp_) rows.detections.push(score_, tp_, fp_);
        tp_ = fp_ = 0;
    }

    const Time* durations_;
    const Time* edges_ = nullptr;
    Time duration_ = 0;
    T floor_{};
    Cursor references_, ignored_;
    std::size_t frame_ = 0;    // frames so far
    T score_{};                // of the last frames
    Time tp_ = 0, fp_ = 0;     // of the last frames
};

}  // namespace sedscope
