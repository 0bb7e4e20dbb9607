// The mean score in a window of one length that moves along a clip.
//
// Sums have twice the digits of a double and never subtract. Where that leaves a doubt about the
// last digit of a mean, it is computed exactly. So the mean is exact except for its last rounding,
// and equal scores have an equal mean whatever precedes them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "core/double_double.hpp"
#include "core/exact_sum.hpp"
#include "core/time.hpp"

namespace sedscope {

// The clip is cut into blocks as long as the window. A window reaches from one block into the next.
// Its sum is the sum from its beginning to the end of the first block, plus the sum from the
// beginning of the second block to its own end. Times are half microseconds here, because the
// middle of a frame may not be a whole microsecond.
template <class T>
class SlidingMean {
public:
    // Scores are finite. Windows have the given length, or less where an end of the clip cuts them.
    void assign(const T* scores, const Time* edges, std::size_t frames, Time length) {
        scores_ = scores;
        edges_ = edges;
        frames_ = frames;
        length_ = length;
        from_block_.resize(frames + 1);
        until_block_.resize(frames + 1);
        from_block_[0] = until_block_[frames] = {};
        Time next = edge(0) + length;  // block
        for (std::size_t i = 0; i < frames; ++i) {
            if (edge(i + 1) < next) {
                from_block_[i + 1] = with(from_block_[i], i, edge(i + 1) - edge(i));
            } else {
                const Time begin = block_begin(edge(i + 1));
                from_block_[i + 1] = with({}, i, edge(i + 1) - begin);
                next = begin + length;
            }
        }
        Time begin = block_begin(edge(frames) - 1);
        for (std::size_t i = frames; i-- > 0;) {
            if (edge(i) > begin) {
                until_block_[i] = with(until_block_[i + 1], i, edge(i + 1) - edge(i));
            } else {
                begin = block_begin(edge(i) - 1);
                until_block_[i] = with({}, i, begin + length - edge(i));
            }
        }
    }

    // A time in the clip that only moves forward, with the frame and the block in which it lies.
    class Moment {
    public:
        void move_to(Time time, const SlidingMean& mean) {
            time_ = time;
            while (frame_ + 1 < mean.frames_ && mean.edge(frame_ + 1) <= time) ++frame_;
            block_ = mean.block_begin(time);
        }
        Time time() const { return time_; }

    private:
        friend class SlidingMean;
        Time time_ = 0, block_ = 0;
        std::size_t frame_ = 0;
    };

    // The mean of a window between two different times.
    double mean(const Moment& from, const Moment& until) const {
        if (from.frame_ == until.frame_) return static_cast<double>(scores_[from.frame_]);
        DoubleDouble sum;
        // a window that is cut by the end of the clip may lie in one block
        const bool one_block = from.block_ == until.block_;
        if (!one_block || from.time_ > from.block_) sum.add(rest_of_block(from));
        if (!one_block || from.time_ == from.block_) sum.add(block_before(until));
        const Time time = until.time_ - from.time_;
        const double mean =
            sum.divided_by(static_cast<double>(time), until.frame_ - from.frame_ + 4);
        return mean == mean ? mean : exact_sum(from, until).divided_by(time);
    }

    ExactSum exact_sum(const Moment& from, const Moment& until) const {
        ExactSum sum;
        for (std::size_t i = from.frame_; i < frames_ && edge(i) < until.time_; ++i) {
            const Time begin = std::max(from.time_, edge(i)),
                       end = std::min(until.time_, edge(i + 1));
            if (begin < end) sum.add(static_cast<double>(scores_[i]), end - begin);
        }
        return sum;
    }

    // Whether the scores of a window are all equal.
    bool is_constant(const Moment& from, const Moment& until) const {
        const T* const end = scores_ + std::min(until.frame_ + 1, frames_);
        return std::all_of(scores_ + from.frame_, end,
                           [&](T score) { return score == scores_[from.frame_]; });
    }

private:
    Time edge(std::size_t i) const { return 2 * edges_[i]; }

    // The beginning of the block of a time, which may lie shortly before the clip.
    Time block_begin(Time time) const {
        const Time since = time - edge(0);
        return time - (since < 0 ? since + length_ : since % length_);
    }

    DoubleDouble with(DoubleDouble sum, std::size_t frame, Time time) const {
        sum.add_product(static_cast<double>(scores_[frame]), static_cast<double>(time));
        return sum;
    }

    DoubleDouble block_before(const Moment& moment) const {
        const std::size_t frame = moment.frame_;
        if (edge(frame) < moment.block_) return with({}, frame, moment.time_ - moment.block_);
        return with(from_block_[frame], frame, moment.time_ - edge(frame));
    }

    DoubleDouble rest_of_block(const Moment& moment) const {
        const std::size_t frame = moment.frame_;
        const Time end = moment.block_ + length_;
        if (edge(frame + 1) > end) return with({}, frame, end - moment.time_);
        return with(until_block_[frame + 1], frame, edge(frame + 1) - moment.time_);
    }

    const T* scores_ = nullptr;
    const Time* edges_ = nullptr;
    std::size_t frames_ = 0;
    Time length_ = 0;
    std::vector<DoubleDouble> from_block_;   // from the beginning of its block to each boundary
    std::vector<DoubleDouble> until_block_;  // from each boundary to the end of the block before it
};

}  // namespace sedscope
