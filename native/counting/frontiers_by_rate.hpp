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
#include "counting/point_sweep.hpp"
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
            if (resamples_.durations[i] == 0) continue;  // only clips without frames were drawn
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

    // The false positives and cross-triggers of each lane, and their rates, computed fast.
    class Rates {
    public:
        explicit Rates(FrontiersByRate& parent) : parent_(parent) {
            std::fill(parent.crossed_.begin(), parent.crossed_.end(), Real{0});
        }

        template <class Row>
        void add(const Row& row, const Real* weights) {
            if (row.label < 0) {
                false_positives_.add(row, weights);
                return;
            }
            const auto m = static_cast<std::size_t>(row.label) * lanes;
            Real* const crossed = parent_.crossed_.data() + m;
            const double* const prices = parent_.cross_prices_.data() + m;
            const Real change = static_cast<Real>(row.ct);
            for (std::size_t k = 0; k < lanes; ++k) {
                const Real weighted = weights[k] * change;
                crossed[k] += weighted;
                cross_rate_[k] += weighted * prices[k];
            }
        }

        const double* costs() {
            const Real* const fp = false_positives_.costs();
            for (std::size_t k = 0; k < lanes; ++k)
                rate_[k] = fp[k] * parent_.fp_price_[k] + cross_rate_[k];
            return rate_;
        }

        // The arithmetic has the same order as for one set of counts.
        double exact(std::size_t lane, std::size_t resample) const {
            const Resamples& resamples = parent_.resamples_;
            double total = 0;
            for (int64_t m : resamples.order) {
                const double crossed = parent_.crossed_[static_cast<std::size_t>(m) * lanes + lane];
                if (crossed != 0) total += crossed / resamples.reference_times_of(resample)[m];
            }
            const double cross_rate = parent_.psds_.alpha_ct * total / parent_.others_[lane];
            const double fp = false_positives_.costs()[lane];
            return (fp / resamples.durations[resample] + cross_rate) *
                   parent_.psds_.seconds_per_unit;
        }

    private:
        FrontiersByRate& parent_;
        FalsePositives<Real, lanes> false_positives_;
        double cross_rate_[lanes] = {}, rate_[lanes];
    };

    // `curves`: those of the class in each lane, as many apart as there are classes.
    template <class Rows>
    void add_points(const Rows& ordered, std::size_t first, std::size_t last, Frontier* curves) {
        auto curve = [&](std::size_t k) -> Frontier& { return curves[k * resamples_.classes]; };
        const double margin = doubt(ordered);
        Rates rates(*this);
        auto limit = [&](std::size_t k, Real tp) {
            return margin + curve(k).cost_to_beat(static_cast<int64_t>(tp), psds_.max_efpr);
        };
        auto look = [&](std::size_t k, Real tp) {
            const double exact = rates.exact(k, first + k);
            if (exact > psds_.max_efpr) return std::numeric_limits<double>::infinity();
            curve(k).add(exact, static_cast<int64_t>(tp));
            return exact + margin;
        };
        sweep_points(ordered, weights_, last - first, rates, limit, look);
    }

    const Resamples& resamples_;
    const PsdsDefinition& psds_;
    std::vector<std::size_t> present_;  // classes with references, by name
    LaneWeights<Real, lanes> weights_;
    std::vector<Real> crossed_;  // classes x lanes: cross-triggers on each class
    double fp_price_[lanes];
    std::vector<double> cross_prices_;  // classes x lanes
    double others_[lanes];              // classes beside the one in question
};

}  // namespace sedscope
