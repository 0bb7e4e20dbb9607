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
#include <type_traits>

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

    // Filters the scores of one class. Only the highest `levels` ranks count, as if all other
    // frames had the score that follows; it takes the place of every lower result. Returns the
    // highest rank of the result.
    template <class T>
    std::size_t run(const FrameRanks<T>& column, std::size_t frames, std::size_t levels, T* out) {
        if (half_ >= levels) {  // less than half of any window counts
            std::fill_n(out, frames, column.scores[levels]);
            return levels;
        }
        return run(column, frames, levels, 0, frames,
                   [&](std::size_t frame, std::size_t rank) { out[frame] = column.scores[rank]; });
    }

    // The result at the frame with the highest score.
    template <class T>
    T at_highest(const FrameRanks<T>& column, std::size_t frames) {
        if (half_ >= frames) return column.scores[frames];
        const auto frame = static_cast<std::size_t>(
            std::find(column.ranks, column.ranks + frames, FrameRank{0}) - column.ranks);
        return column
            .scores[run(column, frames, frames, frame, frame + 1, [](std::size_t, std::size_t) {})];
    }

private:
    // Calls `put(frame, rank)` with the rank of the result at each frame in [frame, end). Returns
    // the highest.
    template <class T, class Put>
    std::size_t run(const FrameRanks<T>& column, std::size_t frames, std::size_t levels,
                    std::size_t frame, std::size_t end, Put&& put) {
        const FrameRank* const ranks = column.ranks;
        if (even_)
            return slide(ranks, frames, levels, frame, end, put,
                         [&](std::size_t at, std::size_t median) {
                             return with_parts(ranks, frames, levels, at, median);
                         });
        return slide(ranks, frames, levels, frame, end, put,
                     [](std::size_t, std::size_t median) { return median; });
    }

    // `rank_at(frame, median)` returns the rank of the result.
    template <class Put, class RankAt>
    std::size_t slide(const FrameRank* ranks, std::size_t frames, std::size_t levels,
                      std::size_t frame, std::size_t end, Put&& put, RankAt&& rank_at) {
        const std::size_t none = levels, half = half_;
        const bool all_count = levels == frames;
        SmallRankSet& members = members_;
        members.clear();
        members.insert(none);
        std::size_t median = none, above = 0;  // members with a higher score than the median
        auto enter = [&](std::size_t rank) {
            if (!all_count && rank >= none) return;
            members.insert(rank);
            above += rank < median;
        };
        auto leave = [&](std::size_t rank) {
            if (!all_count && rank >= none) return;
            members.erase(rank);
            above -= rank < median;
        };
        std::size_t highest = none;
        auto move_until = [&](std::size_t stop, auto leaves, auto enters) {
            for (stop = std::min(stop, end); frame < stop; ++frame) {
                bool left = false;
                if constexpr (leaves) {
                    left = ranks[frame - half - 1] == median;
                    leave(ranks[frame - half - 1]);
                }
                if constexpr (enters) enter(ranks[frame + half]);
                if (above > half) {
                    for (; above > half; --above) median = members.below(median);
                } else if (median != none && (above < half || left)) {
                    median = members.above(median);
                    above = half;
                }
                const std::size_t rank = rank_at(frame, median);
                highest = std::min(highest, rank);
                put(frame, rank);
            }
        };
        constexpr std::true_type yes;
        constexpr std::false_type no;
        const std::size_t begun = half + 1, ended = frames - half;
        const std::size_t first = frame > begun ? frame - begun : 0;
        for (std::size_t i = first; i < std::min(frame + half, frames); ++i) enter(ranks[i]);
        move_until(std::min(begun, ended), no, yes);
        if (begun < ended)
            move_until(ended, yes, yes);
        else
            move_until(begun, no, no);
        move_until(frames, yes, no);
        return highest;
    }

    // The rank of the result for an even number of frames, given the median of all but the parts.
    std::size_t with_parts(const FrameRank* ranks, std::size_t frames, std::size_t levels,
                           std::size_t frame, std::size_t median) const {
        std::size_t parts = levels;  // their rank
        if (frame > half_) parts = std::min<std::size_t>(parts, ranks[frame - half_ - 1]);
        if (frame + half_ + 1 < frames)
            parts = std::min<std::size_t>(parts, ranks[frame + half_ + 1]);
        return parts <= median ? median : std::min(parts, members_.above(median));
    }

    const std::size_t half_;  // frames on either side
    const bool even_;
    SmallRankSet members_;  // ranks in the window, and that of -inf
};

}  // namespace sedscope
