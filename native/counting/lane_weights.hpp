// Weights of a few resamples side by side, so that a row of deltas is read once for all of them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include "core/bits.hpp"

namespace sedscope {

// (clips x lanes) weights: the lanes of a clip are consecutive. Lanes without a resample weigh 0.
template <class Real, std::size_t lanes>
class LaneWeights {
public:
    // `weights`: (resamples x clips). Takes resamples [first, last), at most `lanes`.
    void assign(const int32_t* weights, std::size_t clips, std::size_t first, std::size_t last) {
        lanes_.assign(clips * lanes, Real{0});
        for (std::size_t clip = 0; clip < clips; ++clip)
            for (std::size_t i = first; i < last; ++i)
                lanes_[clip * lanes + (i - first)] = static_cast<Real>(weights[i * clips + clip]);
    }

    const Real* of_clip(int32_t clip) const {
        return lanes_.data() + static_cast<std::size_t>(clip) * lanes;
    }
    // As if a clip were in every resample.
    const Real* of_any() const { return ones_.data(); }

private:
    std::vector<Real> lanes_, ones_ = std::vector<Real>(lanes, Real{1});
};

// The lanes whose operating point has a cost below the one to beat, before a row makes it worse.
//
// A point is looked at only when the next row would raise its cost, which saves looking at points
// that are better than the one before and worse than the next.
template <class Real, std::size_t lanes>
class LanesToLookAt {
public:
    LanesToLookAt() { std::fill_n(to_beat, lanes, -std::numeric_limits<Real>::infinity()); }

    // Calls `look(lane)`. `weights`: of the clip of the next row; a lane in which it weighs nothing
    // can wait.
    template <class Weight, class Look>
    void visit(const Real* cost, const Weight* weights, Look&& look) const {
        if (!any(cost, weights)) return;
        std::size_t found[lanes], count = 0;
        for (std::size_t k = 0; k < lanes; ++k) {  // without branches, which would be hard to guess
            found[count] = k;
            count += (cost[k] < to_beat[k]) & (weights[k] > 0);
        }
        for (std::size_t i = 0; i < count; ++i) look(found[i]);
    }

    Real to_beat[lanes];

private:
    // Whether there is any; sometimes also if there is none. Works on the signs of differences,
    // because compilers do not vectorise comparisons of floating-point numbers.
    template <class Weight>
    bool any(const Real* cost, const Weight* weights) const {
        using Bits = std::conditional_t<sizeof(Real) == 8, int64_t, int32_t>;
        Bits any = 0;  // negative if there is one
        for (std::size_t k = 0; k < lanes; ++k)
            any |= bit_cast<Bits>(cost[k] - to_beat[k]) &
                   bit_cast<Bits>(Real{0} - static_cast<Real>(weights[k]));
        return any < 0;
    }
};

}  // namespace sedscope
