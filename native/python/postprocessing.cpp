// Binds post-processing, which makes scores from the scores of one clip.
#include <nanobind/stl/optional.h>

#include <optional>
#include <vector>

#include "clips/view.hpp"
#include "core/parallel.hpp"
#include "postprocessing/event_boxes.hpp"
#include "postprocessing/frame_median.hpp"
#include "postprocessing/frame_ranks.hpp"
#include "postprocessing/hysteresis.hpp"
#include "postprocessing/maximum_gap.hpp"
#include "postprocessing/median_filter.hpp"
#include "postprocessing/minimum_duration.hpp"
#include "postprocessing/moving_average.hpp"
#include "postprocessing/peaks.hpp"
#include "postprocessing/step_function.hpp"
#include "python/arrays.hpp"

namespace sedscope::python {

namespace {

struct FramedScores {
    FloatArray values;
    NumpyArray<int64_t> edges;
};

struct ScoredPoints {
    NumpyArray<int64_t> times;
    NumpyArray<int32_t> columns;
    NumpyArray<double> scores;
};

// The classes of one clip; every column is a class.
template <class T>
class ClipColumns {
public:
    using Score = T;

    ClipColumns(const ScoreArray& values, const Vector<int64_t>& edges)
        : classes(values.shape(1)),
          frames(values.shape(0)),
          edges(edges.data()),
          view_(view_of<T>(values, edges.data(), "values")) {
        require(frames > 0 && edges.size() == frames + 1, "frames and frames + 1 edges are needed");
    }

    // Calls `work(column, class)` for each class.
    template <class Work>
    void each(Work&& work) const {
        std::vector<T> copy;
        Pauses pauses;
        for (std::size_t c = 0; c < classes; ++c) {
            work(load_column(view_, static_cast<int64_t>(c), copy), c);
            pauses.pause();
        }
    }

