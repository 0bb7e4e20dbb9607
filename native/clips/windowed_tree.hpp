// The detections of one clip and class that reach into windows of time, at all thresholds.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "clips/component_tree.hpp"
#include "clips/outline.hpp"
#include "core/time.hpp"

namespace sedscope {

// A component tree that leaves out most detections between the windows: there it takes only the
// outline of the scores, which is all that those in a window depend on.
template <class T>
class WindowedTree {
public:
    // Begins a clip with these frame boundaries. Windows are added next, then `open` is called.
    void begin(const Time* edges, std::size_t boundaries) {
        edges_ = edges;
        boundaries_ = boundaries;
        windows_.clear();
    }

    // Adds a window from `from` up to `until`, in any order.
    void add(Time from, Time until) {
        const Time* const end = edges_ + boundaries_;
        const auto first = std::upper_bound(edges_, end, from) - edges_;  // begins after `from`
        const auto last = std::lower_bound(edges_, end, until) - edges_;
        if (last > 0)
            windows_.push_back({static_cast<std::size_t>(std::max<std::ptrdiff_t>(first - 1, 0)),
                                static_cast<std::size_t>(last)});
    }

    // Scores at or below `floor` are never detected.
    void open(T floor, std::size_t quantities) {
        std::sort(windows_.begin(), windows_.end(),
                  [](const Window& a, const Window& b) { return a.first < b.first; });
        window_ = 0;
        frame_ = 0;
        tree_.begin(floor, quantities);
        outline_.begin(floor);
    }

    // Takes the next frames; `measure` and `emit` are those of ComponentTree.
    template <class Measure, class Emit>
    void feed(const T* scores, std::size_t frames, Measure&& measure, Emit&& emit) {
        auto take = [&](T score, std::size_t frame) { tree_.take(score, frame, measure, emit); };
        while (frames > 0) {
            while (window_ < windows_.size() && windows_[window_].end <= frame_) ++window_;
            bool inside = false;
            std::size_t part = frames;
            if (window_ < windows_.size()) {
                const Window& window = windows_[window_];
                inside = window.first <= frame_;
                part = std::min(frames, (inside ? window.end : window.first) - frame_);
            }
            if (inside) {
                outline_.finish(take);
                for (std::size_t i = 0; i < part; ++i) take(scores[i], frame_ + i);
            } else {
                outline_.feed(scores, part, frame_, take);
            }
            frame_ += part;
            scores += part;
            frames -= part;
        }
    }

    // No frames follow.
    template <class Measure, class Emit>
    void finish(Measure&& measure, Emit&& emit) {
        outline_.finish(
            [&](T score, std::size_t frame) { tree_.take(score, frame, measure, emit); });
        tree_.finish(measure, emit);
    }

private:
    struct Window {
        std::size_t first, end;  // frames
    };

    const Time* edges_ = nullptr;
    std::size_t boundaries_ = 0;
    std::vector<Window> windows_;
    std::size_t window_ = 0;  // the number of the present one, or of the next
    std::size_t frame_ = 0;   // frames so far
    Outline<T> outline_;
    ComponentTree<T> tree_;
};

}  // namespace sedscope
