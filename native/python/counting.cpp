// From deltas to counts, once or for many weights of the clips.
#include <optional>
#include <variant>
#include <vector>

#include "../counting/accumulate.hpp"
#include "../counting/cross_rates.hpp"
#include "../core/parallel.hpp"
#include "../counting/resampled_psds.hpp"
#include "../counting/weighted_counts.hpp"
#include "arrays.hpp"

namespace sedscope::python {

namespace {

template <class T, class Change>
nb::list accumulate(const Vector<int64_t>& starts, const Vector<T>& scores,
                    const Vector<Change>& tp, const Vector<Change>& fp,
                    const Vector<int64_t>& cross_starts, const Vector<T>& cross_scores,
                    const Vector<int32_t>& cross_labels, const Vector<Change>& ct,
                    std::size_t threads) {
    require(starts.size() > 0 && starts.size() == cross_starts.size(),
            "classes + 1 starts are needed");
    require(tp.size() == scores.size() && fp.size() == scores.size(), "columns differ in length");
    require(cross_labels.size() == cross_scores.size() && ct.size() == cross_scores.size(),
            "cross-trigger columns differ in length");
    const std::size_t classes = starts.size() - 1;
    std::vector<ClassCounts<T>> counts(classes);
    {
        nb::gil_scoped_release release;
        parallel_for(classes, threads, [&] {
            return [&, accumulator = Accumulator<T, Change>()](std::size_t c) mutable {
                const auto row = starts.data()[c], cross = cross_starts.data()[c];
                counts[c] = accumulator.add_up(
                    {scores.data() + row, tp.data() + row, fp.data() + row,
                     static_cast<std::size_t>(starts.data()[c + 1] - row),
                     cross_scores.data() + cross, cross_labels.data() + cross, ct.data() + cross,
                     static_cast<std::size_t>(cross_starts.data()[c + 1] - cross)});
            };
        });
    }
    nb::list result;
    for (auto& [class_scores, class_tp, class_fp, rows, labels, cross] : counts)
        result.append(nb::make_tuple(to_numpy(std::move(class_scores)),
                                     to_numpy(std::move(class_tp)), to_numpy(std::move(class_fp)),
                                     to_numpy(std::move(rows)), to_numpy(std::move(labels)),
                                     to_numpy(std::move(cross))));
    return result;
}

template <class T, class Change>
void bind_accumulate(nb::module_& module) {
    module.def("accumulate", &accumulate<T, Change>, "starts"_a.noconvert(), "scores"_a.noconvert(),
               "tp"_a.noconvert(), "fp"_a.noconvert(), "cross_starts"_a.noconvert(),
               "cross_scores"_a.noconvert(), "cross_labels"_a.noconvert(), "ct"_a.noconvert(),
               "threads"_a);
}

nb::object cross_rates(const Vector<int64_t>& rows, const Vector<int64_t>& others,
                       const Vector<int64_t>& changes, const Vector<double>& times,
                       std::size_t row_count) {
    require(others.size() == rows.size() && changes.size() == rows.size(),
            "columns differ in length");
    const auto known = static_cast<int64_t>(times.size());
    for (std::size_t k = 0; k < rows.size(); ++k) {
        require(k == 0 || rows.data()[k - 1] <= rows.data()[k], "rows must not decrease");
        require(others.data()[k] >= 0 && others.data()[k] < known, "class out of range");
    }
    Buffer<double> sums(row_count);
    add_cross_rates({rows.data(), others.data(), changes.data(), rows.size()},
                    {times.data(), times.data() + times.size()}, row_count, sums.data());
    return to_numpy(std::move(sums));
}

// Deltas of all classes by decreasing score, to be added up with the weights of their clips.
class Resampling {
public:
    Resampling(const Resampling&) = delete;
    template <class T>
    Resampling(const Vector<int64_t>& starts, const Vector<T>& scores, const Vector<int32_t>& clips,
               const Vector<int8_t>& tp, const Vector<int8_t>& fp,
               const Vector<int64_t>& cross_starts, const Vector<T>& cross_scores,
               const Vector<int32_t>& cross_clips, const Vector<int32_t>& cross_labels,
               const Vector<int8_t>& ct, std::size_t clip_count, std::size_t threads)
        : clips_(clip_count) {
        require(starts.size() > 0 && starts.size() == cross_starts.size(),
                "classes + 1 starts are needed");
        require(clips.size() == scores.size() && tp.size() == scores.size() &&
                    fp.size() == scores.size() && cross_clips.size() == cross_scores.size() &&
                    cross_labels.size() == cross_scores.size() && ct.size() == cross_scores.size(),
                "columns differ in length");
        const std::size_t classes = starts.size() - 1;
        nb::gil_scoped_release release;
        std::vector<std::optional<OrderedRows<T>>> ordered(classes);
        parallel_for(classes, threads, [&] {
            return [&](std::size_t c) {
                const auto row = starts.data()[c], cross = cross_starts.data()[c];
                ordered[c].emplace(ClipRows<T>{
                    scores.data() + row, clips.data() + row, tp.data() + row, fp.data() + row,
                    static_cast<std::size_t>(starts.data()[c + 1] - row),
                    cross_scores.data() + cross, cross_clips.data() + cross,
                    cross_labels.data() + cross, ct.data() + cross,
                    static_cast<std::size_t>(cross_starts.data()[c + 1] - cross)});
            };
        });
        auto& of_classes = rows_.emplace<std::vector<OrderedRows<T>>>();
        for (auto& of_class : ordered) of_classes.push_back(std::move(*of_class));
    }

