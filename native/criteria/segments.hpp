// One score per segment instead of per frame.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "clips/detection_table.hpp"
#include "clips/envelope.hpp"
#include "clips/view.hpp"
#include "core/buffer.hpp"
#include "core/exact_means.hpp"
#include "core/parallel.hpp"
#include "core/time.hpp"

namespace sedscope {

// How clips are cut into segments, and how scores of frames become the score of a segment. The
// segments have the given length from 0 on; the last one ends with the clip. The score is the
// largest of the frames that overlap the segment or, with `mean`, their mean weighted by the time
// that they share with it and rounded once. It is -inf where there is no frame.
struct Segmentation {
    Time length;
    bool mean;
};

// Scores the segments of one clip. The frames may arrive in pieces.
template <class T, class Out>
class SegmentScores {
public:
    explicit SegmentScores(const Segmentation& segmentation)
        : length_(segmentation.length), mean_(segmentation.mean) {}

    // `edges`: the boundaries of all frames of the clip. `out`: segments x classes.
    void begin(const Time* edges, Time duration, std::size_t segments, std::size_t classes,
               Out* out) {
        edges_ = edges;
        duration_ = duration;
        segments_ = segments;
        classes_ = classes;
        out_ = out;
        frame_ = segment_ = 0;
        open();
    }

    // The next frames.
    void feed(const ClipView<T>& piece, const std::vector<int64_t>& columns) {
        const std::size_t end = frame_ + piece.frames;
        std::size_t first = frame_;  // the first frame that may overlap
        while (segment_ < segments_) {
            const Time from = static_cast<Time>(segment_) * length_;
            const Time until = std::min(from + length_, duration_);
            while (first < end && edges_[first + 1] <= from) ++first;
            std::size_t frame = first;
            for (; frame < end && edges_[frame] < until; ++frame) {
                const Time shared =
                    std::min(until, edges_[frame + 1]) - std::max(from, edges_[frame]);
                if (shared > 0)  // otherwise the frame has no length
                    add(piece.values +
                            static_cast<std::ptrdiff_t>(frame - frame_) * piece.frame_stride,
                        piece.class_stride, columns, shared);
            }
            if (edges_[end] < until) break;  // more frames may follow
            close();
        }
        frame_ = end;
    }

    // No frames follow.
    void finish() {
        while (segment_ < segments_) close();
    }

private:
    void open() {
        if (mean_)
            means_.begin(classes_);
        else if (segment_ < segments_)
            std::fill_n(scores(), classes_, lowest);
    }

    void add(const T* row, std::ptrdiff_t stride, const std::vector<int64_t>& columns,
             Time shared) {
        auto score = [&](std::size_t c) { return row[columns[c] * stride]; };
        if (mean_) {
            means_.add(score, shared);
            return;
        }
        Out* const largest = scores();
        for (std::size_t c = 0; c < classes_; ++c)
            if (score(c) > largest[c]) largest[c] = score(c);
    }

    void close() {
        for (std::size_t c = 0; mean_ && c < classes_; ++c) {
            const auto mean = static_cast<Out>(means_.weight() > 0 ? means_.mean(c) : lowest);
            scores()[c] = mean == mean ? mean : lowest;  // inf - inf is not a number
        }
        ++segment_;
        open();
    }

    Out* scores() { return out_ + segment_ * classes_; }

    static constexpr Out lowest = -std::numeric_limits<Out>::infinity();

    const Time length_;
    const bool mean_;
    const Time* edges_ = nullptr;
    Time duration_ = 0;
    std::size_t segments_ = 0, classes_ = 0;
    Out* out_ = nullptr;
    std::size_t frame_ = 0;    // frames so far
    std::size_t segment_ = 0;  // the first that is not complete
    ExactMeans means_;         // of that segment so far; the weights are times
};

// Clip i has the segments [starts[i], starts[i + 1]); `out`: segments x classes.
template <class T, class Out>
void segment_scores(const std::vector<ClipView<T>>& clips, const std::vector<int64_t>& columns,
                    const int64_t* starts, const Time* durations, const Segmentation& segmentation,
                    std::size_t threads, Out* out) {
    const std::size_t classes = columns.size();
    parallel_for(clips.size(), threads, [&] {
        return [&, kernel = SegmentScores<T, Out>(segmentation)](std::size_t i) mutable {
            kernel.begin(clips[i].edges, durations[i],
                         static_cast<std::size_t>(starts[i + 1] - starts[i]), classes,
                         out + static_cast<std::size_t>(starts[i]) * classes);
            kernel.feed(clips[i], columns);
            kernel.finish();
        };
    });
}

// The same for events as they come, which may overlap: the score of a segment is the highest of the
// events that share time with it.
template <class T>
void segment_scores(const DetectionTable<T>& detected, std::size_t clips, std::size_t classes,
                    const int64_t* starts, const Time* durations, Time length, std::size_t threads,
                    T* out) {
    std::fill_n(out, static_cast<std::size_t>(starts[clips]) * classes,
                -std::numeric_limits<T>::infinity());
    parallel_for(clips, threads, [&] {
        return [&, envelope = Envelope<T>()](std::size_t i) mutable {
            T* const scores = out + static_cast<std::size_t>(starts[i]) * classes;
            detected.each_class(i, [&](int32_t label, int64_t first, int64_t end) {
                auto score_segments = [&](Time from, Time until, T score) {
                    const Time onset = std::max<Time>(from, 0);
                    const Time offset = std::min(until, durations[i]);
                    for (Time segment = onset / length; segment * length < offset; ++segment) {
                        T& highest = scores[static_cast<std::size_t>(segment) * classes +
                                            static_cast<std::size_t>(label)];
                        highest = std::max(highest, score);
                    }
                };
                envelope.begin();
                for (int64_t k = first; k < end; ++k)
                    envelope.add(detected.events[k], detected.scores[k], score_segments);
                envelope.finish(score_segments);
            });
        };
    });
}

// The scores of one clip whose frames arrive in pieces.
template <class T, class Out>
class OpenSegments {
public:
    OpenSegments(const std::vector<int64_t>& columns, const Time* edges, Time duration,
                 std::size_t segments, const Segmentation& segmentation)
        : columns_(columns), kernel_(segmentation), out_(segments * columns.size()) {
        kernel_.begin(edges, duration, segments, columns.size(), out_.data());
    }
    OpenSegments(const OpenSegments&) = delete;

    void feed(const ClipView<T>& piece) { kernel_.feed(piece, columns_); }

    Buffer<Out> finish() {
        kernel_.finish();
        return std::move(out_);
    }

private:
    const std::vector<int64_t> columns_;
    SegmentScores<T, Out> kernel_;
    Buffer<Out> out_;  // segments x classes
};

}  // namespace sedscope
