// Removes detections that are too short, at every threshold.
#pragma once

#include <cstddef>
#include <vector>

#include "core/time.hpp"
#include "postprocessing/run_tree.hpp"

namespace sedscope {

// Keeps the runs that are at least `shortest` long.
template <class T>
class MinimumDuration {
public:
    explicit MinimumDuration(Time shortest) : shortest_(shortest) {}

    void run(const T* scores, const Time* edges, std::size_t frames, T* out) {
        tree_.build(scores, frames);
        write_run_values(tree_, values_, out, [&](std::size_t run, T inherited) {
            const auto& [score, first, end, parent] = tree_[run];
            return edges[end] - edges[first] >= shortest_ ? score : inherited;
        });
    }

private:
    const Time shortest_;
    RunTree<T> tree_;
    std::vector<T> values_;
};

}  // namespace sedscope
