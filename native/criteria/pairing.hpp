// A criterion that makes pairs, made from a rule that says which pairs are possible.
#pragma once

#include <cstddef>
#include <utility>

#include "clips/references.hpp"
#include "core/time.hpp"
#include "criteria/contracts.hpp"
#include "criteria/least_error_matching.hpp"
#include "criteria/pairing_judge.hpp"
#include "criteria/pairing_kernel.hpp"

namespace sedscope {

// A rule (collar.hpp, iou.hpp) emits the number of each reference that a detection can be paired
// with. It says where a detection must have a frame to be paired with an event, and gives the
// boundary errors of a pair, and whether they are too large.
template <class Rule>
using RuleCalls =
    decltype(std::declval<const Rule&>().candidates(std::declval<References&>(), Time{}, Time{},
                                                    std::declval<void (&)(std::size_t)>()),
             Interval{std::declval<const Rule&>().window(Interval{})},
             PairErrors{std::declval<const Rule&>().errors(Interval{}, Interval{})},
             bool{std::declval<const Rule&>().onset_off(Time{})},
             bool{std::declval<const Rule&>().offset_off(Time{}, Interval{})});

template <class PairingRule>
struct Pairing {
    static_assert(offers<RuleCalls, PairingRule>,
                  "a rule needs candidates(), window(), errors(), onset_off() and offset_off()");

    using Rule = PairingRule;
    template <class T>
    using Kernel = PairingKernel<T, Rule>;
    using Judge = PairingJudge<Rule>;

    Rule rule;
    bool cross_triggers;
    bool errors;  // whether to sum the boundary errors of the pairs
};

}  // namespace sedscope
