// Binds the step from deltas to counts.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <vector>

#include "core/parallel.hpp"
#include "counting/accumulate.hpp"
#include "counting/cross_rates.hpp"
#include "counting/merged_rows.hpp"
#include "counting/psd_roc.hpp"
#include "counting/run_minima.hpp"
#include "python/delta_table.hpp"
#include "python/totals.hpp"

namespace sedscope::python {

namespace {

template <class T, class Change>
std::vector<Totals> accumulate(const DeltaTable<T, Change>& table, std::size_t threads) {
    std::vector<ClassTotals<T>> totals(table.classes());
    {
        nb::gil_scoped_release release;
        parallel_for(table.classes(), threads, [&] {
            return [&, accumulator = Accumulator<T, Change>()](std::size_t c) mutable {
                totals[c] = accumulator.add_up(table.rows(c));
            };
        });
    }
    std::vector<Totals> result;
    for (auto& of_class : totals) result.push_back(to_python(std::move(of_class)));
    return result;
}

std::vector<Totals> accumulate_deltas(const DetectionDeltas& detections,
                                      const std::optional<CrossTriggerDeltas>& cross_triggers,
                                      std::size_t threads) {
    return with_score_type(detections, [&](auto zero) {
        using T = decltype(zero);
        const auto changes = to_array<ChangeVector>(detections.tp);
        if (has_type<int64_t>(changes))
            return accumulate(DeltaTable<T, int64_t>(detections, cross_triggers), threads);
        if (has_type<int32_t>(changes))
            return accumulate(DeltaTable<T, int32_t>(detections, cross_triggers), threads);
        return accumulate(DeltaTable<T, int8_t>(detections, cross_triggers), threads);
    });
}

using Column = AnyVector<int8_t, int16_t, int32_t, int64_t, float, double>;
using ColumnArray = NumpyArray<int8_t, int16_t, int32_t, int64_t, float, double>;
using ColumnList = nb::typed<nb::list, ColumnArray>;

// Calls `use(zero)` with a zero of the type of a column.
template <class Use>
auto with_type(const Column& column, Use&& use) {
    if (has_type<int8_t>(column)) return use(int8_t{});
    if (has_type<int16_t>(column)) return use(int16_t{});
    if (has_type<int32_t>(column)) return use(int32_t{});
    if (has_type<int64_t>(column)) return use(int64_t{});
    if (has_type<float>(column)) return use(float{});
    if (has_type<double>(column)) return use(double{});
    throw nb::type_error("a column has a type that rows do not have");
}

template <class T>
std::optional<ColumnList> merge_rows(const std::vector<RowTable>& tables,
                                     const std::vector<Column>& types, std::size_t classes,
                                     const std::optional<ScoreVector>& floors,
                                     std::size_t threads) {
    std::vector<std::size_t> widths;
    for (const Column& column : types) widths.push_back(column.itemsize());
    const T* const lowest = floors ? data_of<T>(*floors, "floors") : nullptr;
    std::optional<RowMerger<T>> merger;
    {
        nb::gil_scoped_release release;
        merger.emplace(tables, widths, classes, lowest, threads);
    }
    std::size_t rows = 0;
    for (std::size_t c = 0; c < classes; ++c) {
        const int64_t* const starts = tables[0].starts + c * (tables[0].clips + 1);
        rows += static_cast<std::size_t>(starts[tables[0].clips] - starts[0]);
    }
    if (tables.size() == 1 && rows == merger->rows()) return std::nullopt;
    nb::list result;
    std::vector<std::byte*> columns;
    for (const Column& column : types)
        result.append(with_type(column, [&](auto zero) {
            Buffer<decltype(zero)> entries(merger->rows());
            columns.push_back(reinterpret_cast<std::byte*>(entries.data()));
            return nb::object(to_numpy(std::move(entries)));
        }));
    {
        nb::gil_scoped_release release;
        merger->copy(columns);
    }
    result.insert(0, to_numpy(std::move(merger->starts()), classes, merger->clips() + 1));
    return nb::borrow<ColumnList>(result);
}

std::optional<ColumnList> merge_tables(const std::vector<Matrix<int64_t>>& starts,
                                       const std::vector<std::vector<Column>>& columns,
                                       const std::optional<ScoreVector>& floors,
                                       std::size_t threads) {
    require(!starts.empty() && starts.size() == columns.size(), "each table has starts");
    const std::size_t classes = starts[0].shape(0);
    require(!floors || floors->size() == classes, "one floor per class is needed");
    std::vector<RowTable> tables;
    for (std::size_t t = 0; t < starts.size(); ++t) {
        require(starts[t].shape(0) == classes && starts[t].shape(1) > 0 &&
                    columns[t].size() == columns[0].size() && !columns[t].empty(),
                "tables must have the same classes and columns");
        require_starts(starts[t], columns[t][0].size());
        RowTable& table = tables.emplace_back();
        table.starts = starts[t].data();
        table.clips = starts[t].shape(1) - 1;
        for (std::size_t k = 0; k < columns[t].size(); ++k) {
            const Column& column = columns[t][k];
            require(
                column.size() == columns[t][0].size() && column.dtype() == columns[0][k].dtype(),
                "columns differ in length or type");
            table.columns.push_back(static_cast<const std::byte*>(column.data()));
        }
    }
    return has_type<double>(columns[0][0])
               ? merge_rows<double>(tables, columns[0], classes, floors, threads)
               : merge_rows<float>(tables, columns[0], classes, floors, threads);
}

NumpyArray<double> cross_rates(const Vector<int64_t>& rows, const Vector<int64_t>& others,
                               const Vector<int64_t>& changes, const Vector<double>& times,
                               std::size_t row_count) {
    require(others.size() == rows.size() && changes.size() == rows.size(),
            "columns differ in length");
    const auto classes = static_cast<int64_t>(times.size());
    for (std::size_t k = 0; k < rows.size(); ++k) {
        require(k == 0 || rows.data()[k - 1] <= rows.data()[k], "rows must not decrease");
        require(others.data()[k] >= 0 && others.data()[k] < classes, "class out of range");
    }
    Buffer<double> sums(row_count);
    {
        nb::gil_scoped_release release;
        add_cross_rates({rows.data(), others.data(), changes.data(), rows.size()},
                        {times.data(), times.data() + times.size()}, row_count, sums.data());
    }
    return to_numpy(std::move(sums));
}

NumpyArray<int64_t> first_minima(const Vector<int64_t>& runs,
                                 const AnyVector<int64_t, double>& costs) {
    require(runs.size() == costs.size(), "columns differ in length");
    auto find = [&](auto zero) {
        using Cost = decltype(zero);
        return to_numpy(
            first_minima_of_runs(runs.data(), data_of<Cost>(costs, "costs"), runs.size()));
    };
    return has_type<double>(costs) ? find(double{}) : find(int64_t{});
}

NumpyArray<int64_t> best_rows(const Vector<int64_t>& tp, const Vector<double>& rates,
                              double highest) {
    require(tp.size() == rates.size(), "columns differ in length");
    return to_numpy(best_of_rates(tp.data(), rates.data(), tp.size(), highest));
}

double step_area(const Vector<double>& x, const Vector<double>& y, double end) {
    require(x.size() == y.size(), "a curve has two coordinates");
    return area_under({x.data(), y.data(), x.size()}, end);
}

NumpyArray<double> mean_curve(const std::vector<Vector<double>>& x,
                              const std::vector<Vector<double>>& y, const Vector<double>& rates,
                              double weight, std::size_t threads) {
    require(x.size() == y.size(), "a curve has two coordinates");
    std::vector<Steps> curves;
    for (std::size_t k = 0; k < x.size(); ++k) {
        require(x[k].size() == y[k].size(), "columns differ in length");
        require(x[k].size() > 0 && rates.size() > 0 && x[k].data()[0] <= rates.data()[0],
                "a curve begins at the first rate, or before it");
        curves.push_back({x[k].data(), y[k].data(), x[k].size()});
    }
    Buffer<double> levels(rates.size());
    {
        nb::gil_scoped_release release;
        mean_of_curves(curves, rates.data(), rates.size(), weight, threads, levels.data());
    }
    return to_numpy(std::move(levels));
}

}  // namespace

void bind_counting(nb::module_& module) {
    nb::class_<Totals>(
        module, "ClassTotals",
        R"(Counts of one class at decreasing scores: frames with ``score >= scores[i]`` are active.

At row ``cross_rows[k]`` the cross-triggers on class ``cross_labels[k]`` change by
``cross_changes[k]``. Totals made in Python have no cross-triggers.)")
        .def(
            "__init__",
            [](Totals* self, FloatArray scores, NumpyArray<int64_t> tp, NumpyArray<int64_t> fp) {
                new (self) Totals(without_cross_triggers(scores, tp, fp));
            },
            "scores"_a, "tp"_a, "fp"_a)
        .def_ro("scores", &Totals::scores)
        .def_ro("tp", &Totals::tp)
        .def_ro("fp", &Totals::fp)
        .def_ro("cross_rows", &Totals::cross_rows)
        .def_ro("cross_labels", &Totals::cross_labels)
        .def_ro("cross_changes", &Totals::cross_changes);
    module.def("accumulate", &accumulate_deltas, "detections"_a, "cross_triggers"_a.none(),
               "threads"_a, "Add up the deltas of each class.");
    module.def("merge_rows", &merge_tables, "starts"_a.noconvert(), "columns"_a.noconvert(),
               "floors"_a.noconvert().none(), "threads"_a,
               R"(Put the rows of several tables into one. Return its starts and columns.

``starts``: (classes x (clips + 1)) of each table. ``columns``: of each table, the scores first.
``floors``: rows of a class at or below its floor are left out. Returns None if that leaves a single
table as it is.)");
    module.def(
        "cross_rates", &cross_rates, "rows"_a.noconvert(), "others"_a.noconvert(),
        "changes"_a.noconvert(), "times"_a.noconvert(), "row_count"_a,
        R"(For each row, the sum over the other classes of cross-triggers per time of that class.

``others`` are indices into ``times``.)");
    module.def("first_minima_of_runs", &first_minima, "runs"_a.noconvert(), "costs"_a.noconvert(),
               "For each run of consecutive equal values, the index of its first smallest cost.");
    module.def("best_of_rates", &best_rows, "tp"_a.noconvert(), "rates"_a.noconvert(), "highest"_a,
               R"(Return the rows with more true positives than all of lower rates, by rising rate.

Those with a rate above ``highest`` are left out.)");
    module.def("step_area", &step_area, "x"_a.noconvert(), "y"_a.noconvert(), "end"_a,
               R"(Return the area under a step function from 0 to ``end``.

``x`` rises from 0; ``y[i]`` holds from ``x[i]`` on.)");
    module.def("mean_of_curves", &mean_curve, "x"_a.noconvert(), "y"_a.noconvert(),
               "rates"_a.noconvert(), "weight"_a, "threads"_a,
               R"(Return the mean of step functions less ``weight`` times their deviation, or 0.

``y`` holds from ``x`` on. ``rates``: where, rising.)");
}

}  // namespace sedscope::python
