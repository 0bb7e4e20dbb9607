// Binds counts, PSDS and best F-scores of clips with weights.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <optional>
#include <variant>
#include <vector>

#include "core/parallel.hpp"
#include "counting/resampled_fscore.hpp"
#include "counting/resampled_minima.hpp"
#include "counting/resampled_psds.hpp"
#include "counting/weighted_counts.hpp"
#include "counting/weighted_sums.hpp"
#include "python/delta_table.hpp"
#include "python/totals.hpp"

namespace sedscope::python {

namespace {

struct ResampledPsds {
    NumpyArray<double> values, class_values;
};

// The largest weight, but at least 1.
int64_t heaviest(const Matrix<int32_t>& weights) {
    int32_t most = 1;
    for (std::size_t i = 0; i < weights.size(); ++i) most = std::max(most, weights.data()[i]);
    return most;
}

// The most that a count can reach is this times the heaviest weight.
template <class Rows>
int64_t largest_turnover(const std::vector<Rows>& rows) {
    int64_t largest = 0;
    for (const auto& of_class : rows) largest = std::max(largest, of_class.turnover());
    return largest;
}

// Calls `measure(real)` with a zero of the smaller type that holds all counts exactly. Refuses
// weights with which a count could exceed what a double holds.
template <class Measure>
void with_exact_counts(int64_t turnover, int64_t heaviest, Measure&& measure) {
    require(turnover < (int64_t{1} << 53) / heaviest, "the weights are too large");
    if (turnover < (1 << 24) / heaviest)
        measure(float{});
    else
        measure(double{});
}

// Deltas of all classes by decreasing score, to be added up with many sets of weights.
class Resampling {
public:
    Resampling(const Resampling&) = delete;
    Resampling(const DetectionDeltas& detections,
               const std::optional<CrossTriggerDeltas>& cross_triggers, std::size_t threads) {
        with_score_type(detections, [&](auto zero) {
            using T = decltype(zero);
            if (has_type<int32_t>(to_array<ChangeVector>(detections.tp)))
                sort(DeltaTable<T, int32_t>(detections, cross_triggers), threads);
            else
                sort(DeltaTable<T, int8_t>(detections, cross_triggers), threads);
        });
    }

    std::vector<Totals> counts(const Vector<int32_t>& weights, bool extremes_only,
                               std::size_t threads) const {
        require(weights.size() == clips_, "one weight per clip is needed");
        return std::visit(
            [&](const auto& per_class) {
                using T = typename std::decay_t<decltype(per_class)>::value_type::Score;
                std::vector<WeightedCounts<T>> counts(per_class.size());
                {
                    nb::gil_scoped_release release;
                    parallel_for(per_class.size(), threads, [&] {
                        return [&](std::size_t c) {
                            counts[c] = add_up(per_class[c], weights.data(), extremes_only);
                        };
                    });
                }
                std::vector<Totals> result;
                for (auto& of_class : counts) result.push_back(to_python(std::move(of_class)));
                return result;
            },
            rows_);
    }

