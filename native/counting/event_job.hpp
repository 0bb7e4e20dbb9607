// Runs the kernel of a criterion on scored events as they come, on several threads.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "clips/detection_table.hpp"
#include "clips/reference_table.hpp"
#include "core/parallel.hpp"
#include "counting/row_assembly.hpp"
#include "criteria/contracts.hpp"

namespace sedscope {

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
        static_assert(takes_events<std::invoke_result_t<MakeKernel>, T, Change>,
                      "a kernel needs begin(), add() and finish() for these scores and changes");
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
        detected_.each_class(clip, [&](int32_t label, int64_t first, int64_t end) {
            const T floor = floors_[label];
            kernel.begin(references, label, floor);
            for (int64_t k = first; k < end; ++k)
                if (detected_.scores[k] > floor)
                    kernel.add(detected_.events[k], detected_.scores[k], part.rows);
            kernel.finish(part.rows);
            part.record(static_cast<std::size_t>(label), clip);
        });
    }

    const DetectionTable<T> detected_;
    const std::size_t clips_, classes_;
    const ReferenceTable references_;
    const T* const floors_;
};

}  // namespace sedscope
