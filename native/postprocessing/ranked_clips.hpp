// Median filters of many clips, on several threads. What windows of all lengths share is found
// once: the ranks of the scores.
#pragma once

#include <cstddef>
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
    std::vector<FilteredClip<T>> median(Time window, std::size_t threads) const {
        std::vector<FilteredClip<T>> filtered(clips_.size());
        parallel_for(clips_.size(), threads, [&] {
            return [&, filter = MedianFilter<T>(window),
                    steps = std::vector<StepFunction<T>>(classes_),
                    copy = std::vector<T>()](std::size_t i) mutable {
                const ClipView<T>& clip = clips_[i];
                if (clip.frames == 0) return;
                if (const std::size_t frames = frames_in_window(clip.edges, clip.frames, window))
                    filtered[i].values = median_of_frames(i, frames);
                else
                    filtered[i] = median_of_time(clip, filter, steps, copy);
            };
        });
        return filtered;
    }

private:
    struct Ranked {  // nothing where frames differ in length or are too many
        Buffer<FrameRank> ranks;  // classes x frames
        Buffer<T> scores;         // classes x (frames + 1)

        FrameRanks<T> of_class(std::size_t c, std::size_t frames) const {
            return {ranks.data() + c * frames, scores.data() + c * (frames + 1)};
        }
    };

    void rank(std::size_t i, FrameRanking<T>& ranking, std::vector<T>& copy) {
        const ClipView<T>& clip = clips_[i];
        const std::size_t frames = clip.frames;
        if (frames == 0 || !frames_in_window(clip.edges, frames, clip.edges[1] - clip.edges[0]))
            return;
        FrameRank* const ranks = ranked_[i].ranks.reserve(classes_ * frames);
        T* const scores = ranked_[i].scores.reserve(classes_ * (frames + 1));
        for (std::size_t c = 0; c < classes_; ++c)
            ranking.find(load_column(clip, columns_[c], copy), frames,
                         ranks + c * frames, scores + c * (frames + 1));
    }

    Buffer<T> median_of_frames(std::size_t i, std::size_t window) const {
        const std::size_t frames = clips_[i].frames;
        Buffer<T> out(classes_ * frames);
        FrameMedian filter(window);
        for (std::size_t c = 0; c < classes_; ++c)
            filter.run(ranked_[i].of_class(c, frames), frames, out.data() + c * frames);
        return out;
    }

    FilteredClip<T> median_of_time(const ClipView<T>& clip, MedianFilter<T>& filter,
                                   std::vector<StepFunction<T>>& steps,
                                   std::vector<T>& copy) const {
        for (std::size_t c = 0; c < steps.size(); ++c)
            filter.run(load_column(clip, columns_[c], copy), clip.edges, clip.frames,
                       steps[c]);
        FilteredClip<T> filtered;
        // what looks at frames afterwards must not depend on where other classes change
        filtered.edges = common_grid(steps, {clip.edges, clip.edges + clip.frames},
                                     clip.edges[clip.frames]);
        filtered.values = on_grid(steps, filtered.edges);
        return filtered;
    }

    const std::vector<ClipView<T>>& clips_;
    const std::vector<int64_t>& columns_;
    const std::size_t classes_;
    std::vector<Ranked> ranked_;
};

}  // namespace sedscope
