// Integrals of scores over time, summed with twice the digits of a double, so that a mean is the
// exact one, rounded, and equal scores have an equal mean wherever they are.
#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

#include "references.hpp"

namespace sedscope {

// The unevaluated sum of two doubles, the second far smaller than the first.
struct Sum {
    double high = 0, low = 0;

    void add(double value) { add(value, 0); }
    void add_product(double a, double b) {
        const double product = a * b;
        add(product, std::fma(a, b, -product));
    }
    void subtract(const Sum& other) { add(-other.high, -other.low); }

    double divided_by(double divisor) const {
        const double quotient = high / divisor;
        return quotient + (std::fma(-quotient, divisor, high) + low) / divisor;
    }

private:
    void add(double value, double rest) {
        const double total = high + value;
        const double part = total - high;
        const double error = (high - (total - part)) + (value - part) + (low + rest);
        high = total + error;
        low = error - (high - total);
    }
};

// Times are half microseconds here: the middle of a frame may not be a whole one.
template <class T>
class Integral {
public:
    // Finite scores.
    void assign(const T* scores, const Time* edges, std::size_t frames) {
        scores_ = scores;
        edges_ = edges;
        frames_ = frames;
        before_.resize(frames + 1);
        before_[0] = {};
        for (std::size_t frame = 0; frame < frames; ++frame) {
            before_[frame + 1] = before_[frame];
            before_[frame + 1].add_product(
                static_cast<double>(scores[frame]),
                static_cast<double>(2 * (edges[frame + 1] - edges[frame])));
        }
    }

    // A time that only moves forward, with the frame in which it lies.
    class Moment {
    public:
        void move_to(Time time, const Integral& integral) {
            time_ = time;
            while (frame_ + 1 < integral.frames_ && 2 * integral.edges_[frame_ + 1] <= time)
                ++frame_;
        }

    private:
        friend class Integral;
        Time time_ = 0;
        std::size_t frame_ = 0;
    };

    // The mean between two different times within the clip.
    double mean(const Moment& from, const Moment& until) const {
        if (from.frame_ == until.frame_) return static_cast<double>(scores_[from.frame_]);
        Sum sum = at(until);
        sum.subtract(at(from));
        return sum.divided_by(static_cast<double>(until.time_ - from.time_));
    }

    // The mean of some frames, which have a length together.
    double mean(std::size_t first, std::size_t end) const {
        Sum sum = before_[end];
        sum.subtract(before_[first]);
        return sum.divided_by(static_cast<double>(2 * (edges_[end] - edges_[first])));
    }

private:
    Sum at(const Moment& moment) const {
        Sum sum = before_[moment.frame_];
        sum.add_product(static_cast<double>(scores_[moment.frame_]),
                        static_cast<double>(moment.time_ - 2 * edges_[moment.frame_]));
        return sum;
    }

    const T* scores_ = nullptr;
    const Time* edges_ = nullptr;
    std::size_t frames_ = 0;
    std::vector<Sum> before_;  // each boundary
};

}  // namespace sedscope
