// How a criterion of the core becomes a Python class: everything that its kernel and its judge can
// do, on whole clips and on recordings in pieces, from one description.
//
// A criterion is a struct of parameters in native/criteria with a Kernel<T>, which turns scores
// into deltas, and a Judge of single events (criteria/contracts.hpp). A criterion that makes pairs
// is a rule (pairing.hpp, and pairing_criterion.hpp here).
#pragma once

#include <cstddef>
#include <type_traits>

#include "python/arrays.hpp"
#include "python/clips.hpp"
#include "python/deltas.hpp"
#include "python/detected_events.hpp"
#include "python/diagnosis.hpp"
#include "python/found_deltas.hpp"
#include "python/recording.hpp"
#include "python/truth.hpp"

namespace sedscope::python {

// What Python can ask of any criterion.
class Criterion {
public:
    virtual ~Criterion() = default;
    virtual EventDeltas find_deltas(const Clips&, const Truth&) const = 0;
    virtual OpenRecording open_deltas(const Recording&, const Truth&) const = 0;
    virtual NumpyArray<int64_t> count_error_types(const Clips&, const Truth&,
                                                  const ThresholdTable&) const = 0;
    virtual ClipErrors count_clip_errors(const Clips&, const Truth&,
                                         const ThresholdTable&) const = 0;
    virtual JudgedEvents judge_events(const Clips&, const Truth&, const ThresholdTable&,
                                      std::size_t clip, std::size_t class_number) const = 0;
};

// What Python can ask of a criterion that judges events as they come, even where they overlap.
class OverlapCriterion : public Criterion {
public:
    virtual EventDeltas find_deltas_of_events(const DetectedEvents&, const Truth&) const = 0;
};

// What Python can ask of a criterion that makes pairs, besides.
class PairingCriterion : public OverlapCriterion {
public:
    virtual PairDeltas find_label_free_pairs(const Clips&, const Truth&) const = 0;
    virtual OpenRecording open_label_free_pairs(const Recording&, const Truth&) const = 0;
};

template <class Parameters, class Base = Criterion>
class BoundCriterion : public Base {
public:
    template <class T>
    using Kernel = typename Parameters::template Kernel<T>;

    explicit BoundCriterion(const Parameters& parameters) : parameters_(parameters) {
        static_assert(std::is_constructible_v<Kernel<float>, const Parameters&> &&
                          std::is_constructible_v<Kernel<double>, const Parameters&> &&
                          std::is_constructible_v<typename Parameters::Judge, const Parameters&>,
                      "the kernel and the judge of a criterion are made from the criterion");
    }

    EventDeltas find_deltas(const Clips& clips, const Truth& truth) const override {
        return deltas_of_clips(clips, truth, kernels());
    }

    OpenRecording open_deltas(const Recording& recording, const Truth& truth) const override {
        return deltas_of_pieces(recording, truth, kernels());
    }

    NumpyArray<int64_t> count_error_types(const Clips& clips, const Truth& truth,
                                          const ThresholdTable& thresholds) const override {
        return python::count_error_types(parameters_, clips, truth, thresholds);
    }
    ClipErrors count_clip_errors(const Clips& clips, const Truth& truth,
                                 const ThresholdTable& thresholds) const override {
        return python::count_clip_errors(parameters_, clips, truth, thresholds);
    }
    JudgedEvents judge_events(const Clips& clips, const Truth& truth,
                              const ThresholdTable& thresholds, std::size_t clip,
                              std::size_t class_number) const override {
        return python::judge_events(parameters_, clips, truth, thresholds, clip, class_number);
    }

protected:
    auto kernels() const {
        return [this](auto zero) { return Kernel<decltype(zero)>(parameters_); };
    }

    Parameters parameters_;
};

}  // namespace sedscope::python
