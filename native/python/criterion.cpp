// Binds what all criteria share, and then each criterion of native/python/criteria.
#include "python/criterion.hpp"

#include <nanobind/stl/optional.h>

namespace sedscope::python {

namespace {

void bind_deltas(nb::module_& module) {
    nb::class_<DetectionDeltas>(module, "DetectionDeltas")
        .def(
            "__init__",
            [](DetectionDeltas* self, nb::object starts, nb::object scores, nb::object tp,
               nb::object fp) { new (self) DetectionDeltas{starts, scores, tp, fp}; },
            nb::kw_only(), "starts"_a, "scores"_a, "tp"_a, "fp"_a)
        .def_ro("starts", &DetectionDeltas::starts)
        .def_ro("scores", &DetectionDeltas::scores)
        .def_ro("tp", &DetectionDeltas::tp)
        .def_ro("fp", &DetectionDeltas::fp);
    nb::class_<CrossTriggerDeltas>(module, "CrossTriggerDeltas")
        .def(
            "__init__",
            [](CrossTriggerDeltas* self, nb::object starts, nb::object scores, nb::object labels,
               nb::object ct) { new (self) CrossTriggerDeltas{starts, scores, labels, ct}; },
            nb::kw_only(), "starts"_a, "scores"_a, "labels"_a, "ct"_a)
        .def_ro("starts", &CrossTriggerDeltas::starts)
        .def_ro("scores", &CrossTriggerDeltas::scores)
        .def_ro("labels", &CrossTriggerDeltas::labels)
        .def_ro("ct", &CrossTriggerDeltas::ct);
    nb::class_<ErrorDeltas>(module, "ErrorDeltas")
        .def_ro("starts", &ErrorDeltas::starts)
        .def_ro("scores", &ErrorDeltas::scores)
        .def_ro("onset", &ErrorDeltas::onset)
        .def_ro("offset", &ErrorDeltas::offset);
    nb::class_<PairDeltas>(module, "PairDeltas")
        .def_ro("starts", &PairDeltas::starts)
        .def_ro("scores", &PairDeltas::scores)
        .def_ro("pairs", &PairDeltas::pairs);
    nb::class_<EventDeltas>(module, "EventDeltas")
        .def_ro("detections", &EventDeltas::detections)
        .def_ro("cross_triggers", &EventDeltas::cross_triggers)
        .def_ro("errors", &EventDeltas::errors);
}

void bind_diagnosis(nb::module_& module) {
    nb::class_<ThresholdTable>(module, "ThresholdTable")
        .def(nb::init<AnyVector, Vector<int64_t>>(), "values"_a.noconvert(),
             "starts"_a.noconvert());
    nb::class_<ClipErrors>(module, "ClipErrors")
        .def_ro("fp", &ClipErrors::fp)
        .def_ro("fn", &ClipErrors::fn);
    nb::class_<JudgedEvents>(module, "JudgedEvents")
        .def_ro("detections", &JudgedEvents::detections)
        .def_ro("detection_types", &JudgedEvents::detection_types)
        .def_ro("reference_types", &JudgedEvents::reference_types)
        .def_ro("pairs", &JudgedEvents::pairs)
        .def_ro("overlaps", &JudgedEvents::overlaps)
        .def_ro("cross_triggers", &JudgedEvents::cross_triggers);
}

}  // namespace

void bind_criteria(nb::module_& module) {
    bind_deltas(module);
    bind_diagnosis(module);
    nb::class_<Criterion>(module, "Criterion")
        .def("find_deltas", &Criterion::find_deltas, "clips"_a, "truth"_a)
        .def("open_deltas", &Criterion::open_deltas, "recording"_a, "truth"_a)
        .def("count_error_types", &Criterion::count_error_types, "clips"_a, "truth"_a,
             "thresholds"_a)
        .def("count_clip_errors", &Criterion::count_clip_errors, "clips"_a, "truth"_a,
             "thresholds"_a)
        .def("judge_events", &Criterion::judge_events, "clips"_a, "truth"_a, "thresholds"_a,
             "clip"_a, "class_number"_a);
    nb::class_<DetectedEvents>(module, "DetectedEvents")
        .def(nb::init<Matrix<int64_t>, Vector<int32_t>, Vector<double>, Vector<int64_t>,
                      Vector<int64_t>, std::size_t>(),
             "events"_a.noconvert(), "labels"_a.noconvert(), "scores"_a.noconvert(),
             "starts"_a.noconvert(), "places"_a.noconvert(), "classes"_a);
    nb::class_<OverlapCriterion, Criterion>(module, "OverlapCriterion")
        .def("find_deltas_of_events", &OverlapCriterion::find_deltas_of_events, "detected"_a,
             "truth"_a);
    nb::class_<PairingCriterion, OverlapCriterion>(module, "PairingCriterion")
        .def("find_label_free_pairs", &PairingCriterion::find_label_free_pairs, "clips"_a,
             "truth"_a)
        .def("open_label_free_pairs", &PairingCriterion::open_label_free_pairs, "recording"_a,
             "truth"_a);
    for (const auto bind : CriterionBinding::all()) bind(module);
}

}  // namespace sedscope::python