    nb::list counts(const Vector<int32_t>& weights, bool extremes_only, std::size_t threads) const {
        require(weights.size() == clips_, "one weight per clip is needed");
        return std::visit(
            [&](const auto& of_classes) {
                using T = typename std::decay_t<decltype(of_classes)>::value_type::Score;
                std::vector<WeightedCounts<T>> counts(of_classes.size());
                {
                    nb::gil_scoped_release release;
                    parallel_for(of_classes.size(), threads, [&] {
                        return [&](std::size_t c) {
                            counts[c] = add_up(of_classes[c], weights.data(), extremes_only);
                        };
                    });
                }
                nb::list result;
                for (auto& [scores, tp, fp] : counts)
                    result.append(nb::make_tuple(to_numpy(std::move(scores)),
                                                 to_numpy(std::move(tp)), to_numpy(std::move(fp))));
                return result;
            },
            rows_);
    }

    // `variants`: resamplings of the same clips and classes; all are taken together.
    static nb::tuple psds(const nb::list& variants, const Matrix<int32_t>& weights,
                          const Vector<double>& durations, const Matrix<int64_t>& references,
                          const Matrix<double>& reference_times, const Vector<int64_t>& order,
                          double alpha_ct, double alpha_st, double max_efpr,
                          double seconds_per_unit, std::size_t threads) {
        require(nb::len(variants) > 0, "at least one resampling is needed");
        const auto& first = nb::cast<const Resampling&>(variants[0]);
        const std::size_t count = weights.shape(0), classes = order.size();
        require(weights.shape(1) == first.clips_, "one weight per clip is needed");
        require(durations.size() == count && references.shape(0) == count &&
                    references.shape(1) == classes && reference_times.shape(0) == count &&
                    reference_times.shape(1) == classes,
                "one duration per resample, and references per resample and class, are needed");
        return std::visit(
            [&](const auto& of_first) {
                using Variant = std::decay_t<decltype(of_first)>;
                std::vector<const Variant*> same;
                for (const auto& variant : variants) {
                    const auto& resampling = nb::cast<const Resampling&>(variant);
                    const auto* rows = std::get_if<Variant>(&resampling.rows_);
                    require(rows && rows->size() == classes && resampling.clips_ == first.clips_,
                            "variants must have the same type of scores, classes and clips");
                    same.push_back(rows);
                }
                Buffer<double> values(count), class_values(count * classes);
                const ResampledSets sets{count,
                                         first.clips_,
                                         classes,
                                         weights.data(),
                                         durations.data(),
                                         references.data(),
                                         reference_times.data()};
                const PsdsDefinition definition{alpha_ct, alpha_st, max_efpr, seconds_per_unit};
                {
                    nb::gil_scoped_release release;
                    resampled_psds(same, sets, definition, order.data(), threads, values.data(),
                                   class_values.data());
                }
                return nb::make_tuple(to_numpy(std::move(values)),
                                      to_numpy(std::move(class_values), count, classes));
            },
            first.rows_);
    }

private:
    std::size_t clips_;
    std::variant<std::vector<OrderedRows<float>>, std::vector<OrderedRows<double>>> rows_;
};

template <class T>
void bind_resampling(nb::class_<Resampling>& resampling) {
    resampling.def(nb::init<const Vector<int64_t>&, const Vector<T>&, const Vector<int32_t>&,
                            const Vector<int8_t>&, const Vector<int8_t>&, const Vector<int64_t>&,
                            const Vector<T>&, const Vector<int32_t>&, const Vector<int32_t>&,
                            const Vector<int8_t>&, std::size_t, std::size_t>(),
                   "starts"_a.noconvert(), "scores"_a.noconvert(), "clips"_a.noconvert(),
                   "tp"_a.noconvert(), "fp"_a.noconvert(), "cross_starts"_a.noconvert(),
                   "cross_scores"_a.noconvert(), "cross_clips"_a.noconvert(),
                   "cross_labels"_a.noconvert(), "ct"_a.noconvert(), "clip_count"_a, "threads"_a);
}

}  // namespace

void bind_counting(nb::module_& module) {
    bind_accumulate<float, int8_t>(module);
    bind_accumulate<double, int8_t>(module);
    bind_accumulate<float, int32_t>(module);
    bind_accumulate<double, int32_t>(module);
    module.def("cross_rates", &cross_rates, "rows"_a.noconvert(), "others"_a.noconvert(),
               "changes"_a.noconvert(), "times"_a.noconvert(), "row_count"_a);
    nb::class_<Resampling> resampling(module, "Resampling");
    bind_resampling<float>(resampling);
    bind_resampling<double>(resampling);
    resampling
        .def("counts", &Resampling::counts, "weights"_a.noconvert(), "extremes_only"_a, "threads"_a)
        .def_static("psds", &Resampling::psds, "variants"_a, "weights"_a.noconvert(),
                    "durations"_a.noconvert(), "references"_a.noconvert(),
                    "reference_times"_a.noconvert(), "order"_a.noconvert(), "alpha_ct"_a,
                    "alpha_st"_a, "max_efpr"_a, "seconds_per_unit"_a, "threads"_a);
}

}  // namespace sedscope::python
