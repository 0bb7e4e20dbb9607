// Binds the intersection criterion.
#include "criteria/intersection.hpp"

#include <nanobind/stl/optional.h>

#include <optional>

#include "criteria/intersection_of_events.hpp"
#include "python/criterion.hpp"
#include "python/fractions.hpp"

namespace sedscope::python {

class BoundIntersection : public BoundCriterion<Intersection, OverlapCriterion> {
public:
    using BoundCriterion<Intersection, OverlapCriterion>::BoundCriterion;

    EventDeltas find_deltas_of_events(const DetectedEvents& detected,
                                      const Truth& truth) const override {
        return deltas_of_events(detected, truth,
                                [&](double) { return IntersectionOfEvents<double>(parameters_); });
    }
};

void bind_intersection(nb::module_& module) {
    using Bound = BoundIntersection;
    nb::class_<Bound, OverlapCriterion>(module, "Intersection",
                                        "``cttc=None``: cross-triggers are not counted.")
        .def(
            "__init__",
            [](Bound* self, FractionPair dtc, FractionPair gtc, std::optional<FractionPair> cttc) {
                new (self) Bound({{fraction_of(dtc)},
                                  {fraction_of(gtc)},
                                  {fraction_of(cttc.value_or(FractionPair(1, 1)))},
                                  cttc.has_value()});
            },
            "dtc"_a, "gtc"_a, "cttc"_a.none());
}

}  // namespace sedscope::python
