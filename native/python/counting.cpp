// Binds the step from deltas to counts.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <vector>

#include "core/parallel.hpp"
#include "counting/accumulate.hpp"
#include "counting/cross_rates.hpp"
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
    module.def(
        "cross_rates", &cross_rates, "rows"_a.noconvert(), "others"_a.noconvert(),
        "changes"_a.noconvert(), "times"_a.noconvert(), "row_count"_a,
        R"(For each row, the sum over the other classes of cross-triggers per time of that class.

``others`` are indices into ``times``.)");
    module.def("first_minima_of_runs", &first_minima, "runs"_a.noconvert(), "costs"_a.noconvert(),
               "For each run of consecutive equal values, the index of its first smallest cost.");
}

}  // namespace sedscope::python
