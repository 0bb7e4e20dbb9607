// Binds the intersection criterion.
#include "criteria/intersection.hpp"

#include <nanobind/stl/optional.h>

#include <optional>

#include "python/criterion.hpp"

namespace sedscope::python {

static const CriterionBinding intersection([](nb::module_& module) {
    using Bound = BoundCriterion<Intersection>;
    bind_criterion<Intersection>(module, "Intersection")
        .def(
            "__init__",
            [](Bound* self, double dtc, double gtc, std::optional<double> cttc) {
                new (self) Bound({{dtc}, {gtc}, {cttc.value_or(1)}, cttc.has_value()});
            },
            "dtc"_a, "gtc"_a, "cttc"_a.none());
});

}  // namespace sedscope::python
