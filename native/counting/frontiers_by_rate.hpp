// The frontiers of a few resamples where cross-triggers add to the rate of false alarms.
//
// Rates of all points are computed fast, with some rounding error. Only where such a rate may
// change the curve of a resample, the exact one is computed.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "counting/frontier.hpp"
#include "counting/lane_weights.hpp"
#include "counting/psds_definition.hpp"
#include "counting/resamples.hpp"

namespace sedscope {

// `Real` holds all counts exactly. One per thread: it keeps its buffers.
template <class Real>
class FrontiersByRate {
public:
    static constexpr std::size_t lanes = 32;

    FrontiersByRate(const Resamples& resamples, const PsdsDefinition& psds)
        : resamples_(resamples),
          psds_(psds),
          crossed_(resamples.classes * lanes),
          cross_prices_(resamples.classes * lanes) {}

    // Adds the points of all variants to the empty `curves` (lanes x classes), for resamples
    // [first, last).
    template <class Variant>
    void find(const std::vector<const Variant*>& variants, std::size_t first, std::size_t last,
              Frontier* curves) {
        weights_.assign(resamples_.weights, resamples_.clips, first, last);
        find_prices(first, last);
        for (std::size_t c = 0; c < resamples_.classes; ++c)
            for (const Variant* variant : variants)
                add_points((*variant)[c], first, last, curves + c);
    }

private:
    // What a false positive, and a cross-trigger on each class, add to the rate of each lane.
    void find_prices(std::size_t first, std::size_t last) {
        std::fill_n(fp_price_, lanes, 0.0);
        std::fill(cross_prices_.begin(), cross_prices_.end(), 0.0);
        for (std::size_t i = first; i < last; ++i) {
            const std::size_t k = i - first;
            resamples_.find_present(i, present_);
            others_[k] = static_cast<double>(std::max<std::size_t>(2, present_.size()) - 1);
            if (resamples_.durations[i] == 0) continue;  // nothing was drawn but clips without frames
            fp_price_[k] = psds_.seconds_per_unit / resamples_.durations[i];
            for (std::size_t m : present_)
                if (const double time = resamples_.reference_times_of(i)[m]; time > 0)
                    cross_prices_[m * lanes + k] =
                        psds_.alpha_ct * psds_.seconds_per_unit / (others_[k] * time);
        }
    }

    // More than the fast rates of a class can differ from the exact ones: each of its rows adds a
    // rounding error to a sum that is at most the turnover times the highest price.
    template <class Rows>
    double doubt(const Rows& ordered) const {
        double price = *std::max_element(fp_price_, fp_price_ + lanes);
        for (double of_class : cross_prices_) price = std::max(price, of_class);
        const double rows = static_cast<double>(ordered.rows().size()) +
                            static_cast<double>(resamples_.classes) + 16;
        return 4 * std::numeric_limits<double>::epsilon() * rows * price *
               static_cast<double>(ordered.turnover()) * static_cast<double>(resamples_.heaviest);
    }

    // `lane`: of the resample. The arithmetic has the same order as for one set of counts.
    double exact_rate(double fp, std::size_t resample, std::size_t lane) const {
        double total = 0;
        for (int64_t m : resamples_.order) {
            const double crossed = crossed_[static_cast<std::size_t>(m) * lanes + lane];
            if (crossed != 0) total += crossed / resamples_.reference_times_of(resample)[m];
        }
        const double cross_rate = psds_.alpha_ct * total / others_[lane];
        return (fp / resamples_.durations[resample] + cross_rate) * psds_.seconds_per_unit;
    }

    // `curves`: those of the class in each lane, as many apart as there are classes.
    template <class Rows>
    void add_points(const Rows& ordered, std::size_t first, std::size_t last, Frontier* curves) {
        auto curve = [&](std::size_t k) -> Frontier& { return curves[k * resamples_.classes]; };
        Real tp[lanes] = {}, fp[lanes] = {}, tp_before[lanes] = {};
        double cross_rate[lanes] = {}, rate[lanes];
        std::fill(crossed_.begin(), crossed_.end(), Real{0});
        LanesToLookAt<double, lanes> to_look_at;
        const double margin = doubt(ordered);
        auto look = [&](const Real* weights) {
            for (std::size_t k = 0; k < lanes; ++k) rate[k] = fp[k] * fp_price_[k] + cross_rate[k];
            to_look_at.visit(rate, weights, [&](std::size_t k) {
                const double exact = exact_rate(fp[k], first + k, k);
                if (exact > psds_.max_efpr) return;
                curve(k).add(exact, static_cast<int64_t>(tp[k]));
                to_look_at.to_beat[k] = std::min(to_look_at.to_beat[k], exact + margin);
            });
        };
        bool at_point = false, tp_changed = false;
        for (const auto& row : ordered.rows()) {
            const Real* weights = weights_.of_clip(row.clip);
            if (at_point && (!row.last || row.makes_worse()))
                look(row.last ? weights : weights_.of_any());
            if (row.label >= 0) {
                const auto m = static_cast<std::size_t>(row.label) * lanes;
                Real* const crossed = crossed_.data() + m;
                const double* const prices = cross_prices_.data() + m;
                const Real change = static_cast<Real>(row.ct);
                for (std::size_t k = 0; k < lanes; ++k) {
                    const Real weighted = weights[k] * change;
                    crossed[k] += weighted;
                    cross_rate[k] += weighted * prices[k];
                }
            } else {
                const Real change = static_cast<Real>(row.fp);
                for (std::size_t k = 0; k < lanes; ++k) fp[k] += weights[k] * change;
            }
            if (row.tp) {
                const Real change = static_cast<Real>(row.tp);
                for (std::size_t k = 0; k < lanes; ++k) tp[k] += weights[k] * change;
                tp_changed = true;
            }
            at_point = row.last;
            if (!at_point || !tp_changed) continue;
            tp_changed = false;
            for (std::size_t k = 0; k < last - first; ++k) {
                if (tp[k] == tp_before[k]) continue;
                tp_before[k] = tp[k];
                to_look_at.to_beat[k] =
                    margin + curve(k).cost_to_beat(static_cast<int64_t>(tp[k]), psds_.max_efpr);
            }
        }
        look(weights_.of_any());
    }

    const Resamples& resamples_;
    const PsdsDefinition& psds_;
    std::vector<std::size_t> present_;  // classes with references, by name
    LaneWeights<Real, lanes> weights_;
    std::vector<Real> crossed_;         // classes x lanes: cross-triggers on each class
    double fp_price_[lanes];
    std::vector<double> cross_prices_;  // classes x lanes
    double others_[lanes];              // classes beside the one in question
};

}  // namespace sedscope
