// Scores of segments of equal length instead of frames.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "clips.hpp"
#include "parallel.hpp"
#include "references.hpp"

namespace sedscope {

// Clip i has the segments [starts[i], starts[i + 1]): of the given length from 0 on, the last one
// ending at its duration. A segment's score is the largest of the frames that overlap it or, with
// `mean`, their mean weighted by the time they share with it; -inf where there is no frame. `out`:
// segments x classes.
template <class T, class Out>
void segment_scores(const std::vector<ClipView<T>>& clips, const std::vector<int64_t>& columns,
                    const int64_t* starts, const Time* durations, Time length, bool mean,
                    std::size_t threads, Out* out) {
    const std::size_t classes = columns.size();
    constexpr Out lowest = -std::numeric_limits<Out>::infinity();
    parallel_for(clips.size(), threads, [&] {
        return [&](std::size_t i) {
            const ClipView<T>& clip = clips[i];
            std::size_t first = 0;  // the first frame that may overlap
            for (int64_t segment = starts[i]; segment < starts[i + 1]; ++segment) {
                const Time from = (segment - starts[i]) * length;
                const Time until = std::min(from + length, durations[i]);
                Out* scores = out + static_cast<std::size_t>(segment) * classes;
                std::fill_n(scores, classes, mean ? Out{0} : lowest);
                Time covered = 0;
                while (first < clip.frames && clip.edges[first + 1] <= from) ++first;
                for (std::size_t frame = first; frame < clip.frames && clip.edges[frame] < until;
                     ++frame) {
                    const Time shared =
                        std::min(until, clip.edges[frame + 1]) - std::max(from, clip.edges[frame]);
                    if (shared <= 0) continue;  // a frame of no length
                    covered += shared;
                    const T* row =
                        clip.values + static_cast<std::ptrdiff_t>(frame) * clip.frame_stride;
                    for (std::size_t c = 0; c < classes; ++c) {
                        const Out score = row[columns[c] * clip.class_stride];
                        if (mean)
                            scores[c] += score * static_cast<Out>(shared);
                        else if (score > scores[c])
                            scores[c] = score;
                    }
                }
                if (mean)
                    for (std::size_t c = 0; c < classes; ++c)
                        scores[c] = covered > 0 && scores[c] == scores[c]  // not inf - inf
                                        ? scores[c] / static_cast<Out>(covered)
                                        : lowest;
            }
        };
    });
}

}  // namespace sedscope