    // `variants`: resamplings of the same clips and classes. At each rate the best one counts.
    static ResampledPsds psds(const nb::typed<nb::list, Resampling>& variants,
                              const Matrix<int32_t>& weights, const Vector<double>& durations,
                              const Matrix<int64_t>& references,
                              const Matrix<double>& reference_times, const Vector<int64_t>& order,
                              double alpha_ct, double alpha_st, double max_efpr,
                              double seconds_per_unit, std::size_t threads) {
        require(variants.size() > 0, "at least one resampling is needed");
        const auto& first = nb::cast<const Resampling&>(variants[0]);
        const std::size_t count = weights.shape(0), classes = order.size();
        require(weights.shape(1) == first.clips_, "one weight per clip is needed");
        require(durations.size() == count && references.shape(0) == count &&
                    references.shape(1) == classes && reference_times.shape(0) == count &&
                    reference_times.shape(1) == classes,
                "one duration per resample, and references per resample and class, are needed");
        auto measure = [&](const auto& of_first) {
            using Variant = std::decay_t<decltype(of_first)>;
            std::vector<const Variant*> rows_of_variants;
            int64_t turnover = 0;
            for (const auto& variant : variants) {
                const auto& resampling = nb::cast<const Resampling&>(variant);
                const auto* rows = std::get_if<Variant>(&resampling.rows_);
                require(rows && rows->size() == classes && resampling.clips_ == first.clips_,
                        "variants must have the same type of scores, classes and clips");
                turnover = std::max(turnover, largest_turnover(*rows));
                rows_of_variants.push_back(rows);
            }
            Buffer<double> values(count), class_values(count * classes);
            const Resamples resamples{count,
                                      first.clips_,
                                      classes,
                                      weights.data(),
                                      heaviest(weights),
                                      durations.data(),
                                      references.data(),
                                      reference_times.data(),
                                      {order.data(), order.data() + classes}};
            const PsdsDefinition definition{alpha_ct, alpha_st, max_efpr, seconds_per_unit};
            with_exact_counts(turnover, resamples.heaviest, [&](auto real) {
                using Real = decltype(real);
                nb::gil_scoped_release release;
                if (alpha_ct > 0)
                    resampled_psds<FrontiersByRate<Real>>(rows_of_variants, resamples, definition,
                                                          threads, values.data(),
                                                          class_values.data());
                else
                    resampled_psds<FrontiersByCount<Real>>(rows_of_variants, resamples, definition,
                                                           threads, values.data(),
                                                           class_values.data());
            });
            return ResampledPsds{to_numpy(std::move(values)),
                                 to_numpy(std::move(class_values), count, classes)};
        };
        return std::visit(
            [&](const auto& of_first) -> ResampledPsds {
                if constexpr (has_one_byte<std::decay_t<decltype(of_first)>>)
                    return measure(of_first);
                else
                    throw nb::value_error("PSDS needs deltas of events, not of times");
            },
            first.rows_);
    }

    // (resamples x classes) the best F-score. `weight`: of recall.
    NumpyArray<double> best_fscore(const Matrix<int32_t>& weights,
                                   const Matrix<int64_t>& references, double weight,
                                   std::size_t threads) const {
        const std::size_t count = weights.shape(0), classes = references.shape(1);
        require(weights.shape(1) == clips_, "one weight per clip is needed");
        return std::visit(
            [&](const auto& rows) {
                require(references.shape(0) == count && classes == rows.size(),
                        "references per resample and class are needed");
                Buffer<double> best(count * classes);
                with_exact_counts(largest_turnover(rows), heaviest(weights), [&](auto real) {
                    nb::gil_scoped_release release;
                    resampled_fscore<decltype(real)>(rows, weights.data(), count, clips_,
                                                     references.data(), weight, threads,
                                                     best.data());
                });
                return to_numpy(std::move(best), count, classes);
            },
            rows_);
    }

    // The minima of one resample and class after the other, a number for 0, 1, … `references` each.
    NumpyArray<int64_t> fewest_false_positives(const Matrix<int32_t>& weights,
                                               const Matrix<int64_t>& references,
                                               std::size_t threads) const {
        const std::size_t count = weights.shape(0), classes = references.shape(1);
        require(weights.shape(1) == clips_, "one weight per clip is needed");
        return std::visit(
            [&](const auto& rows) {
                require(references.shape(0) == count && classes == rows.size(),
                        "references per resample and class are needed");
                std::vector<std::size_t> starts(count * classes);
                std::size_t size = 0;
                for (std::size_t i = 0; i < starts.size(); ++i) {
                    starts[i] = size;
                    size += static_cast<std::size_t>(references.data()[i]) + 1;
                }
                Buffer<int64_t> minima(size);
                std::fill_n(minima.data(), size, int64_t{-1});
                with_exact_counts(largest_turnover(rows), heaviest(weights), [&](auto real) {
                    nb::gil_scoped_release release;
                    resampled_minima<decltype(real)>(rows, weights.data(), count, clips_, starts,
                                                     threads, minima.data());
                });
                return to_numpy(std::move(minima));
            },
            rows_);
    }

private:
    template <class PerClass>
    static constexpr bool has_one_byte = sizeof(typename PerClass::value_type::Change) == 1;

    template <class T, class Change>
    void sort(const DeltaTable<T, Change>& table, std::size_t threads) {
        using Rows = OrderedRows<T, Change>;
        clips_ = table.clips();
        nb::gil_scoped_release release;
        std::vector<std::optional<Rows>> ordered(table.classes());
        parallel_for(table.classes(), threads,
                     [&] { return [&](std::size_t c) { ordered[c].emplace(table.rows(c)); }; });
        auto& per_class = rows_.template emplace<std::vector<Rows>>();
        for (auto& of_class : ordered) per_class.push_back(std::move(*of_class));
    }

