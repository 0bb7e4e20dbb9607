// Binds the criterion of alarms.
#include "criteria/alarm.hpp"

#include <nanobind/stl/optional.h>

#include <optional>

#include "python/criterion.hpp"

namespace sedscope::python {

class BoundAlarm : public BoundCriterion<Alarm, OverlapCriterion> {
public:
    using BoundCriterion<Alarm, OverlapCriterion>::BoundCriterion;

    EventDeltas find_deltas_of_events(const DetectedEvents& detected,
                                      const Truth& truth) const override {
        return deltas_of_events(detected, truth, kernels());
    }
};

void bind_alarm(nb::module_& module) {
    using Bound = BoundAlarm;
    nb::class_<Bound, OverlapCriterion>(
        module, "Alarm",
        R"(An alarm at each onset that is not too early after the last.

With ``within``, windows of references do not depend on their offsets.)")
        .def(
            "__init__",
            [](Bound* self, int64_t cooldown, int64_t before, int64_t after,
               std::optional<int64_t> within) {
                new (self) Bound({cooldown, before, after, within});
            },
            nb::kw_only(), "cooldown"_a, "before"_a, "after"_a, "within"_a.none());
}

}  // namespace sedscope::python
