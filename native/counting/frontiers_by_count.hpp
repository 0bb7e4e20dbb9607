// The frontiers of a few resamples where cross-triggers cost nothing: the rate of a point rises
// with its false positives, so that whole numbers are compared.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "counting/frontier.hpp"
#include "counting/lane_weights.hpp"
#include "counting/point_sweep.hpp"
#include "counting/psds_definition.hpp"
#include "counting/resamples.hpp"

namespace sedscope {

// `Real` holds all counts exactly. One per thread: it keeps its buffers.
template <class Real>
class FrontiersByCount {
public:
    static constexpr std::size_t lanes = 32;

    FrontiersByCount(const Resamples& resamples, const PsdsDefinition& psds)
        : resamples_(resamples), psds_(psds) {}

    // Adds the points of all variants to the empty `curves` (lanes x classes), for resamples
    // [first, last).
    template <class Variant>
    void find(const std::vector<const Variant*>& variants, std::size_t first, std::size_t last,
              Frontier* curves) {
        weights_.assign(resamples_.weights, resamples_.clips, first, last);
        for (std::size_t k = 0; k < last - first; ++k) too_many_[k] = too_many(first + k);
        for (std::size_t c = 0; c < resamples_.classes; ++c) {
            auto curve = [&](std::size_t k) -> Frontier& {
                return curves[k * resamples_.classes + c];
            };
            for (const Variant* variant : variants) {
                FalsePositives<Real, lanes> false_positives;
                auto limit = [&](std::size_t k, Real tp) {
                    return curve(k).cost_to_beat(static_cast<int64_t>(tp), too_many_[k]);
                };
                auto look = [&](std::size_t k, Real tp) {
                    const Real fp = false_positives.costs()[k];
                    curve(k).add(fp, static_cast<int64_t>(tp));
                    return fp;
                };
                sweep_points((*variant)[c], weights_, last - first, false_positives, limit, look);
            }
            for (std::size_t k = 0; k < last - first; ++k)
                curve(k).rate_by([&](double fp) { return rate(fp, first + k); });
        }
    }

private:
    double rate(double fp, std::size_t resample) const {
        return fp / resamples_.durations[resample] * psds_.seconds_per_unit;
    }

    // The least number of false positives whose rate lies above the limit.
    double too_many(std::size_t resample) const {
        constexpr double most = int64_t{1} << 53;  // no count reaches it
        double fp =
            std::floor(psds_.max_efpr * resamples_.durations[resample] / psds_.seconds_per_unit);
        fp = std::min(fp, most);
        while (fp > 0 && rate(fp - 1, resample) > psds_.max_efpr) --fp;
        while (fp < most && rate(fp, resample) <= psds_.max_efpr) ++fp;
        return fp;
    }

    const Resamples& resamples_;
    const PsdsDefinition& psds_;
    LaneWeights<Real, lanes> weights_;
    double too_many_[lanes];
};

}  // namespace sedscope
