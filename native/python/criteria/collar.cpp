// Binds the collar criterion.
#include "criteria/collar.hpp"

#include <nanobind/stl/optional.h>

#include <cmath>
#include <optional>

#include "python/fractions.hpp"
#include "python/pairing_criterion.hpp"

namespace sedscope::python {

constexpr int decimals_of_floats = 10;  // from here on, rounding does not hide errors of floats

void bind_collar(nb::module_& module) {
    using Bound = BoundPairing<Collar>;
    nb::class_<Bound, PairingCriterion>(
        module, "Collar",
        "Tolerances of the boundaries. None: the boundary is not judged.\n\n"
        "``decimals``: of seconds, to which the excess over a tolerance is rounded. From 10 on, "
        "seconds "
        "are\nfloats.")
        .def(
            "__init__",
            [](Bound* self, std::optional<int64_t> onset, std::optional<int64_t> offset,
               FractionPair offset_rate, bool cross_triggers, bool errors, int decimals) {
                Collar rule{onset.has_value(), offset.has_value(), onset.value_or(0),
                            offset.value_or(0), fraction_of(offset_rate)};
                rule.slack = rounding_step(decimals) / 2;
                if (decimals >= decimals_of_floats) {
                    rule.slack = 1;  // floats may be this far off
                    rule.float_precision = std::pow(10.0, decimals);
                }
                new (self) Bound({rule, cross_triggers, errors});
            },
            "onset"_a.none(), "offset"_a.none(), "offset_rate"_a, nb::kw_only(), "cross_triggers"_a,
            "errors"_a, "decimals"_a = decimals_of_microseconds);
}

}  // namespace sedscope::python
