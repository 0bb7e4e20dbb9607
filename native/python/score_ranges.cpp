// Binds ranges of scores, and deltas without those that nobody reads.
#include "counting/score_ranges.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "core/parallel.hpp"
#include "python/delta_table.hpp"

namespace sedscope::python {

namespace {

template <class T>
struct RangesOfClasses {
    DeltaTable<T, int8_t> table;
    std::vector<std::optional<ScoreRanges<T>>> ranges;
};

class Ranges {
public:
    Ranges(const Ranges&) = delete;
    Ranges(const DetectionDeltas& detections,
           const std::optional<CrossTriggerDeltas>& cross_triggers, std::size_t rows_per_range,
           std::size_t threads) {
        with_score_type(detections, [&](auto zero) {
            using T = decltype(zero);
            auto& of_type = of_classes_.template emplace<std::optional<RangesOfClasses<T>>>();
            of_type.emplace(RangesOfClasses<T>{{detections, cross_triggers}, {}});
            divide(*of_type, rows_per_range, threads);
        });
    }

    NumpyArray<float> fewest(std::size_t c) const {
        return of_clips<float>(c, [](const auto& ranges) { return ranges.fewest(); });
    }
    NumpyArray<int32_t> tp(std::size_t c) const {
        return of_clips<int32_t>(c, [](const auto& ranges) { return ranges.tp(); });
    }
    NumpyArray<int32_t> fp(std::size_t c) const {
        return of_clips<int32_t>(c, [](const auto& ranges) { return ranges.fp(); });
    }

    // `unread`: per class, whether nobody reads a range.
    std::pair<DetectionDeltas, CrossTriggerDeltas> without(const std::vector<Vector<bool>>& unread,
                                                           std::size_t threads) const {
        return std::visit([&](const auto& of_type) { return thinned(*of_type, unread, threads); },
                          of_classes_);
    }

private:
    template <class T>
    void divide(RangesOfClasses<T>& of_type, std::size_t rows_per_range, std::size_t threads) {
        const auto& table = of_type.table;
        auto& ranges = of_type.ranges;
        ranges.resize(table.classes());
        nb::gil_scoped_release release;
        parallel_for(ranges.size(), threads, [&] {
            return [&](std::size_t c) { ranges[c].emplace(table.rows(c), rows_per_range); };
        });
    }

    // (clips x ranges) of a class. The array is a view that keeps this object alive.
    template <class Count, class Get>
    NumpyArray<Count> of_clips(std::size_t c, Get&& get) const {
        return std::visit(
            [&](const auto& of_type) {
                const auto& ranges = *of_type->ranges.at(c);
                return nb::borrow<NumpyArray<Count>>(
                    nb::ndarray<nb::numpy, const Count>(
                        get(ranges), {ranges.clips(), ranges.count()}, nb::find(this))
                        .cast());
            },
            of_classes_);
    }

    template <class T>
    static std::pair<DetectionDeltas, CrossTriggerDeltas> thinned(
        const RangesOfClasses<T>& of_type, const std::vector<Vector<bool>>& unread,
        std::size_t threads) {
        const std::size_t classes = of_type.ranges.size(), clips = of_type.table.clips();
        require(unread.size() == classes, "unread ranges of each class are needed");
        for (std::size_t c = 0; c < classes; ++c)
            require(unread[c].size() == of_type.ranges[c]->count(),
                    "one value per range is needed");
        std::vector<OwnedRows<T>> kept(classes);
        {
            nb::gil_scoped_release release;
            parallel_for(classes, threads, [&] {
                return [&](std::size_t c) {
                    kept[c] = of_type.ranges[c]->without(unread[c].data(), classes);
                };
            });
        }
        auto joined = [&](auto column) {
            std::decay_t<decltype(kept[0].*column)> all;
            std::size_t size = 0;
            for (const auto& rows : kept) size += (rows.*column).size();
            all.assign(size);
            auto* out = all.data();
            for (const auto& rows : kept)
                out = std::copy((rows.*column).begin(), (rows.*column).end(), out);
            return to_numpy(std::move(all));
        };
        auto starts = [&](auto ends) {
            Buffer<int64_t> all(classes * (clips + 1));
            int64_t before = 0;
            int64_t* out = all.data();
            for (const auto& rows : kept) {
                *out++ = before;
                for (std::size_t clip = 0; clip < clips; ++clip)
                    *out++ = before + ((rows.*ends).size() ? (rows.*ends)[clip] : 0);
                before = out[-1];
            }
            return to_numpy(std::move(all), classes, clips + 1);
        };
        using Rows = OwnedRows<T>;
        return {{starts(&Rows::ends), joined(&Rows::scores), joined(&Rows::tp), joined(&Rows::fp)},
                {starts(&Rows::cross_ends), joined(&Rows::cross_scores),
                 joined(&Rows::cross_labels), joined(&Rows::ct)}};
    }

    std::variant<std::optional<RangesOfClasses<float>>, std::optional<RangesOfClasses<double>>>
        of_classes_;
};

}  // namespace

void bind_score_ranges(nb::module_& module) {
    nb::class_<Ranges>(module, "ScoreRanges",
                       R"(Ranges of the scores of each class, by decreasing score.

Each has at least ``rows_per_range`` rows.)")
        .def(nb::init<const DetectionDeltas&, const std::optional<CrossTriggerDeltas>&, std::size_t,
                      std::size_t>(),
             "detections"_a, "cross_triggers"_a.none(), "rows_per_range"_a, "threads"_a)
        .def("fewest", &Ranges::fewest, "label"_a,
             "(clips x ranges) no more false positives than a clip has anywhere in a range.")
        .def("tp", &Ranges::tp, "label"_a, "(clips x ranges) true positives at the end of a range.")
        .def("fp", &Ranges::fp, "label"_a,
             "(clips x ranges) false positives at the end of a range.")
        .def(
            "without", &Ranges::without, "unread"_a.noconvert(), "threads"_a,
            R"(Merge the changes in unread ranges, per clip, at the lowest score of consecutive ones.

Counts at all scores in other ranges stay the same. ``unread``: per class, of each range.)");
}

}  // namespace sedscope::python
