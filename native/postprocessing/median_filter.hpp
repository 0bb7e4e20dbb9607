// The median of a score over a window in continuous time.
//
// The score at a time t becomes the largest s such that `score >= s` holds for more than half of
// the window of length W around t; outside the clip the score is -inf. As the window [a, a + W)
// moves, it loses time of the frame at its left end and gains time of the frame at its right end.
// Let A(s) be the time in the window with `score >= s`. Until an end passes the next frame
// boundary, from the window's position a on,
//   - A(s) rises with time for s above the left frame's score and not above the right one's: the
//     median becomes s at t = a + W/2 + (W/2 - A(s)) = a + W - A(s);
//   - A(s) falls for s above the right frame's score and not above the left one's: the median is no
//     longer s from t = a + W/2 + (A(s) - W/2) = a + A(s) on.
// So all changes lie at whole microseconds, even if half a window is not a whole number of them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "core/radix_sort.hpp"
#include "core/time.hpp"
#include "postprocessing/rank_set.hpp"
#include "postprocessing/step_function.hpp"

namespace sedscope {

// Sorts scores in blocks of about two windows, so that it can work on ranks. Keeps the rank of the
// median and the time in the window at or above it, and moves on to a neighbouring rank in the
// window when necessary.
template <class T>
class MedianFilter {
public:
    explicit MedianFilter(Time window) : window_(window) {}

    // Filters the scores of one class: at least one frame, no NaN.
    void run(const T* scores, const Time* edges, std::size_t frames, StepFunction<T>& out) {
        scores_ = scores;
        edges_ = edges;
        frames_ = frames;
        out_ = &out;
        begin();
        while (2 * position_ + window_ < 2 * edges_[frames_]) {
            Time length = edges_[left_] - position_;
            if (right_ < frames_)
                length = std::min(length, edges_[right_ + 1] - position_ - window_);
            move(left_ > 0 ? rank(left_ - 1) : 0, right_ < frames_ ? rank(right_) : 0, length);
            while (left_ <= frames_ && edges_[left_] == position_) {
                if (left_ > 0) leave(left_ - 1);
                ++left_;
            }
            while (right_ < frames_ && edges_[right_ + 1] == position_ + window_)
                if (++right_ < frames_) enter(right_);
        }
    }

private:
    static constexpr std::size_t least_block = 512;  // frames

    // Starts with a window that ends where the clip begins.
    void begin() {
        out_->clear();
        out_->push(edges_[0], lowest);
        position_ = edges_[0] - window_;
        left_ = right_ = 0;
        at_or_above_ = window_;
        levels_.assign(1, lowest);
        median_ = 0;
        sort_block(0);
        enter(0);
    }

    // Finds the ranks of the frames in the window, which precede `frame`, and of as many frames
    // that follow. Rank 0 is -inf, the score outside the clip.
    void sort_block(std::size_t frame) {
        const T median = levels_[median_];
        const std::size_t first = left_ > 0 ? left_ - 1 : 0;
        const std::size_t end = std::min(frames_, frame + std::max(frame - first, least_block));
        const auto& sorted = sort_.order(scores_ + first, end - first,
                                         [](std::size_t i) { return static_cast<uint32_t>(i); });
        levels_.assign(1, lowest);
        ranks_.resize(end - first);
        for (std::size_t i = sorted.size(); i-- > 0;) {  // from the lowest score to the highest
            const T score = score_of_key<T>(sorted[i].key);
            if (score > levels_.back()) levels_.push_back(score);
            ranks_[sorted[i].payload] = static_cast<uint32_t>(levels_.size() - 1);
        }
        block_first_ = first;
        block_end_ = end;
        median_ = static_cast<std::size_t>(
            std::lower_bound(levels_.begin(), levels_.end(), median) - levels_.begin());
        weights_.assign(levels_.size(), 0);
        members_.assign(levels_.size(), 0);
        present_.reset(levels_.size());
        weights_[0] = window_;
        members_[0] = 1;  // never erased
        present_.insert(0);
        for (std::size_t i = first; i < frame; ++i) {
            const Time shared =
                std::min(edges_[i + 1], position_ + window_) - std::max(edges_[i], position_);
            weights_[0] -= shared;
            weights_[rank(i)] += shared;
            add(rank(i));
        }
    }

    // Moves the window by a time during which its left end stays in a frame of rank `from` and its
    // right end in a frame of rank `to`.
    void move(std::size_t from, std::size_t to, Time length) {
        if (from < to) {
            while (median_ < to) {
                const std::size_t next = present_.above(median_);
                const Time above = at_or_above_ - weights_[median_];
                if (next <= from || window_ - 2 * above >= 2 * length) break;
                median_ = next;
                at_or_above_ = above;
                change(position_ + window_ - above);
            }
        } else {
            while (to < median_ && median_ <= from && 2 * at_or_above_ - window_ < 2 * length)
                fall(position_ + at_or_above_);
        }
        position_ += length;
        weights_[from] -= length;
        weights_[to] += length;
        at_or_above_ += length * (static_cast<Time>(to >= median_) - (from >= median_));
        while (2 * at_or_above_ <= window_) fall(position_ + window_ / 2);  // half is too little
    }

    void fall(Time time) {
        median_ = present_.below(median_);
        at_or_above_ += weights_[median_];
        change(time);
    }

    void change(Time time) {
        if (time < edges_[frames_]) out_->change(std::max(time, edges_[0]), levels_[median_]);
    }

    void enter(std::size_t frame) {
        if (frame >= block_end_) sort_block(frame);
        add(rank(frame));
    }

    void leave(std::size_t frame) {
        if (--members_[rank(frame)] == 0) present_.erase(rank(frame));
    }

    void add(std::size_t rank) {
        if (members_[rank]++ == 0) present_.insert(rank);
    }

    std::size_t rank(std::size_t frame) const { return ranks_[frame - block_first_]; }

    static constexpr T lowest = -std::numeric_limits<T>::infinity();

    const Time window_;
    const T* scores_ = nullptr;
    const Time* edges_ = nullptr;
    std::size_t frames_ = 0;
    StepFunction<T>* out_ = nullptr;

    Time position_ = 0;       // of the window's left end
    std::size_t left_ = 0;    // the boundary that the left end passes next
    std::size_t right_ = 0;   // the frame in which the right end lies
    std::size_t median_ = 0;  // as a rank
    Time at_or_above_ = 0;    // the time in the window of that rank or a higher one
    std::size_t block_first_ = 0, block_end_ = 0;  // frames whose ranks are known
    RadixSort<T, uint32_t> sort_;
    std::vector<uint32_t> ranks_;    // of the frames of the block
    std::vector<T> levels_;          // the score of each rank
    std::vector<Time> weights_;      // per rank, the time in the window
    std::vector<uint32_t> members_;  // per rank, the frames in the window
    RankSet present_;                // ranks in the window
};

}  // namespace sedscope
