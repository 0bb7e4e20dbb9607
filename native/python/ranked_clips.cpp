// Binds median filters of several lengths, each of many clips.
#include "postprocessing/ranked_clips.hpp"

#include <nanobind/stl/optional.h>

#include <memory>
#include <optional>
#include <utility>
#include <variant>

#include "python/arrays.hpp"
#include "python/clips.hpp"

namespace sedscope::python {

namespace {

// What a filter makes of some clips.
struct FilteredScores {
    nb::typed<nb::list, FloatArray> values;
    nb::typed<nb::list, std::optional<NumpyArray<int64_t>>> edges;
    FloatArray maxima;
};

// See ReadLimit in the core.
struct ScoreLimit {
    ScoreVector lowest;
    std::size_t rank;
    Matrix<bool> among;

    template <class T>
    ReadLimit<T> as_limit(std::size_t clips, std::size_t classes) const {
        require(lowest.shape(0) == classes && among.shape(0) == clips &&
                    among.shape(1) == classes && rank > 0,
                "a limit of other clips or classes");
        return {data_of<T>(lowest, "lowest"), rank, among.data()};
    }
};

// Scores (frames x classes) that are stored class by class.
template <class T>
NumpyArray<T> by_class(Buffer<T>&& buffer, std::size_t classes) {
    const std::size_t frames = buffer.size() / classes;
    return nb::borrow<NumpyArray<T>>(to_numpy(std::move(buffer), classes, frames).attr("T"));
}

// `clips` must outlive this object.
class RankedScores {
public:
    RankedScores(const Clips& clips, std::size_t threads) : clips_(clips) {
        clips_.visit([&](const auto& views) {
            using T = ScoreOf<decltype(views)>;
            nb::gil_scoped_release release;
            ranked_ = std::make_unique<RankedClips<T>>(views, clips_.columns(), threads);
        });
    }

    FilteredScores median(int64_t window, const std::optional<ScoreLimit>& limit,
                          std::size_t threads) const {
        require(window > 0, "the window must be longer than 0");
        return std::visit(
            [&](const auto& ranked) { return filter(*ranked, window, limit, threads); }, ranked_);
    }

private:
    template <class T>
    FilteredScores filter(const RankedClips<T>& ranked, Time window,
                          const std::optional<ScoreLimit>& limit, std::size_t threads) const {
        const std::size_t clips = clips_.size(), classes = clips_.columns().size();
        std::optional<ReadLimit<T>> read;
        if (limit) read = limit->as_limit<T>(clips, classes);
        FilteredClips<T> filtered;
        {
            nb::gil_scoped_release release;
            filtered = ranked.median(window, read, threads);
        }
        FilteredScores out;
        for (FilteredClip<T>& clip : filtered.clips) {
            if (clip.edges.size() > 0)
                out.edges.append(to_numpy(std::move(clip.edges)));
            else
                out.edges.append(nb::none());
            out.values.append(by_class(std::move(clip.values), classes));
        }
        out.maxima = to_numpy(std::move(filtered.maxima), clips, classes);
        return out;
    }

    const Clips& clips_;
    std::variant<std::unique_ptr<RankedClips<float>>, std::unique_ptr<RankedClips<double>>> ranked_;
};

}  // namespace

void bind_ranked_clips(nb::module_& module) {
    nb::class_<ScoreLimit>(module, "ReadLimit", R"(Down to which score results are read.

Any lower score may take the place of a score that is not. ``lowest``: per class, the lowest score
that is read. ``rank``: nothing is read below this many of the largest scores of the result in
``among``, which is (clips x classes).)")
        .def(
            "__init__",
            [](ScoreLimit* self, ScoreVector lowest, std::size_t rank, Matrix<bool> among) {
                new (self) ScoreLimit{lowest, rank, among};
            },
            "lowest"_a.noconvert(), "rank"_a, "among"_a.noconvert());
    nb::class_<FilteredScores>(module, "FilteredClips", R"(What a filter makes of some clips.

``values``: (frames x classes) scores. ``edges``: their boundaries; None where they are those of the
clip. ``maxima``: (clips x classes) the largest scores.)")
        .def_ro("values", &FilteredScores::values)
        .def_ro("edges", &FilteredScores::edges)
        .def_ro("maxima", &FilteredScores::maxima);
    nb::class_<RankedScores>(
        module, "RankedClips",
        "Clips with the ranks of their scores, for filters of several lengths. No score is NaN.")
        .def(nb::init<const Clips&, std::size_t>(), "clips"_a, "threads"_a, nb::keep_alive<1, 2>())
        .def("median_filter", &RankedScores::median, "window"_a, "limit"_a.none(), "threads"_a,
             "The median in a window around each time, as :func:`median_filter` finds it.");
}

}  // namespace sedscope::python
