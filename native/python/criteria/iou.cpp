// Binds the criterion of intersection over union.
#include "criteria/iou.hpp"

#include "python/fractions.hpp"
#include "python/pairing_criterion.hpp"

namespace sedscope::python {

void bind_iou(nb::module_& module) {
    using Bound = BoundPairing<IoU>;
    nb::class_<Bound, PairingCriterion>(module, "IoU",
                                        R"(The smallest intersection over union of a pair.

``strict``: that of a pair lies above it.)")
        .def(
            "__init__",
            [](Bound* self, FractionPair threshold, bool strict, bool cross_triggers) {
                new (self) Bound({IoU{{fraction_of(threshold)}, strict}, cross_triggers, false});
            },
            "threshold"_a, nb::kw_only(), "strict"_a, "cross_triggers"_a);
}

}  // namespace sedscope::python
