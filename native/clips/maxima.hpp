// The largest score of each clip and class.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "clips/view.hpp"
#include "core/parallel.hpp"
#include "core/time.hpp"

namespace sedscope {

// Writes the largest score of each class to `out`, for frames whose classes are all contiguous.
// Returns false if any score is NaN. Works on several frames at once, so that a few classes still
// fill the machine's vector registers.
template <class T>
bool dense_maxima(const T* values, std::size_t frames, std::size_t classes, T* out) {
    constexpr std::size_t lanes = 128;
    constexpr T lowest = -std::numeric_limits<T>::infinity();
    const std::size_t group = std::max<std::size_t>(1, lanes / classes);
    const std::size_t width = group * classes;
    std::vector<T> maxima(width, lowest);
    T* const highest = maxima.data();
    int32_t nans = 0;
    auto take = [&](const T* row, std::size_t count) {
        for (std::size_t k = 0; k < count; ++k) {
            highest[k] = row[k] > highest[k] ? row[k] : highest[k];
            nans |= row[k] != row[k];
        }
    };
    const std::size_t groups = frames / group;
    for (std::size_t g = 0; g < groups; ++g) take(values + g * width, width);
    take(values + groups * width, (frames - groups * group) * classes);
    std::fill_n(out, classes, lowest);
    for (std::size_t k = 0; k < width; ++k)
        out[k % classes] = std::max(out[k % classes], highest[k]);
    return nans == 0;
}

// Does the same for any strides; the maximum of a class with a NaN is NaN.
template <class T>
void strided_maxima(const ClipView<T>& clip, const std::vector<int64_t>& columns, T* out) {
    for (std::size_t c = 0; c < columns.size(); ++c) {
        const T* value = clip.column(columns[c]);
        T highest = -std::numeric_limits<T>::infinity();
        for (std::size_t frame = 0; frame < clip.frames; ++frame, value += clip.frame_stride)
            if (!(*value <= highest) && highest == highest) highest = *value;
        out[c] = highest;
    }
}

// Finds the largest score of some columns of clips.
template <class T>
class MaximaFinder {
public:
    explicit MaximaFinder(const std::vector<int64_t>& columns) : columns_(columns) {
        for (std::size_t c = 0; c < columns.size(); ++c)
            all_columns_ &= columns[c] == static_cast<int64_t>(c);
    }

    // Writes NaN where a score is NaN, -inf for a clip without frames.
    void find(const ClipView<T>& clip, T* out) const {
        const auto classes = static_cast<std::ptrdiff_t>(columns_.size());
        const bool dense =
            all_columns_ && classes > 0 && clip.class_stride == 1 && clip.frame_stride == classes;
        if (!dense || !dense_maxima(clip.values, clip.frames, columns_.size(), out))
            strided_maxima(clip, columns_, out);
    }

private:
    const std::vector<int64_t>& columns_;
    bool all_columns_ = true;
};

// Writes the (clips x classes) largest scores.
template <class T>
void clip_maxima(const std::vector<ClipView<T>>& clips, const std::vector<int64_t>& columns,
                 std::size_t threads, T* maxima) {
    const MaximaFinder<T> finder(columns);
    parallel_for(clips.size(), threads, [&] {
        return [&](std::size_t i) { finder.find(clips[i], maxima + i * columns.size()); };
    });
}

// The largest score of one column outside of some spans of time, which are ordered by onset. Frames
// that a span touches count as inside, and so do those shorter than `shortest`.
template <class T>
T maximum_outside(const ClipView<T>& clip, int64_t column, const Interval* spans, std::size_t count,
                  Time shortest) {
    const Time* const edges = clip.edges;
    const Time* const end = edges + clip.frames + 1;
    const T* const scores = clip.column(column);
    T highest = -std::numeric_limits<T>::infinity();
    std::size_t frame = 0;
    auto take_until = [&](std::size_t last) {
        for (; frame < last; ++frame) {
            const T score = scores[static_cast<std::ptrdiff_t>(frame) * clip.frame_stride];
            if (score > highest && edges[frame + 1] - edges[frame] >= shortest) highest = score;
        }
    };
    for (std::size_t k = 0; k < count; ++k) {
        const auto begun = std::upper_bound(edges, end, spans[k].onset) - edges;
        if (begun > 1) take_until(static_cast<std::size_t>(begun) - 1);
        const auto over = std::lower_bound(edges, end, spans[k].offset) - edges;
        frame = std::max(frame, static_cast<std::size_t>(over));
    }
    take_until(clip.frames);
    return highest;
}

}  // namespace sedscope
