// Binds what a training metric does with batches of clips: it looks at all scores once, and keeps
// the columns that it needs.
#include "python/columns.hpp"

#include <nanobind/stl/pair.h>

#include <numeric>
#include <utility>
#include <vector>

#include "clips/clip_digest.hpp"
#include "clips/maxima.hpp"

namespace sedscope::python {

namespace {

using Batch = Passed<nb::ndarray<nb::ro, nb::ndim<3>, nb::device::cpu>, float, double>;
using ContiguousBatch =
    Passed<nb::ndarray<nb::ro, nb::ndim<3>, nb::c_contig, nb::device::cpu>, float, double>;
using Summaries = std::pair<FloatArray, NumpyArray<uint64_t>>;

template <class T>
Summaries summaries(const ContiguousBatch& values, const Vector<int64_t>& lengths,
                    std::size_t threads) {
    const std::size_t clips = values.shape(0), frames = values.shape(1), classes = values.shape(2);
    const auto stride = static_cast<std::ptrdiff_t>(classes);
    std::vector<ClipView<T>> views;
    for (std::size_t i = 0; i < clips; ++i) {
        const auto length = static_cast<std::size_t>(lengths.data()[i]);
        require(length <= frames, "a clip has more frames than the batch");
        const T* scores = data_of<T>(values, "values") + i * frames * classes;
        views.push_back({scores, stride, 1, length, nullptr});
    }
    std::vector<int64_t> columns(classes);
    std::iota(columns.begin(), columns.end(), 0);
    Buffer<T> maxima(clips * classes);
    Buffer<uint64_t> digests(clips);
    {
        nb::gil_scoped_release release;
        const MaximaFinder<T> finder(columns);
        parallel_for(clips, threads, [&] {
            return [&](std::size_t i) {  // both while the clip is in the cache
                const ClipView<T>& clip = views[i];
                finder.find(clip, maxima.data() + i * classes);
                digests[i] = clip_digest(clip.values, clip.frames * classes, clip.frames);
            };
        });
    }
    return {to_numpy(std::move(maxima), clips, classes), to_numpy(std::move(digests))};
}

Summaries summarise_clips(const ContiguousBatch& values, const Vector<int64_t>& lengths,
                          std::size_t threads) {
    require(lengths.size() == values.shape(0), "one length per clip is needed");
    return has_type<double>(values) ? summaries<double>(values, lengths, threads)
                                    : summaries<float>(values, lengths, threads);
}

uint64_t checksum(const ScoreMatrix& values) {
    const auto find = [&](const auto* scores) {
        nb::gil_scoped_release release;
        return clip_digest(scores, values.size(), values.shape(0));
    };
    return has_type<double>(values) ? find(data_of<double>(values, "values"))
                                    : find(data_of<float>(values, "values"));
}

void add(Columns& kept, const Batch& values, const Matrix<int64_t>& chosen,
         const ScoreVector& largest, std::size_t threads) {
    require(chosen.shape(1) == 5 && largest.size() == chosen.shape(0),
            "five numbers and a largest score per column are needed");
    kept.visit([&](auto& store) {
        using T = typename std::decay_t<decltype(store)>::Score;
        const T* scores = data_of<T>(values, "values");
        const T* highest = data_of<T>(largest, "largest");
        std::vector<typename ColumnStore<T>::Source> sources;
        sources.reserve(chosen.shape(0));
        for (std::size_t i = 0; i < chosen.shape(0); ++i) {
            const int64_t* const numbers = chosen.data() + 5 * i;
            const int64_t row = numbers[0], column = numbers[1], frames = numbers[4];
            auto within = [](int64_t number, std::size_t end) {
                return number >= 0 && static_cast<std::size_t>(number) < end;
            };
            require(within(row, values.shape(0)) && within(column, values.shape(2)) &&
                        within(numbers[3], store.classes()) && numbers[2] >= 0 &&
                        within(frames - 1, values.shape(1)),
                    "a column is out of range");
            sources.push_back(
                {scores + row * values.stride(0) + column * values.stride(2),
                 static_cast<std::ptrdiff_t>(values.stride(1)), static_cast<std::size_t>(frames),
                 highest[i], static_cast<uint32_t>(numbers[2]), static_cast<uint32_t>(numbers[3])});
        }
        nb::gil_scoped_release release;
        store.add(sources, threads);
    });
}

}  // namespace

void bind_columns(nb::module_& module) {
    module.def("summarise_clips", &summarise_clips, "values"_a.noconvert(), "lengths"_a.noconvert(),
               "threads"_a,
               R"(Return the largest score per clip and class, and a checksum of each clip.

The largest score is NaN where a score is NaN. ``values``: (clips x frames x classes), contiguous.
``lengths``: how many frames of each clip count.)");
    module.def("checksum", &checksum, "values"_a.noconvert(),
               "Return the checksum of a clip: (frames x classes), contiguous.");
    nb::class_<Columns>(module, "ColumnStore",
                        "Columns of scores that are kept for later: one clip and class each.")
        .def(nb::init<std::size_t, bool>(), "classes"_a, "is_double"_a)
        .def("add", &add, "values"_a.noconvert(), "chosen"_a.noconvert(), "largest"_a.noconvert(),
             "threads"_a,
             R"(Copy columns of (clips x frames x classes) scores with any strides.

``chosen``: per column its row and column in ``values``, its clip and class, and its frames.
``largest``: the largest score of each.)")
        .def(
            "drop",
            [](Columns& kept, const ScoreVector& floors) {
                kept.visit([&](auto& store) {
                    using T = typename std::decay_t<decltype(store)>::Score;
                    require(floors.size() == store.classes(), "one floor per class is needed");
                    store.drop(data_of<T>(floors, "floors"));
                });
            },
            "floors"_a.noconvert(),
            "Drop columns whose largest score does not lie above the floor of their class.")
        .def_prop_ro(
            "bytes",
            [](const Columns& kept) {
                return kept.visit([](const auto& store) { return store.bytes(); });
            },
            "The size of the scores that are kept.");
}

}  // namespace sedscope::python
