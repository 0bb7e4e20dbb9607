// Closes short gaps between detections, at every threshold, while frames arrive in pieces.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "core/time.hpp"
#include "postprocessing/maximum_gap.hpp"

namespace sedscope {

// Whether a gap is closed at a frame depends only on frames up to the longest gap away. So frames
// wait until those have arrived.
template <class T>
class ClosedGaps {
public:
    explicit ClosedGaps(Time longest) : longest_(longest), filter_(longest) {}

    // `edges`: the boundaries of all frames. Scores at or below `floor` are never detected.
    void begin(const Time* edges, T floor) {
        edges_ = edges;
        floor_ = floor;
        waiting_.clear();
        first_ = next_ = 0;
    }

    // Takes the next frames. Calls `use(scores, frames)` with the new scores of those that are
    // certain by then.
    template <class Use>
    void feed(const T* scores, std::size_t frames, Use&& use) {
        for (std::size_t i = 0; i < frames; ++i) waiting_.push_back(std::max(scores[i], floor_));
        const std::size_t end = first_ + waiting_.size();
        const Time* const certain =
            std::lower_bound(edges_ + next_, edges_ + end, edges_[end] - longest_);
        // Wait until half of the frames are certain: this bounds both the memory and the repeated
        // work.
        if (2 * static_cast<std::size_t>(certain - edges_ - next_) < waiting_.size()) return;
        emit(static_cast<std::size_t>(certain - edges_), use);
        const Time* const needed =
            std::lower_bound(edges_ + first_, edges_ + next_, edges_[next_] - longest_);
        if (needed == edges_ + first_) return;
        const auto first = static_cast<std::size_t>(needed - edges_) - 1;
        waiting_.erase(waiting_.begin(),
                       waiting_.begin() + static_cast<std::ptrdiff_t>(first - first_));
        first_ = first;
    }

    // No frames follow.
    template <class Use>
    void finish(Use&& use) {
        emit(first_ + waiting_.size(), use);
    }

private:
    // A gap at the first or last of the frames that wait is not closed: it is either longer than
    // `longest_` around each of the frames [next_, end), or at the beginning or end of the clip.
    template <class Use>
    void emit(std::size_t end, Use&& use) {
        if (end == next_) return;
        closed_.resize(waiting_.size());
        filter_.run(waiting_.data(), edges_ + first_, waiting_.size(), closed_.data());
        use(static_cast<const T*>(closed_.data() + (next_ - first_)), end - next_);
        next_ = end;
    }

    const Time longest_;
    MaximumGap<T> filter_;
    const Time* edges_ = nullptr;
    T floor_{};
    std::vector<T> waiting_, closed_;  // frames from first_ on
    std::size_t first_ = 0;
    std::size_t next_ = 0;  // the first frame that is not certain yet
};

}  // namespace sedscope
