// How a criterion that makes pairs becomes a Python class: its rule is all that it needs.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "criteria/label_free_pairing.hpp"
#include "criteria/pairing.hpp"
#include "python/criterion.hpp"

namespace sedscope::python {

template <class Rule>
class BoundPairing : public BoundCriterion<Pairing<Rule>, PairingCriterion> {
public:
    using BoundCriterion<Pairing<Rule>, PairingCriterion>::BoundCriterion;

    EventDeltas find_deltas_of_events(const DetectedEvents& detected,
                                      const Truth& truth) const override {
        return deltas_of_events(detected, truth, this->kernels());
    }

    PairDeltas find_label_free_pairs(const Clips& clips, const Truth& truth) const override {
        truth.require_clips(clips.size());
        return clips.visit([&](const auto& views) {
            using T = ScoreOf<decltype(views)>;
            Buffer<int64_t> starts(views.size() + 1);
            DetectionRows<T> rows;
            {
                nb::gil_scoped_release release;
                rows = label_free_pairs(views, clips.columns(), truth.table(),
                                        this->parameters_.rule, truth.threads, starts.data());
            }
            return to_python(std::move(starts), std::move(rows));
        });
    }

    OpenRecording open_label_free_pairs(const Recording& recording,
                                        const Truth& truth) const override {
        truth.require_clips(1);
        return recording.open(
            truth,
            [&](auto zero) {
                return std::make_unique<OpenLabelFreePairs<decltype(zero), Rule>>(
                    recording.columns(), truth.table(), recording.edges(), recording.boundaries(),
                    this->parameters_.rule);
            },
            [](auto&& rows) {
                Buffer<int64_t> starts(2);
                starts[0] = 0;
                starts[1] = static_cast<int64_t>(rows.size());
                return to_python(std::move(starts), std::move(rows));
            });
    }
};

}  // namespace sedscope::python
