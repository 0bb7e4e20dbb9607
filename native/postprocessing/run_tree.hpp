// A tree of the runs of frames at all thresholds, for post-processing that keeps some of the runs.
//
// The runs of frames with `score >= s`, over all s, form a tree (clips/component_tree.hpp). Here
// the tree is stored. A filter gives each frame the score of the smallest kept run around it. If
// every run that contains a kept run is kept, too, then thresholding the new scores gives the kept
// runs.
#pragma once

#include <cstddef>
#include <limits>
#include <vector>

namespace sedscope {

template <class T>
class RunTree {
public:
    static constexpr std::size_t none = ~std::size_t{0};

    struct Run {
        T score;                 // of its lowest frame
        std::size_t first, end;  // frames [first, end)
        std::size_t parent;      // the run that contains it at the next lower score, or none
    };

    // Frames with a score of -inf are in no run.
    void build(const T* scores, std::size_t frames) {
        runs_.clear();
        closed_.clear();
        open_.clear();
        owners_.resize(frames);
        for (std::size_t frame = 0; frame < frames; ++frame) {
            const T score = scores[frame];
            close(score, frame);
            if (score > lowest && (open_.empty() || runs_[open_.back()].score < score))
                open(score, frame);
            owners_[frame] = open_.empty() ? none : open_.back();
        }
        close(lowest, frames);
    }

    const Run& operator[](std::size_t run) const { return runs_[run]; }
    std::size_t size() const { return runs_.size(); }
    // The smallest run of each frame, or none.
    const std::vector<std::size_t>& owners() const { return owners_; }
    // All runs, each before its parent.
    const std::vector<std::size_t>& upwards() const { return closed_; }

private:
    static constexpr T lowest = -std::numeric_limits<T>::infinity();

    void open(T score, std::size_t first) {
        open_.push_back(runs_.size());
        runs_.push_back({score, first, 0, none});
    }

    // Closes the runs above a score. A run that continues at this score becomes part of a new one.
    void close(T score, std::size_t end) {
        while (!open_.empty() && runs_[open_.back()].score > score) {
            const std::size_t run = open_.back();
            open_.pop_back();
            runs_[run].end = end;
            const bool continues =
                score > lowest && (open_.empty() || runs_[open_.back()].score < score);
            if (continues) open(score, runs_[run].first);
            if (!open_.empty()) runs_[run].parent = open_.back();
            closed_.push_back(run);
        }
    }

    std::vector<Run> runs_;
    std::vector<std::size_t> open_, closed_, owners_;
};

// Writes for each frame the value of its smallest run, or -inf if it is in none.
// `value(run, inherited)` returns the value of a run, given that of its parent.
template <class T, class Out, class Value>
void write_run_values(const RunTree<T>& tree, std::vector<Out>& values, Out* out, Value&& value) {
    constexpr Out lowest = -std::numeric_limits<Out>::infinity();
    values.resize(tree.size());
    for (auto run = tree.upwards().rbegin(); run != tree.upwards().rend(); ++run) {
        const std::size_t parent = tree[*run].parent;
        values[*run] = value(*run, parent == RunTree<T>::none ? lowest : values[parent]);
    }
    for (std::size_t owner : tree.owners())
        *out++ = owner == RunTree<T>::none ? lowest : values[owner];
}

}  // namespace sedscope
