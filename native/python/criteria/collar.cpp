// Binds the collar criterion.
#include "criteria/collar.hpp"

#include <nanobind/stl/optional.h>

#include <optional>

#include "python/fractions.hpp"
#include "python/pairing_criterion.hpp"

namespace sedscope::python {

void bind_collar(nb::module_& module) {
    using Bound = BoundPairing<Collar>;
    nb::class_<Bound, PairingCriterion>(
        module, "Collar", "Tolerances of the boundaries. None: the boundary is not judged.")
        .def(
            "__init__",
            [](Bound* self, std::optional<int64_t> onset, std::optional<int64_t> offset,
               FractionPair offset_rate, bool cross_triggers, bool errors) {
                const Collar rule{onset.has_value(), offset.has_value(), onset.value_or(0),
                                  offset.value_or(0), fraction_of(offset_rate)};
                new (self) Bound({rule, cross_triggers, errors});
            },
            "onset"_a.none(), "offset"_a.none(), "offset_rate"_a, nb::kw_only(), "cross_triggers"_a,
            "errors"_a);
}

}  // namespace sedscope::python
