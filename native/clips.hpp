// A set of clips, and the work on all their classes spread over threads.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "buffer.hpp"
#include "deltas.hpp"
#include "parallel.hpp"
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
    std::vector<References> by_class;  // as many as labels, or more: memory is kept
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

    // The references of one class, null if there are none; those of the others go to `others`.
    References* split(int32_t label, std::vector<OtherClass>& others) {
        References* own = nullptr;
        others.clear();
        for (std::size_t k = 0; k < labels.size(); ++k) {
            if (labels[k] == label)
                own = &by_class[k];
            else
                others.push_back({labels[k], &by_class[k]});
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

// Deltas of many clips: rows ordered by class, then clip.
template <class T>
struct BatchDeltas {
    Buffer<int64_t> starts, cross_starts, error_starts;  // classes x (clips + 1)
    Rows<T> rows;
};

template <class T>
class BatchJob {
public:
    BatchJob(const std::vector<ClipView<T>>& clips, const std::vector<int64_t>& columns,
             const ReferenceTable& references, const T* maxima, const T* floors)
        : clips_(clips),
          columns_(columns),
          references_(references),
          maxima_(maxima),
          floors_(floors) {}

    // `make_kernel()` is called once a thread and gives the kernel of a criterion.
    template <class MakeKernel>
    BatchDeltas<T> deltas(MakeKernel&& make_kernel, std::size_t threads) {
        plan(threads);
        counts_.assign(columns_.size() * clips_.size(), 0);
        cross_counts_.assign(columns_.size() * clips_.size(), 0);
        error_counts_.assign(columns_.size() * clips_.size(), 0);
        parallel_for(pieces_.size(), threads, [&] {
            return [this, kernel = make_kernel(), work = Workspace()](std::size_t i) mutable {
                run(pieces_[i], kernel, work);
            };
        });
        return assemble(threads);
    }

private:
    // Some clips and some classes, and the rows they give, per class.
    struct Piece {
        std::size_t first_clip, last_clip, first_class, last_class;
        std::vector<Rows<T>> rows;
    };

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
        pieces_.clear();
        if (clips >= wanted) {
            for (std::size_t i = 0; i < wanted; ++i)
                pieces_.push_back({i * clips / wanted, (i + 1) * clips / wanted, 0, classes, {}});
        } else {
            for (std::size_t clip = 0; clip < clips; ++clip)
                for (std::size_t c = 0; c < classes; ++c)
                    pieces_.push_back({clip, clip + 1, c, c + 1, {}});
        }
    }

    template <class Kernel>
    void run(Piece& piece, Kernel& kernel, Workspace& work) {
        piece.rows.resize(piece.last_class - piece.first_class);
        for (std::size_t i = piece.first_clip; i < piece.last_clip; ++i) {
            const ClipView<T>& clip = clips_[i];
            work.references.assign(references_, i, clip.edges, clip.frames + 1);
            for (std::size_t c = piece.first_class; c < piece.last_class; ++c) {
                if (!(maxima_[i * columns_.size() + c] > floors_[c])) continue;
                Rows<T>& rows = piece.rows[c - piece.first_class];
                const std::size_t before = rows.detections.size();
                const std::size_t cross_before = rows.cross_triggers.size();
                const std::size_t errors_before = rows.errors.size();
                const T* column = load_column(clip, columns_[c], work.column);
                References* own = work.references.split(static_cast<int32_t>(c), work.others);
                kernel.run(column, clip.frames, clip.edges, floors_[c], own, work.others, rows);
                counts_[c * clips_.size() + i] = rows.detections.size() - before;
                cross_counts_[c * clips_.size() + i] = rows.cross_triggers.size() - cross_before;
                error_counts_[c * clips_.size() + i] = rows.errors.size() - errors_before;
            }
        }
    }

    BatchDeltas<T> assemble(std::size_t threads) {
        BatchDeltas<T> batch;
        const std::size_t rows = add_up(counts_, batch.starts);
        const std::size_t cross = add_up(cross_counts_, batch.cross_starts);
        const std::size_t errors = add_up(error_counts_, batch.error_starts);
        batch.rows.detections = {Buffer<T>(rows), Buffer<int8_t>(rows), Buffer<int8_t>(rows)};
        batch.rows.cross_triggers = {Buffer<T>(cross), Buffer<int32_t>(cross),
                                     Buffer<int8_t>(cross)};
        batch.rows.errors = {Buffer<T>(errors), Buffer<int64_t>(errors), Buffer<int64_t>(errors)};
        const std::size_t stride = clips_.size() + 1;
        parallel_for(pieces_.size(), threads, [&] {
            return [&](std::size_t i) {
                Piece& piece = pieces_[i];
                for (std::size_t c = piece.first_class; c < piece.last_class; ++c) {
                    Rows<T> from = std::move(piece.rows[c - piece.first_class]);
                    const std::size_t at = c * stride + piece.first_clip;
                    auto& [scores, tp, fp] = batch.rows.detections;
                    copy(from.detections.scores, scores, batch.starts[at]);
                    copy(from.detections.tp, tp, batch.starts[at]);
                    copy(from.detections.fp, fp, batch.starts[at]);
                    auto& [cross_scores, labels, ct] = batch.rows.cross_triggers;
                    copy(from.cross_triggers.scores, cross_scores, batch.cross_starts[at]);
                    copy(from.cross_triggers.labels, labels, batch.cross_starts[at]);
                    copy(from.cross_triggers.ct, ct, batch.cross_starts[at]);
                    auto& [error_scores, onset, offset] = batch.rows.errors;
                    copy(from.errors.scores, error_scores, batch.error_starts[at]);
                    copy(from.errors.onset, onset, batch.error_starts[at]);
                    copy(from.errors.offset, offset, batch.error_starts[at]);
                }
            };
        });
        return batch;
    }

    // Turns row counts into where the rows start; returns the total.
    std::size_t add_up(const std::vector<std::size_t>& counts, Buffer<int64_t>& starts) const {
        const std::size_t clips = clips_.size();
        starts = Buffer<int64_t>(columns_.size() * (clips + 1));
        int64_t total = 0;
        for (std::size_t c = 0; c < columns_.size(); ++c) {
            for (std::size_t i = 0; i < clips; ++i) {
                starts[c * (clips + 1) + i] = total;
                total += static_cast<int64_t>(counts[c * clips + i]);
            }
            starts[c * (clips + 1) + clips] = total;
        }
        return static_cast<std::size_t>(total);
    }

    template <class U>
    static void copy(const Buffer<U>& from, Buffer<U>& to, int64_t start) {
        std::copy_n(from.data(), from.size(), to.data() + start);
    }

    const std::vector<ClipView<T>>& clips_;
    const std::vector<int64_t>& columns_;
    const ReferenceTable& references_;
    const T* maxima_;
    const T* floors_;
    std::vector<Piece> pieces_;
    std::vector<std::size_t> counts_, cross_counts_, error_counts_;
};

}  // namespace sedscope
