// Binds the criterion of active time, for whole clips and for recordings in pieces.
#include "criteria/active_time.hpp"

#include "python/criterion.hpp"

namespace sedscope::python {

namespace {

using Change = int32_t;

// The durations of the clips that are judged.
struct TimedClips {
    Vector<int64_t> durations;
};

auto kernels(const TimedClips& timed, std::size_t clips) {
    require(timed.durations.size() == clips, "one duration per clip is needed");
    return [&timed](auto zero) { return ActiveTime<decltype(zero)>(timed.durations.data()); };
}

EventDeltas find_deltas(const TimedClips& timed, const Clips& clips, const Truth& truth) {
    return deltas_of_clips<Change>(clips, truth, kernels(timed, clips.size()));
}

// The arrays of `timed` must live as long as the result, which Python sees to.
OpenRecording open_deltas(const TimedClips& timed, const Recording& recording, const Truth& truth) {
    return deltas_of_pieces<Change>(recording, truth, kernels(timed, 1));
}

EventDeltas find_deltas_of_events(const TimedClips& timed, const DetectedEvents& detected,
                                  const Truth& truth) {
    return deltas_of_events<Change>(detected, truth, kernels(timed, detected.clips()));
}

}  // namespace

void bind_active_time(nb::module_& module) {
    nb::class_<TimedClips>(
        module, "ActiveTime",
        R"(The time in which classes are active, rightly or wrongly, in clips of some ``durations``.

The references of a truth and its ignored ones, which are not judged, must not overlap. The columns
of the deltas are ``int32`` microseconds.)")
        .def(nb::init<Vector<int64_t>>(), "durations"_a.noconvert())
        .def("find_deltas", &find_deltas, "clips"_a, "truth"_a, "Find the deltas of whole clips.")
        .def(
            "find_deltas_of_events", &find_deltas_of_events, "detected"_a, "truth"_a,
            "Find the deltas of events as they come; where they overlap, the highest score counts.")
        .def("open_deltas", &open_deltas, "recording"_a, "truth"_a, nb::keep_alive<0, 1>(),
             opens_event_deltas, "Start to find the deltas of a recording.");
}

}  // namespace sedscope::python
