// What several parts of the Python face share: references, how they are judged, and found rows.
#pragma once

#include <nanobind/stl/optional.h>

#include <optional>
#include <variant>

#include "../counting/row_assembly.hpp"
#include "../clips/batch_job.hpp"
#include "../diagnosis/diagnosis.hpp"
#include "../criteria/intersection.hpp"
#include "../criteria/judges.hpp"
#include "../criteria/pairing_rules.hpp"
#include "arrays.hpp"

namespace sedscope::python {

// References of the clips, and what bounds the work: the largest scores, the floors, the threads.
struct Truth {
    Matrix<int64_t> events;
    Vector<int32_t> labels;
    Vector<int64_t> starts;
    AnyMatrix maxima;
    AnyVector floors;
    std::size_t threads;

    Truth(Matrix<int64_t> events, Vector<int32_t> labels, Vector<int64_t> starts, AnyMatrix maxima,
          AnyVector floors, std::size_t threads)
        : events(std::move(events)),
          labels(std::move(labels)),
          starts(std::move(starts)),
          maxima(std::move(maxima)),
          floors(std::move(floors)),
          threads(threads) {
        static_assert(sizeof(Interval) == 2 * sizeof(int64_t));
        require(this->events.shape(1) == 2 && this->events.shape(0) == this->labels.size(),
                "events must be (onset, offset) pairs, one per label");
    }

    ReferenceTable table() const {
        return {reinterpret_cast<const Interval*>(events.data()), labels.data(), starts.data()};
    }
};

// How single detections and references are judged.
struct Judge {
    std::variant<IntersectionJudge, PairingJudge<Collar>, PairingJudge<Overlap>> of_criterion;

    Judge(double dtc, double gtc, std::optional<double> cttc)
        : of_criterion(IntersectionJudge({{dtc}, {gtc}, {cttc.value_or(1)}, cttc.has_value()})) {}
    Judge(const Collar& collar, bool cross_triggers)
        : of_criterion(PairingJudge<Collar>(collar, cross_triggers)) {}
    Judge(const Overlap& overlap, bool cross_triggers)
        : of_criterion(PairingJudge<Overlap>(overlap, cross_triggers)) {}
};

template <class T>
nb::tuple columns_of(BatchDeltas<T>&& found, std::size_t classes, std::size_t clips) {
    auto& [scores, tp, fp] = found.rows.detections;
    auto& [cross_scores, cross_labels, ct] = found.rows.cross_triggers;
    auto& [error_scores, onset, offset] = found.rows.errors;
    return nb::make_tuple(
        to_numpy(std::move(found.starts), classes, clips + 1), to_numpy(std::move(scores)),
        to_numpy(std::move(tp)), to_numpy(std::move(fp)),
        to_numpy(std::move(found.cross_starts), classes, clips + 1),
        to_numpy(std::move(cross_scores)), to_numpy(std::move(cross_labels)),
        to_numpy(std::move(ct)), to_numpy(std::move(found.error_starts), classes, clips + 1),
        to_numpy(std::move(error_scores)), to_numpy(std::move(onset)), to_numpy(std::move(offset)));
}

}  // namespace sedscope::python
