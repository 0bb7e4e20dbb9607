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
                                        "``cttc=None``: cross-triggers are not counted.\n\n"
                                        "``decimals``: of seconds, to which overlaps are rounded.")
        .def(
            "__init__",
            [](Bound* self, FractionPair dtc, FractionPair gtc, std::optional<FractionPair> cttc,
               int decimals) {
                auto requirement = [&](const FractionPair& share) {
                    return Requirement{fraction_of(share), rounding_step(decimals)};
                };
                new (self)
                    Bound({requirement(dtc), requirement(gtc),
                           requirement(cttc.value_or(FractionPair(1, 1))), cttc.has_value()});
            },
            "dtc"_a, "gtc"_a, "cttc"_a.none(), nb::kw_only(),
            "decimals"_a = decimals_of_microseconds);
}

}  // namespace sedscope::python
