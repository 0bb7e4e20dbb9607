// Binds the criterion of active time, for whole clips and for recordings in pieces.
#include "criteria/active_time.hpp"

#include <memory>
#include <utility>

#include "python/criterion.hpp"

namespace sedscope::python {

namespace {

using Change = int32_t;

// The durations of the clips that are judged.
struct TimedClips {
    Vector<int64_t> durations;
};

EventDeltas find_time(const TimedClips& timed, const Clips& clips, const Truth& truth) {
    const std::size_t classes = clips.columns().size();
    truth.require_shape(clips.size(), classes);
    require(timed.durations.size() == clips.size(), "one duration per clip is needed");
    return clips.visit([&](const auto& views) {
        using T = ScoreOf<decltype(views)>;
        const ReferenceTable references = truth.table();
        BatchJob<T, Change> job(views, clips.columns(), references,
                                data_of<T>(truth.maxima, "maxima"),
                                data_of<T>(truth.floors, "floors"));
        BatchDeltas<T, Change> deltas;
        {
            nb::gil_scoped_release release;
            deltas = job.deltas([&] { return ActiveTime<T>(timed.durations.data()); },
                                truth.threads);
        }
        return to_python(std::move(deltas), classes, views.size());
    });
}

EventDeltas find_time_of_events(const TimedClips& timed, const DetectedEvents& detected,
                                const Truth& truth) {
    require(timed.durations.size() == detected.clips(), "one duration per clip is needed");
    return deltas_of_events<Change>(detected, truth,
                                    [&] { return ActiveTime<double>(timed.durations.data()); });
}

// The arrays of `timed` must live as long as the result, which Python sees to.
OpenRecording open_time(const TimedClips& timed, const Recording& recording, const Truth& truth) {
    const std::size_t classes = recording.columns().size();
    truth.require_shape(1, classes);
    require(timed.durations.size() == 1, "one duration is needed");
    return recording.open(
        truth,
        [&](auto zero) {
            using T = decltype(zero);
            return std::make_unique<OpenClip<T, ActiveTime<T>, Change>>(
                recording.columns(), truth.table(), recording.edges(), recording.boundaries(),
                data_of<T>(truth.floors, "floors"), truth.threads,
                [&] { return ActiveTime<T>(timed.durations.data()); });
        },
        [classes](auto&& deltas) { return to_python(std::move(deltas), classes, 1); });
}

const CriterionBinding active_time([](nb::module_& module) {
    nb::class_<TimedClips>(module, "ActiveTime")
        .def(nb::init<Vector<int64_t>>(), "durations"_a.noconvert())
        .def("find_deltas", &find_time, "clips"_a, "truth"_a)
        .def("find_deltas_of_events", &find_time_of_events, "detected"_a, "truth"_a)
        .def("open_deltas", &open_time, "recording"_a, "truth"_a, nb::keep_alive<0, 1>());
});

}  // namespace
}  // namespace sedscope::python
