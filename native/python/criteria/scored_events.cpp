// Binds what criteria ask of scored events that are kept as they are: which references they take,
// and how well a clip is hit.
#include "clips/best_events.hpp"
#include "criteria/greedy_pairing.hpp"
#include "criteria/query_overlap.hpp"
#include "criteria/query_precision.hpp"
#include "python/criterion.hpp"
#include "python/fractions.hpp"

namespace sedscope::python {

namespace {

// The `top` best events of each clip and class; see best_events.
DetectedEvents choose_best(const DetectedEvents& detected, std::size_t top, bool ranked) {
    const DetectionTable<double> table = detected.table();
    const Buffer<int64_t> kept = best_events(table, detected.clips(), top, ranked);
    Buffer<int64_t> events(2 * kept.size()), starts(detected.clips() + 1), places(kept.size());
    Buffer<int32_t> labels(kept.size());
    Buffer<double> scores(kept.size());
    std::size_t clip = 0;
    for (std::size_t i = 0; i < kept.size(); ++i) {
        const int64_t k = kept[i];
        for (; table.starts[clip] <= k; ++clip) starts[clip] = static_cast<int64_t>(i);
        events[2 * i] = table.events[k].onset;
        events[2 * i + 1] = table.events[k].offset;
        labels[i] = table.labels[k];
        scores[i] = table.scores[k];
        places[i] = table.places[k];
    }
    for (; clip < starts.size(); ++clip) starts[clip] = static_cast<int64_t>(kept.size());
    const std::size_t rows = kept.size();
    return {to_array<Matrix<int64_t>>(to_numpy(std::move(events), rows, 2)),
            to_array<Vector<int32_t>>(to_numpy(std::move(labels))),
            to_array<Vector<double>>(to_numpy(std::move(scores))),
            to_array<Vector<int64_t>>(to_numpy(std::move(starts))),
            to_array<Vector<int64_t>>(to_numpy(std::move(places))),
            detected.classes};
}

EventDeltas find_greedy_pairs(const DetectedEvents& detected, const Truth& truth,
                              FractionPair threshold, bool strict) {
    const IoU rule{{fraction_of(threshold)}, strict};
    const DetectedEvents ranked = choose_best(detected, detected.labels.size(), true);
    return deltas_of_events(ranked, truth, [&](double) { return GreedyPairing(rule); });
}

EventDeltas find_query_overlaps(const DetectedEvents& detected, const Truth& truth) {
    return deltas_of_events(detected, truth, [](double) { return QueryOverlap(); });
}

DetectedEvents keep_best(const DetectedEvents& detected, std::size_t top) {
    return choose_best(detected, top, false);
}

NumpyArray<double> query_precisions(const Matrix<int64_t>& starts, const Vector<double>& scores,
                                    const Vector<int8_t>& tp, const Vector<int8_t>& fp,
                                    const Matrix<int64_t>& references, bool interpolated,
                                    bool ranked) {
    const std::size_t classes = references.shape(0), clips = references.shape(1);
    require(starts.shape(0) == classes && starts.shape(1) == clips + 1,
            "clips + 1 starts are needed");
    require(tp.size() == scores.size() && fp.size() == scores.size(), "columns differ in length");
    require_starts(starts, scores.size());
    Buffer<double> values(classes * clips);
    {
        nb::gil_scoped_release release;
        QueryPrecision precision(interpolated, ranked);
        for (std::size_t c = 0; c < classes; ++c)
            for (std::size_t i = 0; i < clips; ++i) {
                const auto first = static_cast<std::size_t>(starts.data()[c * (clips + 1) + i]);
                const auto end = static_cast<std::size_t>(starts.data()[c * (clips + 1) + i + 1]);
                const int64_t number = references.data()[c * clips + i];
                double& value = values[c * clips + i] = 0;
                if (number > 0)
                    value = precision.of(scores.data() + first, tp.data() + first,
                                         fp.data() + first, end - first, number);
            }
    }
    return to_numpy(std::move(values), classes, clips);
}

}  // namespace

void bind_scored_events(nb::module_& module) {
    module.def(
        "find_greedy_pairs", &find_greedy_pairs, "detected"_a, "truth"_a, "threshold"_a,
        nb::kw_only(), "strict"_a,
        R"(Let the events take references one after the other, by falling score; see :class:`IoU`.)");
    module.def(
        "find_query_overlaps", &find_query_overlaps, "detected"_a, "truth"_a,
        R"(Find the largest intersection over union in each clip and class with references and events.

It is the score of the only row of the clip and class.)");
    module.def("keep_best", &keep_best, "detected"_a, "top"_a,
               R"(Keep the events with the highest scores of each clip and class.

Of equal scores, keep those that are listed first.)");
    module.def("query_precisions", &query_precisions, "starts"_a.noconvert(),
               "scores"_a.noconvert(), "tp"_a.noconvert(), "fp"_a.noconvert(),
               "references"_a.noconvert(), "interpolated"_a, "ranked"_a,
               R"(Return the average precision of each clip, from its deltas; 0 without references.

``starts`` is (classes x (clips + 1)), ``references`` (classes x clips), and so is the result.
``ranked``: of equal scores, rows come one after the other. Otherwise they come together.)");
}

}  // namespace sedscope::python
