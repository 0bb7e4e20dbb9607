// Weights of a few resamples side by side, so that a row of deltas is read once for all of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>
#include <vector>

namespace sedscope {

// (clips x lanes) weights: the lanes of a clip are consecutive. Lanes without a resample weigh 0.
template <class Real, std::size_t lanes>
class LaneWeights {
public:
    // `weights`: (resamples x clips). Takes resamples [first, last), at most `lanes`.
    void assign(const int32_t* weights, std::size_t clips, std::size_t first, std::size_t last) {
        lanes_.assign(clips * lanes, Real{0});
        for (std::size_t i = first; i < last; ++i)
            for (std::size_t clip = 0; clip < clips; ++clip)
                lanes_[clip * lanes + (i - first)] = static_cast<Real>(weights[i * clips + clip]);
    }

    const Real* of_clip(int32_t clip) const {
        return lanes_.data() + static_cast<std::size_t>(clip) * lanes;
    }

private:
    std::vector<Real> lanes_;
};

// Whether any lane has a cost below `to_beat` that was not looked at yet; sometimes also if none
// has. Works on the bits of differences, because compilers do not vectorise comparisons of
// floating-point numbers.
template <class Real, std::size_t lanes>
bool any_to_look_at(const Real* cost, const Real* to_beat, const Real* looked_at) {
    using Bits = std::conditional_t<sizeof(Real) == 8, int64_t, int32_t>;
    constexpr Bits all_but_sign = std::numeric_limits<Bits>::max();
    auto bits_of = [](Real number) {
        Bits bits;
        std::memcpy(&bits, &number, sizeof bits);
        return bits;
    };
    Bits any = 0;  // negative if there is one
    for (std::size_t k = 0; k < lanes; ++k) {
        const Bits below = bits_of(cost[k] - to_beat[k]);
        const Bits differs = -(bits_of(cost[k] - looked_at[k]) & all_but_sign);
        any |= below & differs;
    }
    return any < 0;
}

}  // namespace sedscope
