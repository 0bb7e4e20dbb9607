// The scores of one clip where the caller keeps them, and how to read one class of it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/time.hpp"

namespace sedscope {

// A (frames x classes) array with any strides, and frames + 1 boundaries. Or columns that lie
// apart, each contiguous: then there are no `values`.
template <class T>
struct ClipView {
    using Score = T;

    const T* values;
    std::ptrdiff_t frame_stride, class_stride;
    std::size_t frames;
    const Time* edges;
    const T* const* columns = nullptr;

    // The first score of a column.
    const T* column(int64_t number) const {
        return columns ? columns[number] : values + number * class_stride;
    }
};

// Returns the scores of one class as a contiguous array. Copies them into `copy` only if they are
// not contiguous already.
template <class T>
const T* load_column(const ClipView<T>& clip, int64_t column, std::vector<T>& copy) {
    const T* values = clip.column(column);
    if (clip.frame_stride == 1) return values;
    copy.resize(clip.frames);
    for (std::size_t frame = 0; frame < clip.frames; ++frame)
        copy[frame] = values[static_cast<std::ptrdiff_t>(frame) * clip.frame_stride];
    return copy.data();
}

// Passes the scores of one class to `feed(scores, frames)`. A contiguous column goes in one call.
// Others are copied block by block, so that a long clip needs no copy of its own length.
template <class T, class Feed>
void feed_column(const ClipView<T>& clip, int64_t column, std::vector<T>& copy, Feed&& feed) {
    constexpr std::size_t block = 1 << 15;
    const std::size_t step = clip.frame_stride == 1 ? clip.frames : block;
    ClipView<T> part = clip;
    for (std::size_t first = 0; first < clip.frames; first += step) {
        part.values = clip.values + static_cast<std::ptrdiff_t>(first) * clip.frame_stride;
        part.frames = std::min(step, clip.frames - first);
        feed(load_column(part, column, copy), part.frames);
    }
}

}  // namespace sedscope
