// The polyphonic sound detection score (PSDS) of many resamples: sets of weights of the clips.
//
// The arithmetic has the same order as for one set of counts, so that the results are the same bit
// by bit.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "core/parallel.hpp"
#include "counting/lane_weights.hpp"
#include "counting/weighted_counts.hpp"

namespace sedscope {

struct PsdsDefinition {
    double alpha_ct, alpha_st, max_efpr, seconds_per_unit;
};

// The resamples: their weights, and the durations and references that follow from the weights.
struct Resamples {
    std::size_t count, clips, classes;
    const int32_t* weights;         // count x clips
    int64_t heaviest;               // of the weights
    const double* durations;        // count, seconds
    const int64_t* references;      // count x classes
    const double* reference_times;  // count x classes, seconds
};

// The most true positives at each rate, as the vertices of a step curve: both increase strictly.
class Frontier {
public:
    struct Vertex {
        double rate;
        int64_t tp;
    };

    void clear() { vertices_.clear(); }
    const std::vector<Vertex>& vertices() const { return vertices_; }

    // The rate below which a point with so many true positives changes the curve, or `otherwise`.
    double rate_to_beat(int64_t tp, double otherwise) const {
        if (tp <= 0) return -std::numeric_limits<double>::infinity();
        auto at = vertices_.end();  // the first vertex with as many true positives
        while (at != vertices_.begin() && (at - 1)->tp >= tp) --at;
        return at == vertices_.end() ? otherwise : at->rate;
    }

    void add(double rate, int64_t tp) {
        auto at = vertices_.end();  // the first vertex with this rate or a higher one
        while (at != vertices_.begin() && (at - 1)->rate >= rate) --at;
        if (tp <= (at == vertices_.begin() ? 0 : (at - 1)->tp)) return;
        auto end = at;  // the vertices that the new one replaces
        while (end != vertices_.end() && end->tp <= tp) ++end;
        if (at != vertices_.end() && at->rate == rate && at->tp >= tp) return;
        if (at == end) {
            vertices_.insert(at, {rate, tp});
        } else {
            *at = {rate, tp};
            vertices_.erase(at + 1, end);
        }
    }

private:
    std::vector<Vertex> vertices_;
};

// Measures a few resamples side by side, so that it reads a row of deltas once for all of them.
// Each variant of the scores has rows per class; at each rate the best of all variants counts. One
// per thread: it keeps its buffers.
//
// Rates of all points are computed fast, with some rounding error. Only where such a rate may
// change the curve of a resample, the exact one is computed.
template <class T>
class PsdsResampler {
public:
    using Variant = std::vector<OrderedRows<T>>;
    static constexpr std::size_t lanes = 32;

    // `order`: the classes sorted by name; sums over classes are taken in this order.
    PsdsResampler(const std::vector<const Variant*>& variants, const Resamples& resamples,
                  const PsdsDefinition& psds, const int64_t* order)
        : variants_(variants),
          resamples_(resamples),
          psds_(psds),
          order_(order, order + resamples.classes),
          curves_(resamples.classes * lanes),
          crossed_(resamples.classes * lanes),
          cross_prices_(resamples.classes * lanes),
          tpr_(resamples.classes),
          next_(resamples.classes) {}

    // Writes the PSDS of resamples [first, last), at most `lanes`, over all classes and per class.
    void measure(std::size_t first, std::size_t last, double* values, double* class_values) {
        find_curves(first, last);
        for (std::size_t i = first; i < last; ++i) {
            const Frontier* curves = curves_.data() + (i - first) * resamples_.classes;
            double* row = class_values + i * resamples_.classes;
            find_present(i);
            std::fill_n(row, resamples_.classes, std::numeric_limits<double>::quiet_NaN());
            for (std::size_t c : present_)
                row[c] = class_area(curves[c], references(i)[c]) / psds_.max_efpr;
            values[i] = overall_area(curves, references(i)) / psds_.max_efpr;
        }
    }

private:
    const int64_t* references(std::size_t resample) const {
        return resamples_.references + resample * resamples_.classes;
    }
    const double* reference_times(std::size_t resample) const {
        return resamples_.reference_times + resample * resamples_.classes;
    }

    void find_present(std::size_t resample) {
        present_.clear();
        for (int64_t c : order_)
            if (references(resample)[c]) present_.push_back(static_cast<std::size_t>(c));
    }

