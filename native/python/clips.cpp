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
#include "python/columns.hpp"
#include "python/truth.hpp"

namespace sedscope::python {

namespace {

struct ClipDetections {
    nb::object onsets, offsets, scores, parents;
};

nb::object maxima(const Clips& clips, std::size_t threads) {
    return clips.visit([&](const auto& views) {
        const std::size_t classes = clips.columns().size();
        Buffer<ScoreOf<decltype(views)>> out(views.size() * classes);
        {
            nb::gil_scoped_release release;
            clip_maxima(views, clips.columns(), threads, out.data());
        }
        return to_numpy(std::move(out), views.size(), classes);
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

Clips::Clips(const Columns& kept, const nb::list& edges) {
    kept.visit([&](const auto& store) {
        using T = typename std::decay_t<decltype(store)>::Score;
        columns_.resize(store.classes());
        std::iota(columns_.begin(), columns_.end(), 0);
        const auto& table = starts_.emplace<std::vector<const T*>>(store.table(nb::len(edges)));
        auto& views = views_.emplace<std::vector<ClipView<T>>>();
        for (std::size_t i = 0; i < nb::len(edges); ++i) {
            const auto& times = edges_.emplace_back(to_array<Vector<int64_t>>(edges[i]));
            require(times.size() > 1, "a clip needs frames");
            views.push_back({nullptr, 1, 0, times.size() - 1, times.data(),
                             table.data() + i * store.classes()});
        }
    });
}

void bind_clips(nb::module_& module) {
    nb::class_<Events>(module, "Events")
        .def(nb::init<Matrix<int64_t>, Vector<int32_t>, Vector<int64_t>>(), "events"_a.noconvert(),
             "labels"_a.noconvert(), "starts"_a.noconvert());
    nb::class_<Truth>(module, "Truth")
        .def(
            "__init__",
            [](Truth* self, const Events& references, const std::optional<Events>& ignored,
               AnyMatrix maxima, AnyVector floors, std::size_t threads) {
                new (self) Truth{references, ignored, maxima, floors, threads};
            },
            "references"_a, "ignored"_a.none(), "maxima"_a.noconvert(), "floors"_a.noconvert(),
            "threads"_a);
    nb::class_<ClipDetections>(module, "ClipDetections")
        .def_ro("onsets", &ClipDetections::onsets)
        .def_ro("offsets", &ClipDetections::offsets)
        .def_ro("scores", &ClipDetections::scores)
        .def_ro("parents", &ClipDetections::parents);
    nb::class_<Clips>(module, "Clips")
        .def(nb::init<const nb::list&, const nb::list&, const Vector<int64_t>&>(), "values"_a,
             "edges"_a, "columns"_a.noconvert())
        .def(nb::init<const Columns&, const nb::list&>(), "kept"_a, "edges"_a,
             nb::keep_alive<1, 2>())
        .def(nb::init<const DetectedEvents&>(), "detected"_a)
        .def("maxima", &maxima, "threads"_a)
        .def("detections", &detections, "clip"_a, "class_number"_a);
}

}  // namespace sedscope::python
