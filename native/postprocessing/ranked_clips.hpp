// Median filters of many clips, on several threads. What windows of all lengths share is found
// once: the ranks of the scores.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "clips/view.hpp"
#include "core/buffer.hpp"
#include "core/parallel.hpp"
#include "core/time.hpp"
#include "postprocessing/frame_median.hpp"
#include "postprocessing/frame_ranks.hpp"
#include "postprocessing/median_filter.hpp"
#include "postprocessing/step_function.hpp"

namespace sedscope {

// Scores (classes x frames) of one clip.
template <class T>
struct FilteredClip {
    Buffer<T> values;
    Buffer<Time> edges;  // empty if the frames are those of the clip
};

template <class T>
struct FilteredClips {
    std::vector<FilteredClip<T>> clips;
    Buffer<T> maxima;  // clips x classes: the largest scores, -inf without frames
};

// Down to which score results are read. A lower one need not be computed: any lower score may take
// its place.
template <class T>
struct ReadLimit {
    const T* lowest;    // per class; nor is anything read below ...
    std::size_t rank;   // ... the rank-th largest of the maxima of the result ...
    const bool* among;  // ... in these (clips x classes)
};

template <class T>
class RankedClips {
public:
    // The scores have no NaN. Views and columns must outlive this object.
    RankedClips(const std::vector<ClipView<T>>& clips, const std::vector<int64_t>& columns,
                std::size_t threads)
        : clips_(clips), columns_(columns), classes_(columns.size()), ranked_(clips.size()) {
        parallel_for(clips.size(), threads, [&] {
            return [this, ranking = FrameRanking<T>(),
                    copy = std::vector<T>()](std::size_t i) mutable { rank(i, ranking, copy); };
        });
    }

    // Takes the median in a window around each time. `window` is longer than 0.
    FilteredClips<T> median(Time window, const std::optional<ReadLimit<T>>& limit,
                            std::size_t threads) const {
        Job job(*this, window);
        if (limit) find_lowest(job, *limit, threads);
        parallel_for(clips_.size(), threads, [&] {
            return [&, filter = MedianFilter<T>(window),
                    steps = std::vector<StepFunction<T>>(classes_),
                    copy = std::vector<T>()](std::size_t i) mutable {
                if (job.lengths[i] == 0) {
                    if (clips_[i].frames > 0) median_of_time(i, filter, steps, copy, job.out);
                    return;
                }
                FrameMedian of_frames(job.lengths[i]);
                for (std::size_t c = 0; c < classes_; ++c) median_of_frames(i, c, of_frames, job);
            };
        });
        return std::move(job.out);
    }

private:
    static constexpr T none = -std::numeric_limits<T>::infinity();

    // Nothing where frames differ in length or are too many.
    struct Ranked {
        Buffer<FrameRank> ranks;  // classes x frames
        Buffer<T> scores;         // classes x (frames + 1)
    };

    struct Job {
        Job(const RankedClips& clips, Time window)
            : lengths(clips.clips_.size()), lowest(clips.classes_, none) {
            out.clips.resize(lengths.size());
            out.maxima.assign(lengths.size() * clips.classes_);
            std::fill(out.maxima.begin(), out.maxima.end(), none);
            for (std::size_t i = 0; i < lengths.size(); ++i) {
                const ClipView<T>& clip = clips.clips_[i];
                if (clip.frames > 0) lengths[i] = frames_in_window(clip.edges, clip.frames, window);
                if (lengths[i] > 0) out.clips[i].values.assign(clips.classes_ * clip.frames);
            }
        }

        std::vector<std::size_t> lengths;  // of the window in frames; 0 if it is no whole number
        std::vector<T> lowest;             // per class, the lowest score that is read
        FilteredClips<T> out;
    };

    void rank(std::size_t i, FrameRanking<T>& ranking, std::vector<T>& copy) {
        const ClipView<T>& clip = clips_[i];
        const std::size_t frames = clip.frames;
        if (frames == 0 || !frames_in_window(clip.edges, frames, clip.edges[1] - clip.edges[0]))
            return;
        FrameRank* const ranks = ranked_[i].ranks.reserve(classes_ * frames);
        T* const scores = ranked_[i].scores.reserve(classes_ * (frames + 1));
        for (std::size_t c = 0; c < classes_; ++c)
            ranking.find(load_column(clip, columns_[c], copy), frames, ranks + c * frames,
                         scores + c * (frames + 1));
    }

    // Finds the lowest score of each class that is read, or a lower one: every clip has a result
    // around its highest score, so its largest result is at least that.
    void find_lowest(Job& job, const ReadLimit<T>& limit, std::size_t threads) const {
        parallel_for(classes_, threads, [&] {
            return [&, reached = std::vector<T>()](std::size_t c) mutable {
                job.lowest[c] = limit.lowest[c];
                reached.clear();
                for (std::size_t i = 0; i < clips_.size(); ++i) {
                    if (!limit.among[i * classes_ + c] || job.lengths[i] == 0) continue;
                    FrameMedian filter(job.lengths[i]);
                    reached.push_back(filter.at_highest(ranks_of(i, c), clips_[i].frames));
                }
                if (reached.size() < limit.rank) return;
                const auto last = reached.begin() + static_cast<std::ptrdiff_t>(limit.rank - 1);
                std::nth_element(reached.begin(), last, reached.end(), std::greater<>());
                job.lowest[c] = std::max(job.lowest[c], *last);
            };
        });
    }

    void median_of_frames(std::size_t i, std::size_t c, FrameMedian& filter, Job& job) const {
        const std::size_t frames = clips_[i].frames;
        const FrameRanks<T> column = ranks_of(i, c);
        const auto levels = static_cast<std::size_t>(
            std::partition_point(column.scores, column.scores + frames,
                                 [&](T score) { return score >= job.lowest[c]; }) -
            column.scores);
        T* const out = job.out.clips[i].values.data() + c * frames;
        job.out.maxima[i * classes_ + c] = column.scores[filter.run(column, frames, levels, out)];
    }

    void median_of_time(std::size_t i, MedianFilter<T>& filter, std::vector<StepFunction<T>>& steps,
                        std::vector<T>& copy, FilteredClips<T>& out) const {
        const ClipView<T>& clip = clips_[i];
        for (std::size_t c = 0; c < classes_; ++c) {
            filter.run(load_column(clip, columns_[c], copy), clip.edges, clip.frames, steps[c]);
            out.maxima[i * classes_ + c] =
                *std::max_element(steps[c].values.begin(), steps[c].values.end());
        }
        FilteredClip<T>& filtered = out.clips[i];
        // what looks at frames afterwards must not depend on where other classes change
        filtered.edges =
            common_grid(steps, {clip.edges, clip.edges + clip.frames}, clip.edges[clip.frames]);
        filtered.values = on_grid(steps, filtered.edges);
    }

    FrameRanks<T> ranks_of(std::size_t i, std::size_t c) const {
        const std::size_t frames = clips_[i].frames;
        return {ranked_[i].ranks.data() + c * frames, ranked_[i].scores.data() + c * (frames + 1)};
    }

    const std::vector<ClipView<T>>& clips_;
    const std::vector<int64_t>& columns_;
    const std::size_t classes_;
    std::vector<Ranked> ranked_;
};

}  // namespace sedscope
