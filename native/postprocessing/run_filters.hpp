// What is long enough, at every threshold at once.
//
// The runs of frames with `score >= s`, over all s, form a tree (component_tree.hpp). Here it is
// kept: each frame gets the score of the smallest run around it of which something holds. That
// must hold for every run that contains one for which it does; then thresholding the new scores
// gives the runs of the old ones for which it holds.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <vector>

#include "../clips/references.hpp"

namespace sedscope {

template <class T>
class RunTree {
public:
    static constexpr std::size_t none = ~std::size_t{0};

    struct Run {
        T score;                 // of its lowest frame
        std::size_t first, end;  // frames [first, end)
        std::size_t parent;      // the run that it is part of at the next lower score, or none
    };

    // Scores of -inf are in no run.
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

    // Closes the runs above a score. One of which a part goes on is part of a new run.
    void close(T score, std::size_t end) {
        while (!open_.empty() && runs_[open_.back()].score > score) {
            const std::size_t run = open_.back();
            open_.pop_back();
            runs_[run].end = end;
            const bool goes_on =
                score > lowest && (open_.empty() || runs_[open_.back()].score < score);
            if (goes_on) open(score, runs_[run].first);
            if (!open_.empty()) runs_[run].parent = open_.back();
            closed_.push_back(run);
        }
    }

    std::vector<Run> runs_;
    std::vector<std::size_t> open_, closed_, owners_;
};

// Gives each frame the value of its smallest run, -inf if it is in none. `value(run, inherited)`
// is the value of a run, given that of its parent.
template <class T, class Out, class Value>
void spread(const RunTree<T>& tree, std::vector<Out>& values, Out* out, Value&& value) {
    constexpr Out lowest = -std::numeric_limits<Out>::infinity();
    values.resize(tree.size());
    for (auto run = tree.upwards().rbegin(); run != tree.upwards().rend(); ++run) {
        const std::size_t parent = tree[*run].parent;
        values[*run] = value(*run, parent == RunTree<T>::none ? lowest : values[parent]);
    }
    for (std::size_t owner : tree.owners())
        *out++ = owner == RunTree<T>::none ? lowest : values[owner];
}

// At every threshold, detections shorter than `shortest` are removed.
template <class T>
class MinimumDuration {
public:
    explicit MinimumDuration(Time shortest) : shortest_(shortest) {}

    void run(const T* scores, const Time* edges, std::size_t frames, T* out) {
        tree_.build(scores, frames);
        spread(tree_, values_, out, [&](std::size_t run, T inherited) {
            const auto& [score, first, end, parent] = tree_[run];
            return edges[end] - edges[first] >= shortest_ ? score : inherited;
        });
    }

private:
    const Time shortest_;
    RunTree<T> tree_;
    std::vector<T> values_;
};

// At every threshold, gaps of at most `longest` between two detections are closed. A gap is a run
// of the negative scores.
template <class T>
class MaximumGap {
public:
    explicit MaximumGap(Time longest) : longest_(longest) {}

    void run(const T* scores, const Time* edges, std::size_t frames, T* out) {
        negative_.resize(frames);
        std::transform(scores, scores + frames, negative_.begin(), [](T score) { return -score; });
        tree_.build(negative_.data(), frames);
        spread(tree_, values_, out, [&](std::size_t run, T inherited) {
            const auto& [score, first, end, parent] = tree_[run];
            const bool stays = first == 0 || end == frames || edges[end] - edges[first] > longest_;
            return stays ? score : inherited;
        });
        std::transform(out, out + frames, out, [](T score) { return -score; });
    }

private:
    const Time longest_;
    std::vector<T> negative_;
    RunTree<T> tree_;
    std::vector<T> values_;
};

// At a threshold t, a run of frames with `lift(score) > t` is a detection if one of them has
// `score > t`; `lift` never falls as the score rises. Between its own lifted score and that of its
// parent, a run is a detection at thresholds below its largest score.
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
        spread(tree_, values_, out, [&](std::size_t run, double inherited) {
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
