// The mean score in a window around the middle of each frame.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "core/time.hpp"
#include "postprocessing/sliding_mean.hpp"

namespace sedscope {

// The window is cut where the clip ends. The mean is -inf if any score in the window is -inf;
// otherwise it is inf if any score is inf.
template <class T>
class MovingAverage {
public:
    explicit MovingAverage(Time window) : window_(window) {}

    void run(const T* scores, const Time* edges, std::size_t frames, double* out) {
        average(scores, edges, frames, out);
        constexpr double inf = std::numeric_limits<double>::infinity();
        const bool finite =
            std::all_of(scores, scores + frames, [](T score) { return std::isfinite(score); });
        if (finite) return;
        for (const double value : {inf, -inf}) {
            marks_.resize(frames);
            std::transform(scores, scores + frames, marks_.begin(),
                           [&](T score) { return static_cast<T>(score == value); });
            shares_.resize(frames);
            average(marks_.data(), edges, frames, shares_.data());
            for (std::size_t frame = 0; frame < frames; ++frame)
                if (shares_[frame] > 0) out[frame] = value;
        }
    }

private:
    void average(const T* scores, const Time* edges, std::size_t frames, double* out) {
        finite_.assign(scores, scores + frames);
        for (T& score : finite_)
            if (!std::isfinite(score)) score = 0;
        sliding_.assign(finite_.data(), edges, frames, 2 * window_);
        typename SlidingMean<T>::Moment from, until;
        for (std::size_t frame = 0; frame < frames; ++frame) {
            const Time middle = edges[frame] + edges[frame + 1];
            from.move_to(std::max(middle - window_, 2 * edges[0]), sliding_);
            until.move_to(std::min(middle + window_, 2 * edges[frames]), sliding_);
            out[frame] = sliding_.mean(from, until);
        }
    }

    const Time window_;
    SlidingMean<T> sliding_;
    std::vector<T> finite_, marks_;
    std::vector<double> shares_;
};

}  // namespace sedscope
