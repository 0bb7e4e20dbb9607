// Closes short gaps between two detections, at every threshold.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "core/time.hpp"
#include "postprocessing/run_tree.hpp"

namespace sedscope {

// Closes gaps of at most `longest`. A gap is a run of the negated scores.
template <class T>
class MaximumGap {
public:
    explicit MaximumGap(Time longest) : longest_(longest) {}

    void run(const T* scores, const Time* edges, std::size_t frames, T* out) {
        negated_.resize(frames);
        std::transform(scores, scores + frames, negated_.begin(), [](T score) { return -score; });
        tree_.build(negated_.data(), frames);
        write_run_values(tree_, values_, out, [&](std::size_t run, T inherited) {
            const auto& [score, first, end, parent] = tree_[run];
            const bool kept = first == 0 || end == frames || edges[end] - edges[first] > longest_;
            return kept ? score : inherited;
        });
        std::transform(out, out + frames, out, [](T score) { return -score; });
    }

private:
    const Time longest_;
    std::vector<T> negated_;
    RunTree<T> tree_;
    std::vector<T> values_;
};

}  // namespace sedscope
