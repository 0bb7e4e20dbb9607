// The detections of one clip and class at all thresholds.
//
// The runs of frames with `score >= s`, over all s, form a tree. Its leaves are local maxima; a
// parent is the run that its children grow or merge into at the next lower score. A node is the
// detection of its frames for every threshold in [parent's score, own score).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "core/out_of_line.hpp"

namespace sedscope {

// The first frame from `frame` on with a score above the floor, or `frames`.
template <class T>
std::size_t first_above(const T* scores, std::size_t frame, std::size_t frames, T floor) {
    constexpr std::size_t block = 16;
    for (; frame + block <= frames; frame += block) {
        int above = 0;
        for (std::size_t k = 0; k < block; ++k) above += scores[frame + k] > floor;
        if (above) break;
    }
    while (frame < frames && !(scores[frame] > floor)) ++frame;
    return frame;
}

template <class T>
struct Detection {
    T score;            // detected if the threshold is below this ...
    T parent;           // ... but not below this: there it is part of a larger detection
    std::size_t first;  // frames [first, end)
    std::size_t end;
};

// Builds the tree in one pass over the frames, with a stack of the runs that are still open, and
// turns quantities that are sums over detections into deltas. If f(N) is the quantity of a node N,
// the delta at N's score is f(N) minus the sum of f over N's children. The frames may arrive in
// pieces: runs that are open at the end of one continue in the next.
template <class T>
class ComponentTree {
public:
    // Scores at or below `floor` are never detected.
    void begin(T floor, std::size_t quantities) {
        floor_ = floor;
        quantities_ = quantities;
        frame_ = depth_ = 0;
        values_.resize(quantities);
        sums_.resize(open_.size() * quantities);
    }

    // Takes the score of a frame, and says by
    //   measure(const Detection<T>&, int32_t* f)   the `quantities` values of a detection
    //   emit(T score, const int32_t* delta)        every delta with a non-zero value
    // Frames may be left out if their scores are not below those of the taken frames on either
    // side: no run that holds a taken frame changes.
    template <class Measure, class Emit>
    void take(T score, std::size_t frame, Measure&& measure, Emit&& emit) {
        if (score < floor_) score = floor_;
        if (depth_ > 0 && open_[depth_ - 1].score > score)
            depth_ = close(depth_, score, frame, measure, emit);
        if (score > floor_ && (depth_ == 0 || open_[depth_ - 1].score < score)) open(score);
        frame_ = frame + 1;
    }

    // Takes the next frames, all of them.
    template <class Measure, class Emit>
    void feed(const T* scores, std::size_t frames, Measure&& measure, Emit&& emit) {
        const std::size_t before = frame_;
        for (std::size_t i = 0; i < frames; ++i) take(scores[i], before + i, measure, emit);
    }

    // No frames follow.
    template <class Measure, class Emit>
    void finish(Measure&& measure, Emit&& emit) {
        depth_ = close(depth_, floor_, frame_, measure, emit);
    }

private:
    struct Run {
        T score;
        std::size_t first;
    };

    void open(T score) {
        if (depth_ == open_.size()) {
            open_.resize(2 * depth_ + 64);
            sums_.resize(open_.size() * quantities_);
        }
        open_[depth_] = {score, frame_};
        std::fill_n(sums_.data() + depth_ * quantities_, quantities_, 0);
        ++depth_;
    }

    // Closes the runs above a score; returns how many are still open.
    template <class Measure, class Emit>
    std::size_t close(std::size_t depth, T score, std::size_t frame, Measure&& measure,
                      Emit&& emit) {
        const std::size_t quantities = quantities_;
        int32_t* const values = values_.data();
        while (depth > 0 && open_[depth - 1].score > score) {
            Run& run = open_[depth - 1];
            int32_t* const sums = sums_.data() + (depth - 1) * quantities;
            const T below = depth > 1 ? open_[depth - 2].score : floor_;
            const T parent = below > score ? below : score;
            measure(Detection<T>{run.score, parent, run.first, frame}, values);
            int32_t changed = 0;
            for (std::size_t q = 0; q < quantities; ++q) {
                sums[q] = values[q] - sums[q];
                changed |= sums[q];
            }
            if (changed) emit(run.score, static_cast<const int32_t*>(sums));
            if (parent > below) {  // the run continues at this frame's lower score
                run.score = score;
                std::copy_n(values, quantities, sums);
            } else {  // the run ends, as part of the one below it, if any
                --depth;
                if (depth > 0)
                    for (std::size_t q = 0; q < quantities; ++q)
                        sums_[(depth - 1) * quantities + q] += values[q];
            }
        }
        return depth;
    }

    T floor_{};
    std::size_t quantities_ = 0;
    std::size_t frame_ = 0;      // the one after the last that was taken
    std::size_t depth_ = 0;      // open runs
    std::vector<Run> open_;      // a stack that never shrinks
    std::vector<int32_t> sums_;  // per open run, the quantities summed over its children so far
    std::vector<int32_t> values_;
};

// Counting detections needs no tree: their number rises at each local maximum and falls at each
// local minimum between two maxima. The changes alternate.
template <class T>
class ExtremaCount {
public:
    // Scores at or below `floor` are never detected.
    void begin(T floor) {
        floor_ = previous_ = floor;
        rising_ = 0;
    }

    // Begins to count only the changes between two detections that are there at every threshold,
    // one before the first frame and one after the last.
    void begin_inside(T floor) {
        floor_ = floor;
        previous_ = std::numeric_limits<T>::infinity();
        rising_ = 0;
    }

    // Takes the next frames. Writes the changes that are certain by then, at most as many as there
    // are frames, and returns their number.
    SEDSCOPE_OUT_OF_LINE std::size_t feed(const T* scores, std::size_t frames, T* out_scores,
                                          int8_t* out) {
        const T floor = floor_;
        T previous = previous_;
        unsigned rising = rising_;
        std::size_t n = 0;
        for (std::size_t frame = 0; frame < frames; ++frame) {
            if (!(previous > floor)) {
                frame = first_above(scores, frame, frames, floor);
                if (frame == frames) break;
            }
            const T score = std::max(scores[frame], floor);
            // without a branch, because nothing foretells the direction
            const unsigned rises = (score > previous) | (rising & !(score < previous));
            out_scores[n] = previous;
            out[n] = static_cast<int8_t>(2 * rising - 1);
            n += (rises ^ rising) & (previous > floor);
            rising = rises;
            previous = score;
        }
        previous_ = previous;
        rising_ = rising;
        return n;
    }

    // No frames follow. Writes at most one more change.
    std::size_t finish(T* out_scores, int8_t* out) { return feed_last(floor_, out_scores, out); }
    std::size_t finish_inside(T* out_scores, int8_t* out) {
        return feed_last(std::numeric_limits<T>::infinity(), out_scores, out);
    }

private:
    std::size_t feed_last(T score, T* out_scores, int8_t* out) {
        return feed(&score, 1, out_scores, out);
    }

    T floor_{}, previous_{};
    unsigned rising_ = 0;  // or 1
};

}  // namespace sedscope
