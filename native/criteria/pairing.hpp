// A criterion that makes pairs, made from a rule that says which pairs are possible.
//
// A rule (collar.hpp, iou.hpp) has
//   candidates(references, from, until, emit)   emit(j) for each reference that can be paired
//   window(event)                               where a detection must have a frame to be paired
//   errors(detection, event)                    the boundary errors of a pair
//   onset_off(error), offset_off(error, event)  whether a boundary error is too large
#pragma once

#include "criteria/pairing_judge.hpp"
#include "criteria/pairing_kernel.hpp"

namespace sedscope {

template <class PairingRule>
struct Pairing {
    using Rule = PairingRule;
    template <class T>
    using Kernel = PairingKernel<T, Rule>;
    using Judge = PairingJudge<Rule>;

    Rule rule;
    bool cross_triggers;
    bool errors;  // whether to sum the boundary errors of the pairs
};

}  // namespace sedscope
