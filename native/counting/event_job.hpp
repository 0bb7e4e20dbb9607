// Runs the kernel of a criterion on scored events as they come, on several threads.
//
// The kernel is that of batch_job.hpp, with `add(event, score, rows)` in place of frames.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "clips/reference_table.hpp"
#include "core/parallel.hpp"
#include "core/time.hpp"
#include "counting/row_assembly.hpp"

namespace sedscope {

// Detected events of many clips, ordered by clip, class and onset. They may overlap.
template <class T>
struct DetectionTable {
    const Interval* events;
    const T* scores;
    const int32_t* labels;
    const int64_t* starts;  // clip i has the events [starts[i], starts[i + 1])
};

template <class T, class Change = int8_t>
class EventJob {
public:
    EventJob(const DetectionTable<T>& detected, std::size_t clips, std::size_t classes,
             const ReferenceTable& references, const T* floors)
        : detected_(detected),
          clips_(clips),
          classes_(classes),
          references_(references),
          floors_(floors) {}

    // `make_kernel()` is called once per thread and returns the kernel of a criterion.
    template <class MakeKernel>
    BatchDeltas<T, Change> deltas(MakeKernel&& make_kernel, std::size_t threads) {
        std::vector<PartRows<T, Change>> parts;
        const std::size_t target = std::min(clips_, 16 * thread_count(threads, clips_));
        for (std::size_t i = 0; i < target; ++i)
            parts.emplace_back(i * clips_ / target, (i + 1) * clips_ / target, 0, classes_);
        parallel_for(parts.size(), threads, [&] {
            return [this, &parts, kernel = make_kernel(),
                    references = ClipReferences()](std::size_t i) mutable {
                PartRows<T, Change>& part = parts[i];
                for (std::size_t clip = part.first_clip; clip < part.last_clip; ++clip) {
                    references.assign(references_, clip, nullptr, 0);
                    run(clip, part, kernel, references);
                }
            };
        });
        return assemble(parts, classes_, clips_, threads);
    }

private:
    template <class Kernel>
    void run(std::size_t clip, PartRows<T, Change>& part, Kernel& kernel,
             const ClipReferences& references) {
        const int64_t end = detected_.starts[clip + 1];
        for (int64_t k = detected_.starts[clip]; k < end;) {
            const auto c = static_cast<std::size_t>(detected_.labels[k]);
            DeltaRows<T, Change>& rows = part.rows;
            kernel.begin(references, static_cast<int32_t>(c), floors_[c]);
            for (; k < end && detected_.labels[k] == static_cast<int32_t>(c); ++k)
                if (detected_.scores[k] > floors_[c])
                    kernel.add(detected_.events[k], detected_.scores[k], rows);
            kernel.finish(rows);
            part.record(c, clip);
        }
    }

    const DetectionTable<T> detected_;
    const std::size_t clips_, classes_;
    const ReferenceTable references_;
    const T* const floors_;
};

}  // namespace sedscope
