// Deltas that Python passes to the core: checked, and read class by class.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "counting/class_rows.hpp"
#include "python/deltas.hpp"

namespace sedscope::python {

// Calls `use(zero)` with a zero of the type of the scores.
template <class Use>
auto with_score_type(const DetectionDeltas& deltas, Use&& use) {
    const auto scores = to_array<ScoreVector>(deltas.scores);
    return has_type<double>(scores) ? use(double{}) : use(float{});
}

// Keeps the arrays alive while it is used. Throws if their types or shapes do not fit.
template <class T, class Change>
class DeltaTable {
public:
    DeltaTable(const DetectionDeltas& detections,
               const std::optional<CrossTriggerDeltas>& cross_triggers)
        : starts_(to_array<Matrix<int64_t>>(detections.starts)),
          scores_(to_array<Vector<T>>(detections.scores)),
          tp_(to_array<Vector<Change>>(detections.tp)),
          fp_(to_array<Vector<Change>>(detections.fp)) {
        require(tp_.size() == scores_.size() && fp_.size() == scores_.size(),
                "columns differ in length");
        require(starts_.shape(1) > 0, "classes x (clips + 1) starts are needed");
        require_starts(starts_, scores_.size());
        if (!cross_triggers) return;
        cross_starts_ = to_array<Matrix<int64_t>>(cross_triggers->starts);
        cross_scores_ = to_array<Vector<T>>(cross_triggers->scores);
        cross_labels_ = to_array<Vector<int32_t>>(cross_triggers->labels);
        ct_ = to_array<Vector<Change>>(cross_triggers->ct);
        require(cross_labels_.size() == cross_scores_.size() && ct_.size() == cross_scores_.size(),
                "cross-trigger columns differ in length");
        require(cross_starts_.shape(0) == classes() && cross_starts_.shape(1) == clips() + 1,
                "detections and cross-triggers must have the same classes and clips");
        require_starts(cross_starts_, cross_scores_.size());
    }

    std::size_t classes() const { return starts_.shape(0); }
    std::size_t clips() const { return starts_.shape(1) - 1; }

    ClassRows<T, Change> rows(std::size_t c) const {
        const int64_t* starts = starts_.data() + c * (clips() + 1);
        ClassRows<T, Change> rows{};
        rows.clips = clips();
        rows.starts = starts;
        rows.scores = scores_.data() + *starts;
        rows.tp = tp_.data() + *starts;
        rows.fp = fp_.data() + *starts;
        if (!cross_starts_.is_valid()) return rows;
        const int64_t* cross_starts = cross_starts_.data() + c * (clips() + 1);
        rows.cross_starts = cross_starts;
        rows.cross_scores = cross_scores_.data() + *cross_starts;
        rows.cross_labels = cross_labels_.data() + *cross_starts;
        rows.ct = ct_.data() + *cross_starts;
        return rows;
    }

private:
    Matrix<int64_t> starts_, cross_starts_;
    Vector<T> scores_, cross_scores_;
    Vector<Change> tp_, fp_, ct_;
    Vector<int32_t> cross_labels_;
};

}  // namespace sedscope::python
