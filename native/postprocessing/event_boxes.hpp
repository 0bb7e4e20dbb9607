// Event boxes by change points (Ebbers et al., "Sound Event Bounding Boxes", Interspeech 2024).
//
// The step at a frame boundary is the mean score in the half-window after it minus the mean in the
// half-window before it. Half-windows are cut where the clip ends, and the step at its ends is 0. A
// local maximum of the step is an onset; the local minimum that follows is the offset. Among equal
// steps in a row the last is the onset and the first the offset, so that the box is narrow. A clip
// that begins with an offset begins inside a box. One that ends with an onset ends inside a box.
// One without steps is one box. Steps are compared exactly. The gap between two boxes is closed if
// no score in either box exceeds the lowest score of the gap by too much. The score of a box is the
// mean of its scores.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <vector>

#include "core/exact_means.hpp"
#include "core/exact_sum.hpp"
#include "core/time.hpp"
#include "postprocessing/sliding_mean.hpp"
#include "postprocessing/step_function.hpp"

namespace sedscope {

// A gap is closed if the highest score exceeds the lowest by less than `absolute` and by a factor
// of less than `relative`. A limit that is not set does not count; without any, no gap is closed.
struct GapLimits {
    std::optional<double> absolute, relative;

    bool allow(double highest, double lowest) const {
        return (absolute || relative) && (!absolute || highest - lowest < *absolute) &&
               (!relative || highest < *relative * lowest);
    }
};

template <class T>
class EventBoxes {
public:
    EventBoxes(Time window, const GapLimits& limits) : window_(window), limits_(limits) {}

    // Scores are finite, and no frame has a length of 0.
    void run(const T* scores, const Time* edges, std::size_t frames, StepFunction<double>& out) {
        sliding_.assign(scores, edges, frames, window_);
        find_steps(edges, frames);
        find_boxes(frames);
        close_gaps(scores);
        out.clear();
        Time end = edges[0];
        for (const Box& box : boxes_) {
            if (edges[box.first] > end) out.push(end, lowest);
            out.push(edges[box.first], mean(box, scores, edges));
            end = edges[box.end];
        }
        if (end < edges[frames]) out.push(end, lowest);
    }

private:
    static constexpr double lowest = -std::numeric_limits<double>::infinity();

    struct Box {
        std::size_t first, end;  // frames [first, end)
    };

    // The change of the mean from one half-window to the next. Without times: none, at the ends of
    // the clip.
    struct Step {
        typename SlidingMean<T>::Moment from, here, until;
        double before = 0, after = 0;

        Time time_before() const { return is_none() ? 1 : here.time() - from.time(); }
        Time time_after() const { return is_none() ? 1 : until.time() - here.time(); }
        bool is_none() const { return from.time() == until.time(); }
    };

    void find_steps(const Time* edges, std::size_t frames) {
        trends_.assign(frames + 1, 0);
        Step last;  // at the beginning of the clip
        typename SlidingMean<T>::Moment from, here, until;
        for (std::size_t i = 1; i < frames; ++i) {
            const Time time = 2 * edges[i];
            from.move_to(std::max(time - window_, 2 * edges[0]), sliding_);
            here.move_to(time, sliding_);
            until.move_to(std::min(time + window_, 2 * edges[frames]), sliding_);
            const Step step{from, here, until, sliding_.mean(from, here),
                            sliding_.mean(here, until)};
            trends_[i] = compare(step, last);
            last = step;
        }
        trends_[frames] = compare(Step{}, last);
    }

    // Whether a step is higher than another (1), lower (-1) or equal (0).
    int compare(const Step& one, const Step& other) const {
        const double difference = (one.after - one.before) - (other.after - other.before);
        const double magnitude = std::abs(one.after) + std::abs(one.before) +
                                 std::abs(other.after) + std::abs(other.before);
        if (std::abs(difference) > magnitude * 0x1p-50) return difference > 0 ? 1 : -1;
        if (magnitude == 0) return 0;
        if (is_flat(one) && is_flat(other)) return 0;
        // multiplied by the lengths of all half-windows
        ExactSum left = exact(one), right = exact(other);
        for (const Time length : {one.time_before(), one.time_after()}) right.multiply(length);
        for (const Time length : {other.time_before(), other.time_after()}) left.multiply(length);
        left.subtract(right);
        return left.sign();
    }

    bool is_flat(const Step& step) const {
        return step.is_none() || sliding_.is_constant(step.from, step.until);
    }

    // A step, multiplied by the lengths of both half-windows.
    ExactSum exact(const Step& step) const {
        if (step.is_none()) return {};
        ExactSum after = sliding_.exact_sum(step.here, step.until);
        ExactSum before = sliding_.exact_sum(step.from, step.here);
        after.multiply(step.time_before());
        before.multiply(step.time_after());
        after.subtract(before);
        return after;
    }

    // A step that rises before a boundary and falls after it has an extremum there, and vice versa.
    void find_boxes(std::size_t frames) {
        boxes_.clear();
        std::size_t onset = 0;
        bool inside = true;  // a box, until the first extremum
        bool rising = false, any = false;
        std::size_t turn = 0;  // where the step took on its present value
        for (std::size_t i = 1; i <= frames; ++i) {
            if (trends_[i] == 0) continue;
            const bool rises = trends_[i] > 0;
            if (any && rising && !rises) {
                onset = i - 1;
                inside = true;
            } else if (any && !rising && rises) {
                boxes_.push_back({onset, turn});
                inside = false;
            } else if (!any && rises) {
                inside = false;
            }
            any = true;
            rising = rises;
            turn = i;
        }
        if (inside) boxes_.push_back({onset, frames});
    }

    void close_gaps(const T* scores) {
        std::size_t kept = 0;
        double left = 0;  // the highest score of the last candidate
        for (std::size_t i = 0; i < boxes_.size(); ++i) {
            const Box box = boxes_[i];
            const double right = *std::max_element(scores + box.first, scores + box.end);
            if (i > 0 &&
                limits_.allow(std::max(left, right),
                              *std::min_element(scores + boxes_[kept - 1].end, scores + box.first)))
                boxes_[kept - 1].end = box.end;
            else
                boxes_[kept++] = box;
            left = right;
        }
        boxes_.resize(kept);
    }

    static double mean(const Box& box, const T* scores, const Time* edges) {
        ExactMeans mean;
        mean.begin(1);
        for (std::size_t i = box.first; i < box.end; ++i)
            mean.add([&](std::size_t) { return scores[i]; }, edges[i + 1] - edges[i]);
        return mean.mean(0);
    }

    const Time window_;
    const GapLimits limits_;
    SlidingMean<T> sliding_;
    std::vector<int> trends_;  // whether the step at each boundary is higher than the one before it
    std::vector<Box> boxes_;
};

}  // namespace sedscope
