// The median filter (median_filter.hpp) for frames of equal length and a window of whole frames.
//
// The median then changes at frame boundaries only. For an odd number of frames it is the middle
// score of the window around each frame. For an even number n, a window around a time inside a
// frame covers the n - 1 frames around it, and parts of the next frame on either side that together
// are as long as a frame. So a time is active if more than n / 2 of these frames are, where the two
// parts count as one frame with the higher of their scores.
#pragma once

#include <algorithm>
#include <cstddef>

#include "core/time.hpp"
#include "postprocessing/frame_ranks.hpp"
#include "postprocessing/rank_set.hpp"

namespace sedscope {

// The number of frames in a window; 0 if frames differ in length, if the window is no whole number
// of them, or if they are too many to be ranked.
inline std::size_t frames_in_window(const Time* edges, std::size_t frames, Time window) {
    const Time length = edges[1] - edges[0];
    if (frames > most_ranked_frames || length <= 0 || window % length != 0) return 0;
    for (std::size_t i = 1; i < frames; ++i)
        if (edges[i + 1] - edges[i] != length) return 0;
    return static_cast<std::size_t>(window / length);
}

// Works on ranks. As the window moves by a frame, the median stays or moves to a neighbouring rank
// in the window.
class FrameMedian {
public:
    // `window`: a number of frames, at least 1.
    explicit FrameMedian(std::size_t window) : half_((window - 1) / 2), even_(window % 2 == 0) {}

    // Filters the scores of one class.
    template <class T>
    void run(const FrameRanks<T>& column, std::size_t frames, T* out) {
        if (half_ >= frames) {  // more than half of every window lies outside the clip
            std::fill_n(out, frames, column.scores[frames]);
            return;
        }
        if (even_)
            run(column, frames, out, [&](std::size_t frame, std::size_t median) {
                return with_parts(column.ranks, frames, frame, median);
            });
        else
            run(column, frames, out, [](std::size_t, std::size_t median) { return median; });
    }

private:
    // `rank_at(frame, median)` returns the rank of the result.
    template <class T, class RankAt>
    void run(const FrameRanks<T>& column, std::size_t frames, T* out, RankAt&& rank_at) {
        const auto* const ranks = column.ranks;
        const std::size_t none = frames, half = half_;
        SmallRankSet& members = members_;
        members.clear();
        members.insert(none);
        for (std::size_t i = 0; i < half; ++i) members.insert(ranks[i]);
        std::size_t median = none, above = half;  // members with a higher score than the median
        std::size_t frame = 0;
        auto move_until = [&](std::size_t end, auto&& leave, auto&& enter) {
            for (; frame < end; ++frame) {
                const std::size_t left = leave(frame), entered = enter(frame);
                if (left != none) {
                    members.erase(left);
                    above -= left < median;
                }
                if (entered != none) {
                    members.insert(entered);
                    above += entered < median;
                }
                if (above > half) {
                    median = members.below(median);
                    above = half;
                } else if (median != none && (above < half || left == median)) {
                    median = members.above(median);
                    above = half;
                }
                out[frame] = column.scores[rank_at(frame, median)];
            }
        };
        const auto nothing = [&](std::size_t) { return none; };
        const auto first = [&](std::size_t i) { return std::size_t{ranks[i - half - 1]}; };
        const auto last = [&](std::size_t i) { return std::size_t{ranks[i + half]}; };
        const std::size_t begun = half + 1, ended = frames - half;
        move_until(std::min(begun, ended), nothing, last);
        if (begun < ended)
            move_until(ended, first, last);
        else
            move_until(begun, nothing, nothing);
        move_until(frames, first, nothing);
    }

    // The rank of the result for an even number of frames, given the median of all but the parts.
    std::size_t with_parts(const FrameRank* ranks, std::size_t frames, std::size_t frame,
                           std::size_t median) const {
        std::size_t parts = frames;
        if (frame > half_) parts = ranks[frame - half_ - 1];
        if (frame + half_ + 1 < frames)
            parts = std::min<std::size_t>(parts, ranks[frame + half_ + 1]);
        return parts <= median ? median : std::min(parts, members_.above(median));
    }

    const std::size_t half_;  // frames on either side
    const bool even_;
    SmallRankSet members_;  // ranks in the window, and that of -inf
};

}  // namespace sedscope