    void find_curves(std::size_t first, std::size_t last) {
        weights_.assign(resamples_.weights, resamples_.clips, first, last);
        find_prices(first, last);
        for (Frontier& curve : curves_) curve.clear();
        for (std::size_t c = 0; c < resamples_.classes; ++c)
            for (const Variant* variant : variants_) add_points(first, last, c, (*variant)[c]);
    }

    // What a false positive, and a cross-trigger on each class, add to the rate of each lane.
    void find_prices(std::size_t first, std::size_t last) {
        std::fill_n(fp_price_, lanes, 0.0);
        std::fill(cross_prices_.begin(), cross_prices_.end(), 0.0);
        for (std::size_t i = first; i < last; ++i) {
            const std::size_t k = i - first;
            find_present(i);
            others_[k] = static_cast<double>(std::max<std::size_t>(2, present_.size()) - 1);
            fp_price_[k] = psds_.seconds_per_unit / resamples_.durations[i];
            for (std::size_t m : present_)
                if (const double time = reference_times(i)[m]; time > 0)
                    cross_prices_[m * lanes + k] =
                        psds_.alpha_ct * psds_.seconds_per_unit / (others_[k] * time);
        }
    }

    // More than the fast rates of a class can differ from the exact ones: each of its rows adds a
    // rounding error to a sum that is at most the turnover times the highest price.
    double doubt(const OrderedRows<T>& ordered) const {
        double price = *std::max_element(fp_price_, fp_price_ + lanes);
        for (double of_class : cross_prices_) price = std::max(price, of_class);
        const double rows = static_cast<double>(ordered.rows().size()) +
                            static_cast<double>(resamples_.classes) + 16;
        return 4 * std::numeric_limits<double>::epsilon() * rows * price *
               static_cast<double>(ordered.turnover()) * static_cast<double>(resamples_.heaviest);
    }

    // `lane`: of the resample.
    double exact_rate(double fp, std::size_t resample, std::size_t lane) const {
        double total = 0;
        if (psds_.alpha_ct > 0)
            for (int64_t m : order_) {
                const double crossed = crossed_[static_cast<std::size_t>(m) * lanes + lane];
                if (crossed != 0) total += crossed / reference_times(resample)[m];
            }
        const double cross_rate = psds_.alpha_ct * total / others_[lane];
        return (fp / resamples_.durations[resample] + cross_rate) * psds_.seconds_per_unit;
    }

    Frontier& curve(std::size_t lane, std::size_t c) {
        return curves_[lane * resamples_.classes + c];
    }

    void add_points(std::size_t first, std::size_t last, std::size_t c,
                    const OrderedRows<T>& ordered) {
        double tp[lanes] = {}, fp[lanes] = {}, cross_rate[lanes] = {}, rate[lanes];
        double tp_before[lanes] = {};
        std::fill(crossed_.begin(), crossed_.end(), 0.0);
        LanesToLookAt<double, lanes> to_look_at;
        const double margin = doubt(ordered);
        auto look = [&](const double* weights) {
            for (std::size_t k = 0; k < lanes; ++k) rate[k] = fp[k] * fp_price_[k] + cross_rate[k];
            to_look_at.visit(rate, weights, [&](std::size_t k) {
                const double exact = exact_rate(fp[k], first + k, k);
                if (exact > psds_.max_efpr) return;
                curve(k, c).add(exact, static_cast<int64_t>(tp[k]));
                // without cross-triggers, equal rates are those of equal counts
                const double to_beat = psds_.alpha_ct > 0 ? exact + margin : rate[k];
                to_look_at.to_beat[k] = std::min(to_look_at.to_beat[k], to_beat);
            });
        };
        bool at_point = false, tp_changed = false;
        for (const OrderedRow<int8_t>& row : ordered.rows()) {
            const double* weights = weights_.of_clip(row.clip);
            if (at_point && (!row.last || row.makes_worse()))
                look(row.last ? weights : weights_.of_any());
            if (row.label >= 0) {
                const auto m = static_cast<std::size_t>(row.label) * lanes;
                double *crossed = crossed_.data() + m, *prices = cross_prices_.data() + m;
                const double change = row.ct;
                for (std::size_t k = 0; k < lanes; ++k) crossed[k] += weights[k] * change;
                for (std::size_t k = 0; k < lanes; ++k)
                    cross_rate[k] += weights[k] * change * prices[k];
            } else {
                const double change = row.fp;
                for (std::size_t k = 0; k < lanes; ++k) fp[k] += weights[k] * change;
            }
            if (row.tp) {
                const double change = row.tp;
                for (std::size_t k = 0; k < lanes; ++k) tp[k] += weights[k] * change;
                tp_changed = true;
            }
            at_point = row.last;
            if (!at_point || !tp_changed) continue;
            tp_changed = false;
            for (std::size_t k = 0; k < last - first; ++k) {
                if (tp[k] == tp_before[k]) continue;
                tp_before[k] = tp[k];
                to_look_at.to_beat[k] = margin + curve(k, c).rate_to_beat(
                                                     static_cast<int64_t>(tp[k]), psds_.max_efpr);
            }
        }
        look(weights_.of_any());
    }

