// A set of clips, and the work on all their classes spread over threads.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "../counting/row_assembly.hpp"
#include "../core/parallel.hpp"
#include "references.hpp"

namespace sedscope {

// Scores of one clip, in the memory of the caller: any strides, frames + 1 boundaries.
template <class T>
struct ClipView {
    using Score = T;

    const T* values;
    std::ptrdiff_t frame_stride, class_stride;
    std::size_t frames;
    const Time* edges;
};

// References of all clips, ordered by clip, class and onset.
struct ReferenceTable {
    const Interval* events;
    const int32_t* labels;
    const int64_t* starts;  // clip i has the events [starts[i], starts[i + 1])
};

// The references of one clip, by class; a class without any is not there.
struct ClipReferences {
    std::vector<ReferenceIndex> by_class;  // as many as labels, or more: memory is kept
    std::vector<int32_t> labels;

    void assign(const ReferenceTable& table, std::size_t clip, const Time* edges,
                std::size_t boundaries) {
        labels.clear();
        const int64_t end = table.starts[clip + 1];
        for (int64_t first = table.starts[clip], last; first < end; first = last) {
            const int32_t label = table.labels[first];
            for (last = first; last < end && table.labels[last] == label; ++last) {
            }
            if (by_class.size() == labels.size()) by_class.emplace_back();
            by_class[labels.size()].assign(
                table.events + first, static_cast<std::size_t>(last - first), edges, boundaries);
            labels.push_back(label);
        }
    }

    // Look-ups of the references of a class, and of all others.
    References split(std::size_t c, std::vector<OtherClass>& others) const {
        References own;
        others.clear();
        for (std::size_t k = 0; k < labels.size(); ++k) {
            if (labels[k] == static_cast<int32_t>(c))
                own = References(by_class[k]);
            else
                others.push_back({labels[k], References(by_class[k])});
        }
        return own;
    }
};

// The scores of one class side by side: where they are, if they are so already, else copied.
template <class T>
const T* load_column(const ClipView<T>& clip, int64_t column, std::vector<T>& copy) {
    const T* values = clip.values + column * clip.class_stride;
    if (clip.frame_stride == 1) return values;
    copy.resize(clip.frames);
    for (std::size_t frame = 0; frame < clip.frames; ++frame)
        copy[frame] = values[static_cast<std::ptrdiff_t>(frame) * clip.frame_stride];
    return copy.data();
}

// Gives the scores of one class to `feed(scores, frames)`: at once where they lie side by side,
// else copied, a block after the other, so that a long clip needs no copy of its own length.
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

// The largest score of each class over consecutive frames of all classes, into `out`; false if
// there is a NaN. Works on several frames at once, so that few classes fill the machine's vectors,
// too.
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

// The same for any strides; NaN where there is one.
template <class T>
void strided_maxima(const ClipView<T>& clip, const std::vector<int64_t>& columns, T* out) {
    for (std::size_t c = 0; c < columns.size(); ++c) {
        const T* value = clip.values + columns[c] * clip.class_stride;
        T highest = -std::numeric_limits<T>::infinity();
        for (std::size_t frame = 0; frame < clip.frames; ++frame, value += clip.frame_stride)
            if (!(*value <= highest) && highest == highest) highest = *value;
        out[c] = highest;
    }
}

// The largest score of each clip and class, NaN where there is one, -inf for a clip without frames.
template <class T>
void clip_maxima(const std::vector<ClipView<T>>& clips, const std::vector<int64_t>& columns,
                 std::size_t threads, T* maxima) {
    const std::ptrdiff_t classes = static_cast<std::ptrdiff_t>(columns.size());
    bool all_columns = true;
    for (std::ptrdiff_t c = 0; c < classes; ++c) all_columns &= columns[c] == c;
    parallel_for(clips.size(), threads, [&] {
        return [&](std::size_t i) {
            const ClipView<T>& clip = clips[i];
            T* out = maxima + static_cast<std::ptrdiff_t>(i) * classes;
            const bool dense =
                all_columns && clip.class_stride == 1 && clip.frame_stride == classes;
            if (!dense || !dense_maxima(clip.values, clip.frames, columns.size(), out))
                strided_maxima(clip, columns, out);
        };
    });
}

template <class T>
class BatchJob {
public:
    BatchJob(const std::vector<ClipView<T>>& clips, const std::vector<int64_t>& columns,
             const ReferenceTable& references, const T* maxima, const T* floors)
        : clips_(clips),
          columns_(columns),
          references_(references),
          maxima_(maxima),
          floors_(floors),
          assembly_(columns.size(), clips.size()) {}

    // `make_kernel()` is called once a thread and gives the kernel of a criterion.
    template <class MakeKernel>
    BatchDeltas<T> deltas(MakeKernel&& make_kernel, std::size_t threads) {
        plan(threads);
        parallel_for(parts_.size(), threads, [&] {
            return [this, kernel = make_kernel(), work = Workspace()](std::size_t i) mutable {
                run(parts_[i], kernel, work);
            };
        });
        return assembly_.put_together(parts_, threads);
    }

private:
    struct Workspace {
        std::vector<T> column;
        ClipReferences references;
        std::vector<OtherClass> others;
    };

    // Many clips: ranges of clips with all classes, so that a clip is read while it is in the
    // cache. Few clips: class by class.
    void plan(std::size_t threads) {
        const std::size_t clips = clips_.size(), classes = columns_.size();
        const std::size_t wanted =
            16 * thread_count(threads, std::max<std::size_t>(1, clips * classes));
        parts_.clear();
        if (clips >= wanted) {
            for (std::size_t i = 0; i < wanted; ++i)
                parts_.push_back({i * clips / wanted, (i + 1) * clips / wanted, 0, classes, {}});
        } else {
            for (std::size_t clip = 0; clip < clips; ++clip)
                for (std::size_t c = 0; c < classes; ++c)
                    parts_.push_back({clip, clip + 1, c, c + 1, {}});
        }
    }

    template <class Kernel>
    void run(FoundRows<T>& part, Kernel& kernel, Workspace& work) {
        part.rows.resize(part.last_class - part.first_class);
        for (std::size_t i = part.first_clip; i < part.last_clip; ++i) {
            const ClipView<T>& clip = clips_[i];
            work.references.assign(references_, i, clip.edges, clip.frames + 1);
            for (std::size_t c = part.first_class; c < part.last_class; ++c) {
                if (!(maxima_[i * columns_.size() + c] > floors_[c])) continue;
                Rows<T>& rows = part.rows[c - part.first_class];
                const typename Assembly<T>::Sizes before(rows);
                const References own = work.references.split(c, work.others);
                kernel.begin(clip.edges, floors_[c], own, work.others);
                feed_column(clip, columns_[c], work.column,
                            [&](const T* scores, std::size_t frames) {
                                kernel.feed(scores, frames, rows);
                            });
                kernel.finish(rows);
                assembly_.note(c, i, before, rows);
            }
        }
    }

    const std::vector<ClipView<T>>& clips_;
    const std::vector<int64_t>& columns_;
    const ReferenceTable& references_;
    const T* maxima_;
    const T* floors_;
    std::vector<FoundRows<T>> parts_;
    Assembly<T> assembly_;
};

}  // namespace sedscope
