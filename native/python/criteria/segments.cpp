// Binds the scores of segments, for whole clips and for recordings in pieces.
#include "criteria/segments.hpp"

#include <memory>
#include <optional>

#include "python/criterion.hpp"

namespace sedscope::python {

namespace {

// Calls `use(zero)` with a zero of the type of the segments' scores: that of the frames for the
// maximum, double for the mean.
template <class T, class Use>
auto with_output_type(const Segmentation& segmentation, Use&& use) {
    return segmentation.mean ? use(double{}) : use(T{});
}

// Clip i has the segments [starts[i], starts[i + 1]).
FloatArray find_scores(const Segmentation& segmentation, const Clips& clips,
                       const Vector<int64_t>& starts, const Vector<int64_t>& durations,
                       std::size_t threads) {
    require(clips.has_frames(), "segments need whole clips");
    require(starts.size() == clips.size() + 1 && durations.size() == clips.size(),
            "clips + 1 starts and one duration per clip are needed");
    const auto segments = static_cast<std::size_t>(starts.data()[clips.size()]);
    const std::size_t classes = clips.columns().size();
    return clips.visit([&](const auto& views) {
        using T = ScoreOf<decltype(views)>;
        return with_output_type<T>(segmentation, [&](auto zero) -> FloatArray {
            Buffer<decltype(zero)> out(segments * classes);
            {
                nb::gil_scoped_release release;
                segment_scores(views, clips.columns(), starts.data(), durations.data(),
                               segmentation, threads, out.data());
            }
            return to_numpy(std::move(out), segments, classes);
        });
    });
}

// The highest score of the events in each segment. The segments of a clip are given as for
// `find_scores`.
NumpyArray<double> find_scores_of_events(const Segmentation& segmentation,
                                         const DetectedEvents& detected,
                                         const Vector<int64_t>& starts,
                                         const Vector<int64_t>& durations, std::size_t threads) {
    require(!segmentation.mean, "events have no mean");
    const std::size_t clips = detected.clips();
    require(starts.size() == clips + 1 && durations.size() == clips,
            "clips + 1 starts and one duration per clip are needed");
    const auto segments = static_cast<std::size_t>(starts.data()[clips]);
    Buffer<double> out(segments * detected.classes);
    {
        nb::gil_scoped_release release;
        segment_scores(detected.table(), clips, detected.classes, starts.data(), durations.data(),
                       segmentation.length, threads, out.data());
    }
    return to_numpy(std::move(out), segments, detected.classes);
}

OpenRecording open_scores(const Segmentation& segmentation, const Recording& recording,
                          std::size_t segments, int64_t duration) {
    auto to_python = [segments, classes = recording.columns().size()](auto&& scores) {
        return to_numpy(std::move(scores), segments, classes);
    };
    auto open = [&](auto make_output) {
        return recording.open(
            std::nullopt,
            [&](auto zero) {
                using T = decltype(zero);
                using Out = decltype(make_output(zero));
                return std::make_unique<OpenSegments<T, Out>>(
                    recording.columns(), recording.edges(), duration, segments, segmentation);
            },
            to_python);
    };
    if (segmentation.mean) return open([](auto) { return double{}; });
    return open([](auto zero) { return zero; });
}

}  // namespace

void bind_segments(nb::module_& module) {
    nb::class_<Segmentation>(
        module, "Segmentation",
        "Segments of one length. Their score is the largest of the frames, or the mean.")
        .def(
            "__init__",
            [](Segmentation* self, int64_t length, bool mean) {
                new (self) Segmentation{length, mean};
            },
            "length"_a, "mean"_a)
        .def("find_scores", &find_scores, "clips"_a, "starts"_a.noconvert(),
             "durations"_a.noconvert(), "threads"_a,
             R"(Score the segments of whole clips: (segments x classes).

``starts``: the first segment of each clip, and the end.)")
        .def("find_scores_of_events", &find_scores_of_events, "detected"_a, "starts"_a.noconvert(),
             "durations"_a.noconvert(), "threads"_a,
             "Score the segments of clips with events: the highest score of those that share time "
             "with it.")
        .def("open_scores", &open_scores, "recording"_a, "segments"_a, "duration"_a,
             nb::sig("def open_scores(self, recording: Recording, segments: int, duration: int) -> "
                     "OpenRecording[numpy.typing.NDArray[numpy.float32 | numpy.float64]]"),
             "Start to score the segments of a recording.");
}

}  // namespace sedscope::python
