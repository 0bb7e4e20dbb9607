// Binds the criterion of intersection over union.
#include "criteria/iou.hpp"

#include "python/fractions.hpp"
#include "python/pairing_criterion.hpp"

namespace sedscope::python {

static const CriterionBinding iou([](nb::module_& module) {
    using Bound = BoundPairing<IoU>;
    bind_pairing<IoU>(module, "IoU")
        .def(
            "__init__",
            [](Bound* self, FractionPair threshold, bool strict, bool cross_triggers) {
                new (self) Bound({IoU{{fraction_of(threshold)}, strict}, cross_triggers, false});
            },
            "threshold"_a, nb::kw_only(), "strict"_a, "cross_triggers"_a);
});

}  // namespace sedscope::python
