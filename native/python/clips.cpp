// Binds clips, their references, and what the core reads off clips without a criterion.
#include "python/clips.hpp"

#include <nanobind/stl/optional.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <type_traits>
#include <vector>

#include "clips/component_tree.hpp"
#include "clips/maxima.hpp"
#include "core/parallel.hpp"
#include "python/columns.hpp"
#include "python/truth.hpp"

namespace sedscope::python {

namespace {

struct ClipDetections {
    NumpyArray<int64_t> onsets, offsets;
    FloatArray scores, parents;
};

FloatArray maxima(const Clips& clips, std::size_t threads) {
    return clips.visit([&](const auto& views) -> FloatArray {
        const std::size_t classes = clips.columns().size();
        Buffer<ScoreOf<decltype(views)>> out(views.size() * classes);
        {
            nb::gil_scoped_release release;
            clip_maxima(views, clips.columns(), threads, out.data());
        }
        return to_numpy(std::move(out), views.size(), classes);
    });
}

// `starts`: of the spans of each pair of a clip and a class, and the end.
FloatArray maxima_outside(const Clips& clips, const Matrix<int64_t>& spans,
                          const Vector<int64_t>& starts, const Vector<int32_t>& pair_clips,
                          const Vector<int32_t>& pair_classes, int64_t shortest,
                          std::size_t threads) {
    const std::size_t pairs = pair_clips.size();
    require(spans.shape(1) == 2, "a span has two ends");
    require(starts.size() == pairs + 1 && pair_classes.size() == pairs, "columns differ in length");
    require_starts(starts, spans.shape(0));
    const auto* const intervals = reinterpret_cast<const Interval*>(spans.data());
    return clips.visit([&](const auto& views) -> FloatArray {
        Buffer<ScoreOf<decltype(views)>> out(pairs);
        for (std::size_t i = 0; i < pairs; ++i) {
            const int32_t clip = pair_clips.data()[i], label = pair_classes.data()[i];
            require(clip >= 0 && static_cast<std::size_t>(clip) < views.size() && label >= 0 &&
                        static_cast<std::size_t>(label) < clips.columns().size(),
                    "clip or class out of range");
        }
        {
            nb::gil_scoped_release release;
            constexpr std::size_t together = 64;
            parallel_for((pairs + together - 1) / together, threads, [&] {
                return [&](std::size_t part) {
                    const std::size_t last = std::min(pairs, (part + 1) * together);
                    for (std::size_t i = part * together; i < last; ++i) {
                        const int64_t first = starts.data()[i];
                        const auto label = static_cast<std::size_t>(pair_classes.data()[i]);
                        out[i] = maximum_outside(
                            views[static_cast<std::size_t>(pair_clips.data()[i])],
                            clips.columns()[label], intervals + first,
                            static_cast<std::size_t>(starts.data()[i + 1] - first), shortest);
                    }
                };
            });
        }
        return to_numpy(std::move(out));
    });
}

ClipDetections detections(const Clips& clips, std::size_t clip, std::size_t class_number) {
    require(clip < clips.size(), "clip out of range");
    require(class_number < clips.columns().size(), "class out of range");
    return clips.visit([&](const auto& views) {
        using T = ScoreOf<decltype(views)>;
        Buffer<int64_t> onsets, offsets;
        Buffer<T> scores, parents;
        std::vector<T> copy;
        const T* column = load_column(views[clip], clips.columns()[class_number], copy);
        const Time* edges = views[clip].edges;
        auto add = [&](const Detection<T>& detection, int32_t*) {
            onsets.push(edges[detection.first]);
            offsets.push(edges[detection.end]);
            scores.push(detection.score);
            parents.push(detection.parent);
        };
        auto ignore = [](T, const int32_t*) {};
        ComponentTree<T> tree;
        tree.begin(-std::numeric_limits<T>::infinity(), 0);
        tree.feed(column, views[clip].frames, add, ignore);
        tree.finish(add, ignore);
        return ClipDetections{to_numpy(std::move(onsets)), to_numpy(std::move(offsets)),
                              to_numpy(std::move(scores)), to_numpy(std::move(parents))};
    });
}

}  // namespace

Clips::Clips(const DetectedEvents& detected) : events_(detected), detected_(events_->table()) {
    columns_.resize(detected.classes);
    std::iota(columns_.begin(), columns_.end(), 0);
    auto& views = views_.emplace<std::vector<ClipView<double>>>();
    for (std::size_t i = 0; i < detected.clips(); ++i) {
        std::vector<Time>& times = boundaries_.emplace_back();
        for (int64_t k = detected_->starts[i]; k < detected_->starts[i + 1]; ++k) {
            times.push_back(detected_->events[k].onset);
            times.push_back(detected_->events[k].offset);
        }
        if (times.empty()) times.push_back(0);
        std::sort(times.begin(), times.end());
        times.erase(std::unique(times.begin(), times.end()), times.end());
        views.push_back({nullptr, 1, 0, times.size() - 1, times.data()});
    }
}

Clips::Clips(const Columns& kept, const EdgeList& edges) {
    kept.visit([&](const auto& store) {
        using T = typename std::decay_t<decltype(store)>::Score;
        columns_.resize(store.classes());
        std::iota(columns_.begin(), columns_.end(), 0);
        const auto& table = starts_.emplace<std::vector<const T*>>(store.table(edges.size()));
        auto& views = views_.emplace<std::vector<ClipView<T>>>();
        for (std::size_t i = 0; i < edges.size(); ++i) {
            const auto& times = edges_.emplace_back(to_array<Vector<int64_t>>(edges[i]));
            require(times.size() > 1, "a clip needs frames");
            views.push_back({nullptr, 1, 0, times.size() - 1, times.data(),
                             table.data() + i * store.classes()});
        }
    });
}

void bind_clips(nb::module_& module) {
    nb::class_<Events>(module, "Events", R"(Events of some clips.

``events``: (onset, offset) ordered by clip, class and onset. ``labels``: the class of each event.
``starts``: the first event of each clip, and the end.)")
        .def(nb::init<Matrix<int64_t>, Vector<int32_t>, Vector<int64_t>>(), "events"_a.noconvert(),
             "labels"_a.noconvert(), "starts"_a.noconvert());
    nb::class_<Truth>(module, "Truth",
                      R"(References of some clips, and what limits the work on the clips.

``references``: those that count; those of one clip and class do not overlap. ``ignored``: those
that need not be found, if there are any. ``maxima``: (clips x classes) the largest score.
``floors``: per class, the score at or below which nothing is detected.)")
        .def(
            "__init__",
            [](Truth* self, const Events& references, const std::optional<Events>& ignored,
               ScoreMatrix maxima, ScoreVector floors, std::size_t threads) {
                new (self) Truth{references, ignored, maxima, floors, threads};
            },
            "references"_a, "ignored"_a.none(), "maxima"_a.noconvert(), "floors"_a.noconvert(),
            "threads"_a);
    nb::class_<ClipDetections>(module, "ClipDetections", R"(All detections of one clip and class.

Detection i exists for thresholds from ``parents[i]`` (included) up to ``scores[i]`` (excluded).)")
        .def_ro("onsets", &ClipDetections::onsets)
        .def_ro("offsets", &ClipDetections::offsets)
        .def_ro("scores", &ClipDetections::scores)
        .def_ro("parents", &ClipDetections::parents,
                "The score at which each becomes part of a larger detection; ``-inf`` if never.");
    nb::class_<Clips>(module, "Clips", R"(Scores of several clips.

``values``: (frames x columns) arrays of one float type with any strides. ``edges``: the
frames + 1 boundaries of each clip. ``columns``: the column of each class.)")
        .def(nb::init<const ValueList&, const EdgeList&, const Vector<int64_t>&>(), "values"_a,
             "edges"_a, "columns"_a.noconvert())
        .def(nb::init<const Columns&, const EdgeList&>(), "kept"_a, "edges"_a,
             nb::keep_alive<1, 2>(),
             "Clips of which only some columns are kept. The others are ``-inf`` throughout.")
        .def(nb::init<const DetectedEvents&>(), "detected"_a,
             "Clips with events as they come, for the diagnosis of errors. They have no scores of "
             "frames.")
        .def("maxima", &maxima, "threads"_a,
             "Return the largest score per clip and class; NaN where a score is NaN.")
        .def(
            "maxima_outside", &maxima_outside, "spans"_a.noconvert(), "starts"_a.noconvert(),
            "clips"_a.noconvert(), "classes"_a.noconvert(), "shortest"_a, "threads"_a,
            R"(Return for each pair of clip and class the largest score outside of its spans of time.

Frames that a span touches, or shorter than ``shortest``, are left out. ``starts``: of the spans of
each pair, ordered by onset, and the end.)")
        .def("detections", &detections, "clip"_a, "class_number"_a,
             "Return all detections of a clip and class.");
}

}  // namespace sedscope::python