    std::size_t clips_ = 0;
    std::variant<std::vector<OrderedRows<float>>, std::vector<OrderedRows<double>>,
                 std::vector<OrderedRows<float, int32_t>>,
                 std::vector<OrderedRows<double, int32_t>>>
        rows_;
};

NumpyArray<double> add_up_weighted(const WeightedSums& sums, const Matrix<double>& values) {
    require(values.shape(0) == sums.clips(), "one row of values per clip is needed");
    const std::size_t columns = values.shape(1);
    require(sums.most(values.data(), columns) < 0x1p63, "the weights are too large");
    Buffer<double> result(sums.resamples() * columns);
    {
        nb::gil_scoped_release release;
        sums.add_up(values.data(), columns, result.data());
    }
    return to_numpy(std::move(result), sums.resamples(), columns);
}

}  // namespace

void bind_resampling(nb::module_& module) {
    nb::class_<WeightedSums>(
        module, "WeightedSums",
        R"(Sums over clips, of whole numbers times the weights of many resamples.

``weights``: (resamples x clips), at most 2**24.)")
        .def(
            "__init__",
            [](WeightedSums* self, const Matrix<int32_t>& weights, std::size_t threads) {
                const int64_t most = heaviest(weights);
                require(most <= (1 << 24), "the weights are too large");
                nb::gil_scoped_release release;
                new (self)
                    WeightedSums(weights.data(), weights.shape(0), weights.shape(1), most, threads);
            },
            "weights"_a.noconvert(), "threads"_a)
        .def("of", &add_up_weighted, "values"_a.noconvert(),
             "Return the (resamples x columns) sums of (clips x columns) values: exact, and "
             "rounded once.");
    nb::class_<ResampledPsds>(
        module, "ResampledPSDS",
        "PSDS of each resample, and (resamples x classes) of each class alone.")
        .def_ro("values", &ResampledPsds::values)
        .def_ro("class_values", &ResampledPsds::class_values);
    nb::class_<Resampling>(module, "Resampling", R"(Deltas of all classes, sorted by score once.

They are added up with many sets of clip weights.)")
        .def(nb::init<const DetectionDeltas&, const std::optional<CrossTriggerDeltas>&,
                      std::size_t>(),
             "detections"_a, "cross_triggers"_a.none(), "threads"_a)
        .def("counts", &Resampling::counts, "weights"_a.noconvert(), nb::kw_only(),
             "extremes_only"_a, "threads"_a, R"(Count true and false positives per class.

With ``extremes_only``, keep of each run of equal true positives only the first row with the fewest
false positives, and the last row.)")
        .def("best_fscore", &Resampling::best_fscore, "weights"_a.noconvert(), nb::kw_only(),
             "references"_a.noconvert(), "weight"_a, "threads"_a,
             R"(Best F-score over all thresholds, as (resamples x classes).

``weights``: (resamples x clips). ``references``: (resamples x classes); without any, the value means
nothing. ``weight``: of recall, the square of beta.)")
        .def("fewest_false_positives", &Resampling::fewest_false_positives, "weights"_a.noconvert(),
             nb::kw_only(), "references"_a.noconvert(), "threads"_a,
             R"(Fewest false positives at 0, 1, ... true positives, as one array.

It has those of a resample and class after the other, for as many true positives as there are
references, and -1 for numbers that no threshold finds. ``weights``: (resamples x clips).
``references``: (resamples x classes), at least as many as are ever found.)")
        .def_static("psds", &Resampling::psds, "variants"_a, nb::kw_only(), "weights"_a.noconvert(),
                    "durations"_a.noconvert(), "references"_a.noconvert(),
                    "reference_times"_a.noconvert(), "order"_a.noconvert(), "alpha_ct"_a,
                    "alpha_st"_a, "max_efpr"_a, "seconds_per_unit"_a, "threads"_a,
                    R"(PSDS of each resample (a row of weights).

Of several variants of the scores the best counts at each rate. ``durations``: per resample, in
seconds. ``references`` and ``reference_times``: (resamples x classes). ``order``: the classes sorted
by name.)");
}

}  // namespace sedscope::python
