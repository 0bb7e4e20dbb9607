// Finds the deltas of a kernel for Python: in whole clips, in recordings in pieces, and of scored
// events as they come.
//
// `make_kernel(zero)` is called once per thread, and returns the kernel for scores of the type of
// `zero`. `Change` is the type of the kernel's changes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "counting/batch_job.hpp"
#include "counting/event_job.hpp"
#include "counting/open_clip.hpp"
#include "python/arrays.hpp"
#include "python/clips.hpp"
#include "python/deltas.hpp"
#include "python/detected_events.hpp"
#include "python/recording.hpp"
#include "python/truth.hpp"

namespace sedscope::python {

template <class Change = int8_t, class MakeKernel>
EventDeltas deltas_of_clips(const Clips& clips, const Truth& truth, MakeKernel&& make_kernel) {
    const std::size_t classes = clips.columns().size();
    truth.require_shape(clips.size(), classes);
    return clips.visit([&](const auto& views) {
        using T = ScoreOf<decltype(views)>;
        const ReferenceTable references = truth.table();
        BatchJob<T, Change> job(views, clips.columns(), references,
                                data_of<T>(truth.maxima, "maxima"),
                                data_of<T>(truth.floors, "floors"));
        BatchDeltas<T, Change> deltas;
        {
            nb::gil_scoped_release release;
            deltas = job.deltas([&] { return make_kernel(T{}); }, truth.threads);
        }
        return to_python(std::move(deltas), classes, views.size());
    });
}

inline const nb::sig opens_event_deltas(
    "def open_deltas(self, recording: Recording, truth: Truth) -> OpenRecording[EventDeltas]");

template <class Change = int8_t, class MakeKernel>
OpenRecording deltas_of_pieces(const Recording& recording, const Truth& truth,
                               MakeKernel&& make_kernel) {
    const std::size_t classes = recording.columns().size();
    truth.require_shape(1, classes);
    return recording.open(
        truth,
        [&](auto zero) {
            using Kernel = decltype(make_kernel(zero));
            return std::make_unique<OpenClip<decltype(zero), Kernel, Change>>(
                recording.columns(), truth.table(), recording.edges(), recording.boundaries(),
                data_of<decltype(zero)>(truth.floors, "floors"), truth.threads,
                [&] { return make_kernel(zero); });
        },
        [classes](auto&& deltas) { return to_python(std::move(deltas), classes, 1); });
}

template <class Change = int8_t, class MakeKernel>
EventDeltas deltas_of_events(const DetectedEvents& detected, const Truth& truth,
                             MakeKernel&& make_kernel) {
    const std::size_t clips = detected.clips(), classes = detected.classes;
    truth.require_shape(clips, classes);
    EventJob<double, Change> job(detected.table(), clips, classes, truth.table(),
                                 data_of<double>(truth.floors, "floors"));
    BatchDeltas<double, Change> deltas;
    {
        nb::gil_scoped_release release;
        deltas = job.deltas([&] { return make_kernel(double{}); }, truth.threads);
    }
    return to_python(std::move(deltas), classes, clips);
}

}  // namespace sedscope::python
