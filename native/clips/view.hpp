// The scores of one clip where the caller keeps them, and how to read one class of it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/prefetch.hpp"
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

// Some columns of a clip, each contiguous. They are copied together, a few frames at a time, so
// that neighbours in memory are read while they are in the cache.
template <class T>
class ColumnGroup {
public:
    static constexpr std::size_t most = 128;  // columns
    static constexpr std::size_t longest = 1 << 12;

    // Whether a clip is short enough to be loaded.
    static bool fits(const ClipView<T>& clip) {
        return clip.frame_stride == 1 || clip.frames <= longest;
    }

    void clear() { count_ = 0; }
    bool full() const { return count_ == most; }
    std::size_t size() const { return count_; }
    // Chooses a column of the clip. `label`: what it is to the caller.
    void add(std::size_t label, int64_t column) {
        labels_[count_] = label;
        columns_[count_++] = column;
    }
    std::size_t label(std::size_t k) const { return labels_[k]; }
    const T* scores(std::size_t k) const { return scores_[k]; }

    // Loads the columns that were chosen.
    void load(const ClipView<T>& clip) {
        for (std::size_t k = 0; k < count_; ++k) scores_[k] = clip.column(columns_[k]);
        if (clip.frame_stride == 1 || count_ == 0) return;
        if (copies_.size() < count_ * clip.frames) copies_.resize(count_ * clip.frames);
        const std::size_t together = frames_together(clip);
        for (std::size_t first = 0; first < clip.frames; first += together) {
            const std::size_t last = std::min(first + together, clip.frames);
            if (last < clip.frames) prefetch(clip, last, std::min(last + together, clip.frames));
            for (std::size_t k = 0; k < count_; ++k) {
                T* const copy = copies_.data() + k * clip.frames;
                for (std::size_t frame = first; frame < last; ++frame)
                    copy[frame] = scores_[k][place(clip, frame)];
            }
        }
        for (std::size_t k = 0; k < count_; ++k) scores_[k] = copies_.data() + k * clip.frames;
    }

private:
    static constexpr std::size_t line = 64;  // bytes that the cache fetches at once

    // All frames of a small clip, which stays in the cache.
    static std::size_t frames_together(const ClipView<T>& clip) {
        constexpr std::ptrdiff_t cached = (1 << 15) / sizeof(T);
        return place(clip, clip.frames) <= cached && clip.frame_stride > 0 ? clip.frames : 16;
    }

    static std::ptrdiff_t place(const ClipView<T>& clip, std::size_t frame) {
        return static_cast<std::ptrdiff_t>(frame) * clip.frame_stride;
    }

    // Asks for the columns of the frames [first, last), unless they lie far apart.
    void prefetch(const ClipView<T>& clip, std::size_t first, std::size_t last) const {
        const std::ptrdiff_t width = scores_[count_ - 1] - scores_[0];
        constexpr std::size_t apart = 2 * line / sizeof(T);
        if (width < 0 || static_cast<std::size_t>(width) > apart * count_) return;
        for (std::size_t frame = first; frame < last; ++frame) {
            const T* const row = scores_[0] + place(clip, frame);
            for (std::ptrdiff_t k = 0; k <= width; k += line / sizeof(T))
                SEDSCOPE_PREFETCH(row + k);
        }
    }

    std::size_t count_ = 0;
    std::size_t labels_[most];
    int64_t columns_[most];
    const T* scores_[most];
    std::vector<T> copies_;
};

}  // namespace sedscope
