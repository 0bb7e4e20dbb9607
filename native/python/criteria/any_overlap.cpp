// Binds the criterion of any overlap. It counts, and judges no single events: those that it counts
// are merged and cut.
#include "criteria/any_overlap.hpp"

#include <memory>
#include <utility>

#include "python/criterion.hpp"

namespace sedscope::python {

namespace {

EventDeltas find_deltas(const AnyOverlap& criterion, const Clips& clips, const Truth& truth) {
    const std::size_t classes = clips.columns().size();
    truth.require_shape(clips.size(), classes);
    return clips.visit([&](const auto& views) {
        using T = ScoreOf<decltype(views)>;
        const ReferenceTable references = truth.table();
        BatchJob<T> job(views, clips.columns(), references, data_of<T>(truth.maxima, "maxima"),
                        data_of<T>(truth.floors, "floors"));
        BatchDeltas<T> deltas;
        {
            nb::gil_scoped_release release;
            deltas =
                job.deltas([&] { return AnyOverlap::Kernel<T>(criterion); }, truth.threads);
        }
        return to_python(std::move(deltas), classes, views.size());
    });
}

OpenRecording open_deltas(const AnyOverlap& criterion, const Recording& recording,
                          const Truth& truth) {
    const std::size_t classes = recording.columns().size();
    truth.require_shape(1, classes);
    return recording.open(
        truth,
        [&](auto zero) {
            using T = decltype(zero);
            return std::make_unique<OpenClip<T, AnyOverlap::Kernel<T>>>(
                recording.columns(), truth.table(), recording.edges(), recording.boundaries(),
                data_of<T>(truth.floors, "floors"), truth.threads,
                [&] { return AnyOverlap::Kernel<T>(criterion); });
        },
        [classes](auto&& deltas) { return to_python(std::move(deltas), classes, 1); });
}

EventDeltas find_deltas_of_events(const AnyOverlap& criterion, const DetectedEvents& detected,
                                  const Truth& truth) {
    const std::size_t clips = detected.clips(), classes = detected.classes;
    truth.require_shape(clips, classes);
    EventJob<double> job(detected.table(), clips, classes, truth.table(),
                         data_of<double>(truth.floors, "floors"));
    BatchDeltas<double> deltas;
    {
        nb::gil_scoped_release release;
        deltas =
            job.deltas([&] { return AnyOverlap::Kernel<double>(criterion); }, truth.threads);
    }
    return to_python(std::move(deltas), classes, clips);
}

const CriterionBinding any_overlap([](nb::module_& module) {
    nb::class_<AnyOverlap>(module, "AnyOverlap")
        .def(
            "__init__",
            [](AnyOverlap* self, int64_t before, int64_t after, int64_t longest_gap,
               int64_t longest_piece) {
                new (self) AnyOverlap{before, after, longest_gap, longest_piece};
            },
            nb::kw_only(), "before"_a, "after"_a, "longest_gap"_a, "longest_piece"_a)
        .def("find_deltas", &find_deltas, "clips"_a, "truth"_a)
        .def("open_deltas", &open_deltas, "recording"_a, "truth"_a)
        .def("find_deltas_of_events", &find_deltas_of_events, "detected"_a, "truth"_a);
});

}  // namespace
}  // namespace sedscope::python
