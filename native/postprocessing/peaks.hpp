// Peaks: the local maxima of the scores, as points in time that keep a distance from each other.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include "core/time.hpp"

namespace sedscope {

// A run of frames with the same score, above its neighbours, is a peak in the middle of its time.
// Scores outside the clip are lower than all others. Of two peaks that are less than `distance`
// apart, the higher one stays, or the earlier one if they are equally high: the highest peak stays,
// those near it go, then the highest of the rest stays, and so on.
template <class T>
class Peaks {
public:
    explicit Peaks(Time distance) : distance_(distance) {}

    // Calls `emit(time, score)` for each peak, in order of time.
    template <class Emit>
    void run(const T* scores, const Time* edges, std::size_t frames, Emit&& emit) {
        find(scores, edges, frames);
        gone_.assign(times_.size(), 0);
        if (distance_ > 0) thin_out();
        for (std::size_t k = 0; k < times_.size(); ++k)
            if (!gone_[k]) emit(times_[k], scores_[k]);
    }

private:
    void find(const T* scores, const Time* edges, std::size_t frames) {
        times_.clear();
        scores_.clear();
        T before = lowest;
        for (std::size_t first = 0, end; first < frames; first = end) {
            const T score = scores[first];
            for (end = first + 1; end < frames && scores[end] == score; ++end) {
            }
            const T after = end < frames ? scores[end] : lowest;
            if (score > before && score > after) {
                times_.push_back(edges[first] + (edges[end] - edges[first]) / 2);
                scores_.push_back(score);
            }
            before = score;
        }
    }

    void thin_out() {
        order_.resize(times_.size());
        std::iota(order_.begin(), order_.end(), std::size_t{0});
        std::sort(order_.begin(), order_.end(), [&](std::size_t a, std::size_t b) {
            return scores_[a] != scores_[b] ? scores_[a] > scores_[b] : a < b;
        });
        // Peaks that stay are at least distance_ apart, so these loops visit each peak at most
        // twice.
        for (const std::size_t k : order_) {
            if (gone_[k]) continue;
            for (std::size_t j = k; j-- > 0 && times_[k] - times_[j] < distance_;) gone_[j] = 1;
            for (std::size_t j = k + 1; j < times_.size() && times_[j] - times_[k] < distance_; ++j)
                gone_[j] = 1;
        }
    }

    static constexpr T lowest = -std::numeric_limits<T>::infinity();

    const Time distance_;
    std::vector<Time> times_;
    std::vector<T> scores_;
    std::vector<std::size_t> order_;
    std::vector<uint8_t> gone_;
};

}  // namespace sedscope
