// Binds the criterion of any overlap. It counts, and judges no single events: those that it counts
// are merged and cut.
#include "criteria/any_overlap.hpp"

#include "python/criterion.hpp"

namespace sedscope::python {

namespace {

auto kernels(const AnyOverlap& criterion) {
    return [&criterion](auto zero) { return AnyOverlap::Kernel<decltype(zero)>(criterion); };
}

EventDeltas find_deltas(const AnyOverlap& criterion, const Clips& clips, const Truth& truth) {
    return deltas_of_clips(clips, truth, kernels(criterion));
}

OpenRecording open_deltas(const AnyOverlap& criterion, const Recording& recording,
                          const Truth& truth) {
    return deltas_of_pieces(recording, truth, kernels(criterion));
}

EventDeltas find_deltas_of_events(const AnyOverlap& criterion, const DetectedEvents& detected,
                                  const Truth& truth) {
    return deltas_of_events(detected, truth, kernels(criterion));
}

}  // namespace

void bind_any_overlap(nb::module_& module) {
    nb::class_<AnyOverlap>(module, "AnyOverlap",
                           R"(A reference is found by any detection that overlaps its window.

A negative ``longest_gap`` closes no gaps, a ``longest_piece`` of zero cuts no detections.)")
        .def(
            "__init__",
            [](AnyOverlap* self, int64_t before, int64_t after, int64_t longest_gap,
               int64_t longest_piece) {
                new (self) AnyOverlap{before, after, longest_gap, longest_piece};
            },
            nb::kw_only(), "before"_a, "after"_a, "longest_gap"_a, "longest_piece"_a)
        .def("find_deltas", &find_deltas, "clips"_a, "truth"_a, "Find the deltas of whole clips.")
        .def("open_deltas", &open_deltas, "recording"_a, "truth"_a, opens_event_deltas,
             "Start to find the deltas of a recording.")
        .def("find_deltas_of_events", &find_deltas_of_events, "detected"_a, "truth"_a,
             "Find the deltas of events that are detected as they are, even if they overlap.");
}

}  // namespace sedscope::python
