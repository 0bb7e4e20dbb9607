// Diagnoses every class of many clips, on several threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "clips/detection_table.hpp"
#include "clips/reference_table.hpp"
#include "clips/view.hpp"
#include "core/parallel.hpp"
#include "diagnosis/class_diagnosis.hpp"

namespace sedscope {

// The thresholds of all classes. Class c has those in [starts[c], starts[c + 1]), decreasing.
template <class T>
struct Thresholds {
    const T* values;
    const int64_t* starts;
};

template <class T, class Criterion>
class DiagnosisJob {
public:
    using Kernel = ClassDiagnosis<T, typename Criterion::Judge>;

    // `detected`: the events of the clips, if these are kept as they are; then the views have
    // nothing but the boundaries of the events.
    DiagnosisJob(const std::vector<ClipView<T>>& clips, const DetectionTable<T>* detected,
                 const std::vector<int64_t>& columns, const ReferenceTable& references,
                 const T* maxima, const T* floors, const Thresholds<T>& thresholds,
                 const Criterion& criterion)
        : clips_(clips),
          detected_(detected),
          columns_(columns),
          references_(references),
          maxima_(maxima),
          floors_(floors),
          thresholds_(thresholds),
          criterion_(criterion) {}

    // Writes the changes of the numbers of events of each type from threshold to threshold, summed
    // over all clips: (thresholds of all classes x type_columns).
    void count(std::size_t threads, int64_t* changes) const {
        const std::size_t size = static_cast<std::size_t>(thresholds_.starts[columns_.size()]);
        std::vector<std::vector<int64_t>> tables(std::max<std::size_t>(1, threads));
        std::atomic<std::size_t> next{0};
        each(threads, [&] {
            auto& table = tables[next++];
            table.assign(size * type_columns, 0);
            return [&](Kernel& kernel, std::size_t, std::size_t c, const ClassView<T>& view) {
                kernel.count(view, table.data() + thresholds_.starts[c] * type_columns);
            };
        });
        std::fill_n(changes, size * type_columns, 0);
        for (const auto& table : tables)
            for (std::size_t k = 0; k < table.size(); ++k) changes[k] += table[k];
    }

    // Writes the false positives and false negatives of each clip and class at the first threshold
    // of the class: (clips x classes) each.
    void count_errors(std::size_t threads, int32_t* false_positives,
                      int32_t* false_negatives) const {
        each(threads, [&] {
            return [&](Kernel& kernel, std::size_t i, std::size_t c, const ClassView<T>& view) {
                kernel.examine(view);
                const std::size_t cell = i * columns_.size() + c;
                false_positives[cell] = count_wrong(kernel.detection_types());
                false_negatives[cell] = count_wrong(kernel.reference_types());
            };
        });
    }

    // Examines one clip and class at the first threshold of the class, then calls
    // `use(kernel, view)`.
    template <class Use>
    void examine(std::size_t clip, std::size_t c, Use&& use) const {
        Kernel kernel(criterion_);
        Workspace work;
        work.references.assign(references_, clip, clips_[clip].edges, clips_[clip].frames + 1);
        const ClassView<T> class_view = view(clip, c, work);
        kernel.examine(class_view);
        use(kernel, class_view);
    }

private:
    struct Workspace {
        std::vector<T> column;
        ClipReferences references;
        References own;
        IgnoredReferences ignored;
        std::vector<OtherClass> others;
    };

    static int32_t count_wrong(const std::vector<ErrorType>& types) {
        return static_cast<int32_t>(types.size()) -
               static_cast<int32_t>(std::count_if(types.begin(), types.end(), [](ErrorType type) {
                   return type == correct || type == ignored;
               }));
    }

    // Calls `use(kernel, clip, class, view)` for all clips and classes; `make_use()` is called once
    // per thread. If there are few clips, threads share the classes of a clip.
    template <class MakeUse>
    void each(std::size_t threads, MakeUse&& make_use) const {
        const std::size_t classes = columns_.size();
        const std::size_t parts = clips_.size() < 16 * threads ? classes : 1;
        parallel_for(clips_.size() * parts, threads, [&] {
            return [&, parts, kernel = Kernel(criterion_), work = Workspace(),
                    use = make_use()](std::size_t item) mutable {
                const std::size_t i = item / parts, part = item % parts;
                const ClipView<T>& clip = clips_[i];
                work.references.assign(references_, i, clip.edges, clip.frames + 1);
                for (std::size_t c = part * classes / parts; c < (part + 1) * classes / parts; ++c)
                    use(kernel, i, c, view(i, c, work));
            };
        });
    }

    ClassView<T> view(std::size_t i, std::size_t c, Workspace& work) const {
        const ClipView<T>& clip = clips_[i];
        const bool detected = maxima_[i * columns_.size() + c] > floors_[c];
        const auto label = static_cast<int32_t>(c);
        work.own = work.references.counted(label);
        work.references.of_others(label, work.others);
        work.ignored = work.references.ignored(label);
        const ScoredIntervals<T> events =
            detected && detected_ ? events_of(i, label) : ScoredIntervals<T>{};
        return {detected && !detected_ ? load_column(clip, columns_[c], work.column) : nullptr,
                detected ? clip.frames : 0,
                clip.edges,
                events,
                thresholds_.values + thresholds_.starts[c],
                static_cast<std::size_t>(thresholds_.starts[c + 1] - thresholds_.starts[c]),
                work.own.count() > 0 ? &work.own : nullptr,
                work.ignored,
                work.others};
    }

    ScoredIntervals<T> events_of(std::size_t i, int32_t label) const {
        const int32_t* const labels = detected_->labels;
        const auto [first, end] = std::equal_range(labels + detected_->starts[i],
                                                   labels + detected_->starts[i + 1], label);
        return {detected_->events + (first - labels), detected_->scores + (first - labels),
                static_cast<std::size_t>(end - first)};
    }

    const std::vector<ClipView<T>>& clips_;
    const DetectionTable<T>* const detected_;
    const std::vector<int64_t>& columns_;
    ReferenceTable references_;
    const T* maxima_;
    const T* floors_;
    Thresholds<T> thresholds_;
    Criterion criterion_;
};

}  // namespace sedscope
