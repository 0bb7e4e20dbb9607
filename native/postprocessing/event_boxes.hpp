// Event boxes by change points (Ebbers et al., "Sound Event Bounding Boxes", Interspeech 2024).
//
// The step at a boundary of frames is the mean score in the half-window after it less the mean in
// the one before it; half-windows are cut where the clip ends, and at its ends there is no step. A
// local maximum of the step is an onset, the local minimum that follows is the offset; of equal
// steps in a row the last one is the onset, the first one the offset, which makes the box narrow. A
// clip that begins with an offset begins in a box, one that ends with an onset ends in a box, and
// one without steps is a box. The gap between two boxes is closed if no score in either of them
// exceeds its lowest score by too much. A box has the mean of its scores as its score.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <optional>
#include <vector>

#include "piecewise.hpp"
#include "../clips/references.hpp"
#include "sliding_mean.hpp"

namespace sedscope {

// Gaps are closed where the highest score exceeds the lowest one by less than `absolute` and by a
// factor of less than `relative`, as far as these are given; without any, none is closed.
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

    // Finite scores. All frames have a length.
    void run(const T* scores, const Time* edges, std::size_t frames, Piecewise<double>& out) {
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

    void find_steps(const Time* edges, std::size_t frames) {
        steps_.assign(frames + 1, 0);
        typename SlidingMean<T>::Moment from, here, until;
        for (std::size_t i = 1; i < frames; ++i) {
            const Time time = 2 * edges[i];
            from.move_to(std::max(time - window_, 2 * edges[0]), sliding_);
            here.move_to(time, sliding_);
            until.move_to(std::min(time + window_, 2 * edges[frames]), sliding_);
            steps_[i] = sliding_.mean(here, until) - sliding_.mean(from, here);
        }
    }

    // The step rises or falls from one boundary to the next; where that turns, it has an extremum.
    void find_boxes(std::size_t frames) {
        boxes_.clear();
        std::size_t onset = 0;
        bool inside = true;  // until the first extremum says otherwise
        bool rising = false, any = false;
        std::size_t turn = 0;  // where the step took on its present value
        for (std::size_t i = 1; i <= frames; ++i) {
            if (steps_[i] == steps_[i - 1]) continue;
            const bool rises = steps_[i] > steps_[i - 1];
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
        Sum sum;
        for (std::size_t i = box.first; i < box.end; ++i)
            sum.add_product(static_cast<double>(scores[i]),
                            static_cast<double>(edges[i + 1] - edges[i]));
        return sum.divided_by(static_cast<double>(edges[box.end] - edges[box.first]));
    }

    const Time window_;
    const GapLimits limits_;
    SlidingMean<T> sliding_;
    std::vector<double> steps_;
    std::vector<Box> boxes_;
};

}  // namespace sedscope
