// Hysteresis: detections begin at a high threshold and extend over frames above a lower one.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <vector>

#include "postprocessing/run_tree.hpp"

namespace sedscope {

// At threshold t, a run of frames with `lift(score) > t` is a detection if one of its frames has
// `score > t`. `lift` must not decrease. So from its parent's lifted score up to its own, a run is
// a detection at thresholds below its largest score.
template <class T>
class Hysteresis {
public:
    template <class Lift>
    void run(const T* scores, std::size_t frames, double* out, Lift&& lift) {
        lifted_.resize(frames);
        std::transform(scores, scores + frames, lifted_.begin(),
                       [&](T score) { return lift(static_cast<double>(score)); });
        tree_.build(lifted_.data(), frames);
        peaks_.assign(tree_.size(), lowest);
        for (std::size_t frame = 0; frame < frames; ++frame)
            if (tree_.owners()[frame] != tree_.none)
                raise(tree_.owners()[frame], static_cast<double>(scores[frame]));
        for (std::size_t run : tree_.upwards())
            if (tree_[run].parent != tree_.none) raise(tree_[run].parent, peaks_[run]);
        write_run_values(tree_, values_, out, [&](std::size_t run, double inherited) {
            const std::size_t parent = tree_[run].parent;
            const double below = parent == tree_.none ? lowest : tree_[parent].score;
            return peaks_[run] > below ? std::min(peaks_[run], tree_[run].score) : inherited;
        });
    }

private:
    static constexpr double lowest = -std::numeric_limits<double>::infinity();

    void raise(std::size_t run, double score) { peaks_[run] = std::max(peaks_[run], score); }

    std::vector<double> lifted_, peaks_, values_;
    RunTree<double> tree_;
};

}  // namespace sedscope
