// Binds median filters of several lengths, each of many clips.
#include <memory>
#include <utility>
#include <variant>
#include <vector>

#include "postprocessing/ranked_clips.hpp"
#include "python/arrays.hpp"
#include "python/clips.hpp"

namespace sedscope::python {

namespace {

// What a filter makes of some clips.
struct FilteredClips {
    nb::list values, edges;
};

// Scores (frames x classes) that are stored class by class.
template <class T>
nb::object by_class(Buffer<T>&& buffer, std::size_t classes) {
    const std::size_t frames = buffer.size() / classes;
    return to_numpy(std::move(buffer), classes, frames).attr("T");
}

class RankedScores {
public:
    RankedScores(const Clips& clips, std::size_t threads) : clips_(clips) {
        clips_.visit([&](const auto& views) {
            using T = ScoreOf<decltype(views)>;
            nb::gil_scoped_release release;
            ranked_ = std::make_unique<RankedClips<T>>(views, clips_.columns(), threads);
        });
    }

    FilteredClips median(int64_t window, std::size_t threads) const {
        require(window > 0, "the window must be longer than 0");
        return std::visit([&](const auto& ranked) { return filter(*ranked, window, threads); },
                          ranked_);
    }

private:
    template <class T>
    FilteredClips filter(const RankedClips<T>& ranked, Time window, std::size_t threads) const {
        std::vector<FilteredClip<T>> filtered;
        {
            nb::gil_scoped_release release;
            filtered = ranked.median(window, threads);
        }
        FilteredClips out;
        for (FilteredClip<T>& clip : filtered) {
            out.edges.append(clip.edges.size() > 0 ? to_numpy(std::move(clip.edges)) : nb::none());
            out.values.append(by_class(std::move(clip.values), clips_.columns().size()));
        }
        return out;
    }

    const Clips clips_;  // keeps the scores alive
    std::variant<std::unique_ptr<RankedClips<float>>, std::unique_ptr<RankedClips<double>>> ranked_;
};

}  // namespace

void bind_ranked_clips(nb::module_& module) {
    nb::class_<FilteredClips>(module, "FilteredClips")
        .def_ro("values", &FilteredClips::values)
        .def_ro("edges", &FilteredClips::edges);
    nb::class_<RankedScores>(module, "RankedClips")
        .def(nb::init<const Clips&, std::size_t>(), "clips"_a, "threads"_a)
        .def("median_filter", &RankedScores::median, "window"_a, "threads"_a);
}

}  // namespace sedscope::python
