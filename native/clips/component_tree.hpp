// The detections of one clip and class at all thresholds.
//
// The runs of frames with `score >= s`, over all s, form a tree. Its leaves are local maxima; a
// parent is the run that its children grow or merge into at the next lower score. A node is the
// detection of its frames for every threshold in [parent's score, own score).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace sedscope {

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

    // Takes the next frames.
    //   measure(const Detection<T>&, int32_t* f)   writes the `quantities` values of a detection
    //   emit(T score, const int32_t* delta)        receives every delta with a non-zero value
    template <class Measure, class Emit>
    void feed(const T* scores, std::size_t frames, Measure&& measure, Emit&& emit) {
        const T floor = floor_;
        const std::size_t quantities = quantities_, before = frame_;
        std::size_t depth = depth_;
        for (std::size_t i = 0; i < frames; ++i) {
            const std::size_t frame = before + i;
            const T score = scores[i] > floor ? scores[i] : floor;
            if (depth > 0 && open_[depth - 1].score > score)
                depth = close(depth, score, frame, measure, emit);
            if (score > floor && (depth == 0 || open_[depth - 1].score < score)) {
                if (depth == open_.size()) {
                    open_.resize(2 * depth + 64);
                    sums_.resize(open_.size() * quantities);
                }
                open_[depth] = {score, frame};
                std::fill_n(sums_.data() + depth * quantities, quantities, 0);
                ++depth;
            }
        }
        depth_ = depth;
        frame_ = before + frames;
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
    std::size_t frame_ = 0;      // frames so far
    std::size_t depth_ = 0;      // open runs
    std::vector<Run> open_;      // a stack that never shrinks
    std::vector<int32_t> sums_;  // per open run, the quantities summed over its children so far
    std::vector<int32_t> values_;
};

// Counting detections needs no tree: their number rises at each local maximum and falls at each
// local minimum between two maxima. The changes alternate, +1 first.
template <class T>
class ExtremaCount {
public:
    // Scores at or below `floor` are never detected.
    void begin(T floor) {
        floor_ = previous_ = floor;
        rising_ = false;
    }

    // Takes the next frames. Writes the changes that are certain by then, at most as many as there
    // are frames, and returns their number.
    std::size_t feed(const T* scores, std::size_t frames, T* out_scores, int8_t* out) {
        const T floor = floor_;
        T previous = previous_;
        bool rising = rising_;
        std::size_t n = 0;
        for (std::size_t frame = 0; frame < frames; ++frame) {
            const T score = scores[frame] > floor ? scores[frame] : floor;
            const bool rises = score > previous || (rising && score == previous);
            out_scores[n] = previous;
            out[n] = rising ? 1 : -1;
            n += (rises != rising) & (previous > floor);
            rising = rises;
            previous = score;
        }
        previous_ = previous;
        rising_ = rising;
        return n;
    }

    // No frames follow. Writes at most one more change.
    std::size_t finish(T* out_scores, int8_t* out) { return feed(&floor_, 1, out_scores, out); }

private:
    T floor_{}, previous_{};
    bool rising_ = false;
};

}  // namespace sedscope
