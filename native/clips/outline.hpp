// The outline of a stretch of frames: all that detections reaching beyond it depend on.
//
// Such a detection holds the first or the last frame of the stretch, or both. At each threshold it
// goes from the first frame to the first score that is not above the threshold, or back from the
// last frame to the last such score. So only those scores matter that are lower than all before
// them, or lower than all after them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace sedscope {

template <class T>
class Outline {
public:
    // Begins a stretch. Scores at or below `floor` are never detected.
    void begin(T floor) {
        floor_ = floor;
        begun_ = false;
        from_right_.clear();
    }

    // Takes the next frames, from number `first` on. Calls `record(score, frame)` for each score
    // that is lower than all before it.
    template <class Record>
    void feed(const T* scores, std::size_t frames, std::size_t first, Record&& record) {
        if (frames == 0) return;
        std::size_t i = 0;
        if (!begun_) {
            lower_to(scores[0], first, record);
            begun_ = true;
            i = 1;
        }
        for (; i < frames && lowest_ > floor_; ++i)
            if (scores[i] < lowest_) lower_to(scores[i], first + i, record);
        look_back(scores, frames, first);
    }

    // Ends the stretch: records the scores that are lower than all after them. The next frames
    // begin another stretch.
    template <class Record>
    void finish(Record&& record) {
        for (const Frame& frame : from_right_)
            if (frame.number > lowest_frame_) record(frame.score, frame.number);
        begin(floor_);
    }

    // The lowest score, but not below the floor.
    T lowest() const { return lowest_; }

private:
    struct Frame {
        std::size_t number;
        T score;
    };

    template <class Record>
    void lower_to(T score, std::size_t frame, Record&& record) {
        lowest_ = std::max(score, floor_);
        lowest_frame_ = frame;
        record(lowest_, frame);
    }

    // Updates the scores that are lower than all after them, from the last frame backwards.
    void look_back(const T* scores, std::size_t frames, std::size_t first) {
        const auto begin = static_cast<std::ptrdiff_t>(from_right_.size());
        T low = std::max(scores[frames - 1], floor_);
        from_right_.push_back({first + frames - 1, low});
        for (std::size_t i = frames - 1; i-- > 0 && low > lowest_;) {
            if (scores[i] >= low) continue;
            low = std::max(scores[i], floor_);
            from_right_.push_back({first + i, low});
        }
        std::reverse(from_right_.begin() + begin, from_right_.end());
        auto kept = from_right_.begin() + begin;  // of the frames before, those that are lower
        while (kept != from_right_.begin() && (kept - 1)->score >= low) --kept;
        from_right_.erase(kept, from_right_.begin() + begin);
    }

    T floor_{}, lowest_{};
    std::size_t lowest_frame_ = 0;
    bool begun_ = false;
    std::vector<Frame> from_right_;
};

}  // namespace sedscope