    double class_area(const Frontier& curve, int64_t references) const {
        const auto& vertices = curve.vertices();
        double area = 0;
        for (std::size_t i = 0; i < vertices.size(); ++i) {
            const double end = i + 1 < vertices.size() ? vertices[i + 1].rate : psds_.max_efpr;
            area += (end - vertices[i].rate) *
                    (static_cast<double>(vertices[i].tp) / static_cast<double>(references));
        }
        return area;
    }

    double overall_area(const Frontier* curves, const int64_t* references) {
        if (present_.empty()) return std::numeric_limits<double>::quiet_NaN();
        const auto classes = static_cast<double>(present_.size());
        std::fill(next_.begin(), next_.end(), 0);
        std::fill(tpr_.begin(), tpr_.end(), 0.0);
        double area = 0, rate = 0;
        while (true) {
            double next_rate = psds_.max_efpr;
            bool more = false;
            for (std::size_t c : present_) {
                const auto& vertices = curves[c].vertices();
                std::size_t& next = next_[c];
                if (next < vertices.size() && vertices[next].rate == rate) {
                    tpr_[c] =
                        static_cast<double>(vertices[next].tp) / static_cast<double>(references[c]);
                    ++next;
                }
                if (next < vertices.size()) {
                    next_rate =
                        more ? std::min(next_rate, vertices[next].rate) : vertices[next].rate;
                    more = true;
                }
            }
            double sum = 0, squares = 0;
            for (std::size_t c : present_) sum += tpr_[c];
            const double mean = sum / classes;
            for (std::size_t c : present_) squares += (tpr_[c] - mean) * (tpr_[c] - mean);
            const double deviation = std::sqrt(squares / classes);
            area += (next_rate - rate) * std::max(mean - psds_.alpha_st * deviation, 0.0);
            if (!more) return area;
            rate = next_rate;
        }
    }

    const std::vector<const Variant*>& variants_;
    const Resamples& resamples_;
    const PsdsDefinition& psds_;
    std::vector<int64_t> order_;
    std::vector<std::size_t> present_;  // classes with references, by name
    LaneWeights<double, lanes> weights_;
    std::vector<Frontier> curves_;      // lanes x classes
    std::vector<double> crossed_;       // classes x lanes: cross-triggers on each class
    double fp_price_[lanes];
    std::vector<double> cross_prices_;  // classes x lanes
    double others_[lanes];              // classes beside the one in question
    std::vector<double> tpr_;
    std::vector<std::size_t> next_;
};

// Writes the PSDS of all resamples: `values` (count), `class_values` (count x classes).
template <class T>
void resampled_psds(const std::vector<const std::vector<OrderedRows<T>>*>& variants,
                    const Resamples& resamples, const PsdsDefinition& psds, const int64_t* order,
                    std::size_t threads, double* values, double* class_values) {
    constexpr std::size_t lanes = PsdsResampler<T>::lanes;
    parallel_for((resamples.count + lanes - 1) / lanes, threads, [&] {
        return [&, resampler = PsdsResampler<T>(variants, resamples, psds, order)](
                   std::size_t block) mutable {
            const std::size_t first = block * lanes;
            resampler.measure(first, std::min(first + lanes, resamples.count), values,
                              class_values);
        };
    });
}

}  // namespace sedscope