    const std::size_t classes, frames;
    const Time* const edges;

private:
    const ClipView<T> view_;
};

// Returns what `work` makes of the classes of one clip.
template <class Work>
auto with_columns(const ScoreArray& values, const Vector<int64_t>& edges, Work&& work) {
    if (values.dtype() == nb::dtype<double>()) return work(ClipColumns<double>(values, edges));
    return work(ClipColumns<float>(values, edges));
}

template <class Columns>
using ScoreOfColumns = typename std::decay_t<Columns>::Score;

// Scores (classes x frames) on the same frames. `run(column, out)` computes one class.
template <class Out, class Columns, class Run>
NumpyArray<Out> on_same_frames(const Columns& columns, Run&& run) {
    Buffer<Out> out(columns.classes * columns.frames);
    {
        nb::gil_scoped_release release;
        columns.each([&](const auto* column, std::size_t c) {
            run(column, out.data() + c * columns.frames);
        });
    }
    return to_numpy(std::move(out), columns.classes, columns.frames);
}

enum class OldFrames { keep, replace };

// Scores (classes x frames) on new frames, with their boundaries. `run(column, steps)` computes one
// class.
template <class Out, class Columns, class Run>
FramedScores on_new_frames(const Columns& columns, OldFrames old, Run&& run) {
    Buffer<Out> out;
    Buffer<Time> grid;
    {
        nb::gil_scoped_release release;
        std::vector<StepFunction<Out>> steps(columns.classes);
        columns.each([&](const auto* column, std::size_t c) { run(column, steps[c]); });
        const Time* const end = columns.edges + columns.frames;
        grid = common_grid(steps, {old == OldFrames::keep ? columns.edges : end, end}, *end);
        out = on_grid(steps, grid);
    }
    const std::size_t frames = grid.size() - 1;
    return {to_numpy(std::move(out), columns.classes, frames), to_numpy(std::move(grid))};
}

FramedScores median_filter(const ScoreArray& values, const Vector<int64_t>& edges, int64_t window) {
    require(window > 0, "the window must be longer than 0");
    return with_columns(values, edges, [&](const auto& columns) {
        using T = ScoreOfColumns<decltype(columns)>;
        const std::size_t frames = columns.frames;
        if (const std::size_t length = frames_in_window(columns.edges, frames, window)) {
            auto run = [&, ranking = FrameRanking<T>(), filter = FrameMedian(length)](
                           const T* column, T* out) mutable {
                filter.run(ranking.find(column, frames), frames, frames, out);
            };
            return FramedScores{on_same_frames<T>(columns, run),
                                nb::borrow<NumpyArray<int64_t>>(nb::cast(edges))};
        }
        // what looks at frames afterwards must not depend on where other classes change
        return on_new_frames<T>(
            columns, OldFrames::keep,
            [&, filter = MedianFilter<T>(window)](const T* column, StepFunction<T>& out) mutable {
                filter.run(column, columns.edges, columns.frames, out);
            });
    });
}

NumpyArray<double> moving_average(const ScoreArray& values, const Vector<int64_t>& edges,
                                  int64_t window) {
    return with_columns(values, edges, [&](const auto& columns) {
        using T = ScoreOfColumns<decltype(columns)>;
        return on_same_frames<double>(
            columns, [&, average = MovingAverage<T>(window)](const T* column, double* out) mutable {
                average.run(column, columns.edges, columns.frames, out);
            });
    });
}

// MinimumDuration or MaximumGap.
template <template <class> class Operation>
FloatArray by_length(const ScoreArray& values, const Vector<int64_t>& edges, int64_t length) {
    return with_columns(values, edges, [&](const auto& columns) -> FloatArray {
        using T = ScoreOfColumns<decltype(columns)>;
        return on_same_frames<T>(
            columns, [&, operation = Operation<T>(length)](const T* column, T* out) mutable {
                operation.run(column, columns.edges, columns.frames, out);
            });
    });
}

NumpyArray<double> hysteresis(const ScoreArray& values, const Vector<int64_t>& edges,
                              double difference, double ratio) {
    return with_columns(values, edges, [&](const auto& columns) {
        using T = ScoreOfColumns<decltype(columns)>;
        return on_same_frames<double>(
            columns, [&, operation = Hysteresis<T>()](const T* column, double* out) mutable {
                operation.run(column, columns.frames, out,
                              [&](double score) { return score / ratio + difference; });
            });
    });
}

FramedScores event_boxes(const ScoreArray& values, const Vector<int64_t>& edges, int64_t window,
                         std::optional<double> absolute, std::optional<double> relative) {
    require(window > 0, "the window must be longer than 0");
    return with_columns(values, edges, [&](const auto& columns) {
        using T = ScoreOfColumns<decltype(columns)>;
        return on_new_frames<double>(columns, OldFrames::replace,
                                     [&, boxes = EventBoxes<T>(window, {absolute, relative})](
                                         const T* column, StepFunction<double>& out) mutable {
                                         boxes.run(column, columns.edges, columns.frames, out);
                                     });
    });
}

ScoredPoints peaks(const ScoreArray& values, const Vector<int64_t>& edges, int64_t distance) {
    return with_columns(values, edges, [&](const auto& columns) {
        using T = ScoreOfColumns<decltype(columns)>;
        Buffer<Time> times;
        Buffer<int32_t> numbers;
        Buffer<double> scores;
        {
            nb::gil_scoped_release release;
            Peaks<T> operation(distance);
            columns.each([&](const T* column, std::size_t c) {
                operation.run(column, columns.edges, columns.frames, [&](Time time, T score) {
                    times.push(time);
                    numbers.push(static_cast<int32_t>(c));
                    scores.push(static_cast<double>(score));
                });
            });
        }
        return ScoredPoints{to_numpy(std::move(times)), to_numpy(std::move(numbers)),
                            to_numpy(std::move(scores))};
    });
}

}  // namespace

// All functions take one clip: (frames x classes) scores with at least one frame and no NaN, and
// frames + 1 boundaries. The scores that they return are (classes x frames).
void bind_postprocessing(nb::module_& module) {
    nb::class_<FramedScores>(module, "FramedScores",
                             "(classes x frames) scores with the boundaries of their frames.")
        .def_ro("values", &FramedScores::values)
        .def_ro("edges", &FramedScores::edges);
    nb::class_<ScoredPoints>(module, "ScoredPoints", "Points in time, ordered by column and time.")
        .def_ro("times", &ScoredPoints::times)
        .def_ro("columns", &ScoredPoints::columns)
        .def_ro("scores", &ScoredPoints::scores);
    module.def("median_filter", &median_filter, "values"_a.noconvert(), "edges"_a.noconvert(),
               "window"_a, "The median in a window around each time.");
    module.def("moving_average", &moving_average, "values"_a.noconvert(), "edges"_a.noconvert(),
               "window"_a, "The mean in a window around the middle of each frame.");
    module.def("minimum_duration", &by_length<MinimumDuration>, "values"_a.noconvert(),
               "edges"_a.noconvert(), "length"_a,
               "Scores without detections shorter than ``length``, at every threshold.");
    module.def("maximum_gap", &by_length<MaximumGap>, "values"_a.noconvert(), "edges"_a.noconvert(),
               "length"_a,
               "Scores without gaps of at most ``length`` between detections, at every threshold.");
    module.def("hysteresis", &hysteresis, "values"_a.noconvert(), "edges"_a.noconvert(),
               "difference"_a, "ratio"_a,
               R"(Scores of which each detection extends over further frames.

These have ``score / ratio + difference`` above the threshold.)");
    module.def("event_boxes", &event_boxes, "values"_a.noconvert(), "edges"_a.noconvert(),
               "window"_a, "absolute"_a.none(), "relative"_a.none(),
               R"(The mean score of each event box, ``-inf`` elsewhere.

Scores must be finite, and no frame may have a length of 0.)");
    module.def("peaks", &peaks, "values"_a.noconvert(), "edges"_a.noconvert(), "distance"_a,
               "The local maxima of each column that are at least ``distance`` from higher ones "
               "that stay.");
}

}  // namespace sedscope::python
