// Runs a criterion's kernel on every class of many clips, on several threads.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "clips/reference_table.hpp"
#include "clips/view.hpp"
#include "core/parallel.hpp"
#include "counting/row_assembly.hpp"
#include "criteria/contracts.hpp"

namespace sedscope {

// `Change`: of the columns of detections (delta_rows.hpp).
template <class T, class Change = int8_t>
class BatchJob {
public:
    BatchJob(const std::vector<ClipView<T>>& clips, const std::vector<int64_t>& columns,
             const ReferenceTable& references, const T* maxima, const T* floors)
        : clips_(clips),
          columns_(columns),
          references_(references),
          maxima_(maxima),
          floors_(floors) {}

    // `make_kernel()` is called once per thread and returns the kernel of a criterion.
    template <class MakeKernel>
    BatchDeltas<T, Change> deltas(MakeKernel&& make_kernel, std::size_t threads) {
        static_assert(takes_frames<std::invoke_result_t<MakeKernel>, T, Change>,
                      "a kernel needs begin(), feed() and finish() for these scores and changes");
        plan(threads);
        parallel_for(parts_.size(), threads, [&] {
            return [this, kernel = make_kernel(), work = Workspace()](std::size_t i) mutable {
                run(parts_[i], kernel, work);
            };
        });
        return assemble(parts_, columns_.size(), clips_.size(), threads);
    }

private:
    struct Workspace {
        std::vector<T> column;
        ColumnGroup<T> columns;
        ClipReferences references;
    };

    // Splits the work into parts. With many clips a part is a range of clips with all classes, so
    // that a clip is read while it is in the cache. With few clips it is one class of one clip.
    void plan(std::size_t threads) {
        const std::size_t clips = clips_.size(), classes = columns_.size();
        const std::size_t target =
            16 * thread_count(threads, std::max<std::size_t>(1, clips * classes));
        parts_.clear();
        if (clips >= target) {
            for (std::size_t i = 0; i < target; ++i)
                parts_.emplace_back(i * clips / target, (i + 1) * clips / target, 0, classes);
        } else {
            for (std::size_t clip = 0; clip < clips; ++clip)
                for (std::size_t c = 0; c < classes; ++c)
                    parts_.emplace_back(clip, clip + 1, c, c + 1);
        }
    }

    template <class Kernel>
    void run(PartRows<T, Change>& part, Kernel& kernel, Workspace& work) {
        for (std::size_t i = part.first_clip; i < part.last_clip; ++i) {
            const ClipView<T>& clip = clips_[i];
            work.references.assign(references_, i, clip.edges, clip.frames + 1);
            const bool together = ColumnGroup<T>::fits(clip);
            work.columns.clear();
            for (std::size_t c = part.first_class; c < part.last_class; ++c) {
                if (!(maxima_[i * columns_.size() + c] > floors_[c])) continue;
                if (together) {
                    work.columns.add(c, columns_[c]);
                    if (work.columns.full()) run_loaded(part, i, kernel, work);
                    continue;
                }
                kernel.begin(work.references, static_cast<int32_t>(c), floors_[c]);
                feed_column(clip, columns_[c], work.column,
                            [&](const T* scores, std::size_t frames) {
                                kernel.feed(scores, frames, part.rows);
                            });
                kernel.finish(part.rows);
                part.record(c, i);
            }
            run_loaded(part, i, kernel, work);
        }
    }

    // Runs the kernel on the columns of a clip that were chosen.
    template <class Kernel>
    void run_loaded(PartRows<T, Change>& part, std::size_t i, Kernel& kernel, Workspace& work) {
        work.columns.load(clips_[i]);
        for (std::size_t k = 0; k < work.columns.size(); ++k) {
            const std::size_t c = work.columns.label(k);
            kernel.begin(work.references, static_cast<int32_t>(c), floors_[c]);
            kernel.feed(work.columns.scores(k), clips_[i].frames, part.rows);
            kernel.finish(part.rows);
            part.record(c, i);
        }
        work.columns.clear();
    }

    const std::vector<ClipView<T>>& clips_;
    const std::vector<int64_t>& columns_;
    const ReferenceTable& references_;
    const T* maxima_;
    const T* floors_;
    std::vector<PartRows<T, Change>> parts_;
};

}  // namespace sedscope
