// Binds what all criteria share.
#include "python/criterion.hpp"

#include <nanobind/stl/optional.h>

namespace sedscope::python {

namespace {

void bind_deltas(nb::module_& module) {
    nb::class_<DetectionDeltas>(module, "DetectionDeltas",
                                R"(Changes of true positives and false positives.

In all deltas ``starts`` is (classes x (clips + 1)): the rows of class c and clip i are
``starts[c, i]:starts[c, i + 1]``. The other columns are changes of counts where the threshold falls
below ``scores[k]``, so that frames with ``score >= scores[k]`` are active.)")
        .def(
            "__init__",
            [](DetectionDeltas* self, NumpyArray<int64_t> starts, FloatArray scores, Changes tp,
               Changes fp) { new (self) DetectionDeltas{starts, scores, tp, fp}; },
            nb::kw_only(), "starts"_a, "scores"_a, "tp"_a, "fp"_a)
        .def_ro("starts", &DetectionDeltas::starts)
        .def_ro("scores", &DetectionDeltas::scores)
        .def_ro("tp", &DetectionDeltas::tp)
        .def_ro("fp", &DetectionDeltas::fp);
    nb::class_<CrossTriggerDeltas>(module, "CrossTriggerDeltas",
                                   "Changes ``ct`` of the cross-triggers on class ``labels``.")
        .def(
            "__init__",
            [](CrossTriggerDeltas* self, NumpyArray<int64_t> starts, FloatArray scores,
               NumpyArray<int32_t> labels,
               Changes ct) { new (self) CrossTriggerDeltas{starts, scores, labels, ct}; },
            nb::kw_only(), "starts"_a, "scores"_a, "labels"_a, "ct"_a)
        .def_ro("starts", &CrossTriggerDeltas::starts)
        .def_ro("scores", &CrossTriggerDeltas::scores)
        .def_ro("labels", &CrossTriggerDeltas::labels)
        .def_ro("ct", &CrossTriggerDeltas::ct);
    nb::class_<ErrorDeltas>(
        module, "ErrorDeltas",
        "Changes of the sums of signed onset and offset errors of the pairs, in microseconds.")
        .def_ro("starts", &ErrorDeltas::starts)
        .def_ro("scores", &ErrorDeltas::scores)
        .def_ro("onset", &ErrorDeltas::onset)
        .def_ro("offset", &ErrorDeltas::offset);
    nb::class_<PairDeltas>(module, "PairDeltas",
                           R"(Changes of the number of pairs if labels do not matter.

All classes are one, so ``starts`` is (1 x (clips + 1)).)")
        .def_ro("starts", &PairDeltas::starts)
        .def_ro("scores", &PairDeltas::scores)
        .def_ro("pairs", &PairDeltas::pairs);
    nb::class_<EventDeltas>(
        module, "EventDeltas",
        "All deltas of a criterion about events, at scores above each class's floor.")
        .def_ro("detections", &EventDeltas::detections)
        .def_ro("cross_triggers", &EventDeltas::cross_triggers)
        .def_ro("errors", &EventDeltas::errors);
}

void bind_diagnosis(nb::module_& module) {
    nb::class_<ThresholdTable>(module, "ThresholdTable", R"(Thresholds of each class.

Those of class c are ``values[starts[c]:starts[c + 1]]``, decreasing. None may be below the floor of
its class.)")
        .def(nb::init<ScoreVector, Vector<int64_t>>(), "values"_a.noconvert(),
             "starts"_a.noconvert());
    nb::class_<ClipErrors>(module, "ClipErrors",
                           "(clips x classes) false positives and false negatives.")
        .def_ro("fp", &ClipErrors::fp)
        .def_ro("fn", &ClipErrors::fn);
    nb::class_<JudgedEvents>(
        module, "JudgedEvents",
        "Detections and references of one clip and class at one threshold, with their error types.")
        .def_ro("detections", &JudgedEvents::detections, "(detections x 2) onset and offset.")
        .def_ro("detection_types", &JudgedEvents::detection_types)
        .def_ro("reference_types", &JudgedEvents::reference_types)
        .def_ro("pairs", &JudgedEvents::pairs, "Rows (detection, reference) of the pairs.")
        .def_ro("overlaps", &JudgedEvents::overlaps,
                "Rows (detection, reference) of those that share time.")
        .def_ro("cross_triggers", &JudgedEvents::cross_triggers,
                "Rows (detection, class) of the cross-triggers.");
}

}  // namespace

void bind_criteria(nb::module_& module) {
    bind_deltas(module);
    bind_diagnosis(module);
    nb::class_<Criterion>(module, "Criterion", "A criterion about events.")
        .def("find_deltas", &Criterion::find_deltas, "clips"_a, "truth"_a,
             "Find the deltas of whole clips.")
        .def("open_deltas", &Criterion::open_deltas, "recording"_a, "truth"_a, opens_event_deltas,
             "Start to find the deltas of a recording.")
        .def("count_error_types", &Criterion::count_error_types, "clips"_a, "truth"_a,
             "thresholds"_a,
             R"(Count references, then detections, of each error type.

Returns changes from threshold to threshold: (thresholds x types of both).)")
        .def("count_clip_errors", &Criterion::count_clip_errors, "clips"_a, "truth"_a,
             "thresholds"_a,
             "Count the errors of each clip and class at the first threshold of the class.")
        .def("judge_events", &Criterion::judge_events, "clips"_a, "truth"_a, "thresholds"_a,
             "clip"_a, "class_number"_a,
             "Judge the events of a clip and class at the first threshold of the class.");
    nb::class_<DetectedEvents>(
        module, "DetectedEvents",
        R"(Detected events of several clips, ordered by clip, class and onset; they may overlap.

``labels``: the class of each event. ``scores``: its confidence. ``starts``: the first event of each
clip, and the end. ``places``: where the system lists each event. ``classes``: the number of
classes.)")
        .def(nb::init<Matrix<int64_t>, Vector<int32_t>, Vector<double>, Vector<int64_t>,
                      Vector<int64_t>, std::size_t>(),
             "events"_a.noconvert(), "labels"_a.noconvert(), "scores"_a.noconvert(),
             "starts"_a.noconvert(), "places"_a.noconvert(), "classes"_a);
    nb::class_<OverlapCriterion, Criterion>(
        module, "OverlapCriterion",
        "A criterion that judges events as they come, even if they overlap.")
        .def("find_deltas_of_events", &OverlapCriterion::find_deltas_of_events, "detected"_a,
             "truth"_a, "Find the deltas of events that are detected as they are.");
    nb::class_<PairingCriterion, OverlapCriterion>(
        module, "PairingCriterion", "A criterion that makes pairs of a detection and a reference.")
        .def("find_label_free_pairs", &PairingCriterion::find_label_free_pairs, "clips"_a,
             "truth"_a, "Find how the number of pairs changes if labels do not matter.")
        .def("open_label_free_pairs", &PairingCriterion::open_label_free_pairs, "recording"_a,
             "truth"_a,
             nb::sig("def open_label_free_pairs(self, recording: Recording, truth: Truth) -> "
                     "OpenRecording[PairDeltas]"),
             "Start to find the same for a recording.");
}

}  // namespace sedscope::python
