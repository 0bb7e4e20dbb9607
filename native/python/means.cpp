// Binds means that are rounded only once.
#include <cstddef>
#include <cstdint>
#include <utility>

#include "core/group_means.hpp"
#include "python/arrays.hpp"

namespace sedscope::python {

namespace {

NumpyArray<double> means_of_groups(const ScoreMatrix& values, const Vector<int64_t>& starts) {
    require(starts.size() > 0, "groups + 1 starts are needed");
    require_starts(starts, values.shape(0));
    const std::size_t columns = values.shape(1), groups = starts.size() - 1;
    auto find = [&](auto zero) {
        using T = decltype(zero);
        const T* const data = data_of<T>(values, "values");
        Buffer<double> means;
        {
            nb::gil_scoped_release release;
            means = group_means(data, columns, starts.data(), groups);
        }
        return to_numpy(std::move(means), groups, columns);
    };
    return has_type<double>(values) ? find(double{}) : find(float{});
}

}  // namespace

void bind_means(nb::module_& module) {
    module.def("group_means", &means_of_groups, "values"_a.noconvert(), "starts"_a.noconvert(),
               R"(Return the means over the rows of each group, rounded once.

``starts``: where groups begin, and the end.)");
}

}  // namespace sedscope::python
