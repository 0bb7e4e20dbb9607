// Binds the intersection criterion.
#include "criteria/intersection.hpp"

#include <nanobind/stl/optional.h>

#include <optional>

#include "python/criterion.hpp"
#include "python/fractions.hpp"

namespace sedscope::python {

static const CriterionBinding intersection([](nb::module_& module) {
    using Bound = BoundCriterion<Intersection>;
    bind_criterion<Intersection>(module, "Intersection")
        .def(
            "__init__",
            [](Bound* self, FractionPair dtc, FractionPair gtc,
               std::optional<FractionPair> cttc) {
                new (self) Bound({{fraction_of(dtc)},
                                  {fraction_of(gtc)},
                                  {fraction_of(cttc.value_or(FractionPair(1, 1)))},
                                  cttc.has_value()});
            },
            "dtc"_a, "gtc"_a, "cttc"_a.none());
});

}  // namespace sedscope::python
