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
#include "counting/weighted_counts.hpp"

namespace sedscope {

struct PsdsDefinition {
    double alpha_ct, alpha_st, max_efpr, seconds_per_unit;
};

// The resamples: their weights, and the durations and references that follow from the weights.
struct Resamples {
    std::size_t count, clips, classes;
    const int32_t* weights;         // count x clips
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
template <class T>
class PsdsResampler {
public:
    using Variant = std::vector<OrderedRows<T>>;
    static constexpr std::size_t lanes = 8;

    // `order`: the classes sorted by name; sums over classes are taken in this order.
    PsdsResampler(const std::vector<const Variant*>& variants, const Resamples& resamples,
                  const PsdsDefinition& psds, const int64_t* order)
        : variants_(variants),
          resamples_(resamples),
          psds_(psds),
          order_(order, order + resamples.classes),
          weights_(resamples.clips * lanes),
          curves_(resamples.classes * lanes),
          shares_(resamples.classes),
          crossed_(resamples.classes),
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

    void find_present(std::size_t resample) {
        present_.clear();
        for (int64_t c : order_)
            if (references(resample)[c]) present_.push_back(static_cast<std::size_t>(c));
    }

    void find_curves(std::size_t first, std::size_t last) {
        for (Frontier& curve : curves_) curve.clear();
        if (psds_.alpha_ct > 0) {
            for (std::size_t i = first; i < last; ++i) {
                find_present(i);
                for (std::size_t c : present_)
                    for (const Variant* variant : variants_)
                        add_points_with_cross_triggers(i, (*variant)[c], curve(i - first, c));
            }
            return;
        }
        std::fill(weights_.begin(), weights_.end(), 0);
        for (std::size_t i = first; i < last; ++i)
            for (std::size_t clip = 0; clip < resamples_.clips; ++clip)
                weights_[clip * lanes + (i - first)] =
                    resamples_.weights[i * resamples_.clips + clip];
        // the difference of two counts must fit, too
        const int64_t narrow = std::numeric_limits<int32_t>::max() / (2 * heaviest());
        for (std::size_t c = 0; c < resamples_.classes; ++c)
            for (const Variant* variant : variants_) {
                const OrderedRows<T>& ordered = (*variant)[c];
                if (ordered.turnover() <= narrow)
                    add_points<int32_t>(first, last, c, ordered);
                else
                    add_points<int64_t>(first, last, c, ordered);
            }
    }

    int64_t heaviest() const {
        int64_t most = 1;
        for (int32_t weight : weights_) most = std::max<int64_t>(most, weight);
        return most;
    }

    Frontier& curve(std::size_t lane, std::size_t c) {
        return curves_[lane * resamples_.classes + c];
    }

    // `Sum` is wide enough for the counts of these resamples.
    template <class Sum>
    void add_points(std::size_t first, std::size_t last, std::size_t c,
                    const OrderedRows<T>& ordered) {
        Sum tp[lanes] = {}, fp[lanes] = {};
        Sum best_tp[lanes] = {}, best_fp[lanes] = {};  // to exceed, for a point to matter
        for (const OrderedRow& row : ordered.rows()) {
            const int32_t* weights = weights_.data() + static_cast<std::size_t>(row.clip) * lanes;
            if (row.tp)
                for (std::size_t k = 0; k < lanes; ++k) tp[k] += Sum{weights[k]} * row.tp;
            for (std::size_t k = 0; k < lanes; ++k) fp[k] += Sum{weights[k]} * row.fp;
            Sum better = 0;
            for (std::size_t k = 0; k < lanes; ++k)
                better |= (best_tp[k] - tp[k]) | (fp[k] - best_fp[k]);  // negative if any is
            if (better >= 0 || !row.last) continue;
            for (std::size_t i = first; i < last; ++i) {
                const std::size_t k = i - first;
                if (tp[k] <= best_tp[k] && fp[k] >= best_fp[k]) continue;
                const double rate =
                    static_cast<double>(fp[k]) / resamples_.durations[i] * psds_.seconds_per_unit;
                if (rate <= psds_.max_efpr) curve(k, c).add(rate, tp[k]);
                best_tp[k] = tp[k];
                best_fp[k] = fp[k];
            }
        }
    }

    void add_points_with_cross_triggers(std::size_t resample, const OrderedRows<T>& ordered,
                                        Frontier& curve) {
        const int32_t* weights = resamples_.weights + resample * resamples_.clips;
        const double* times = resamples_.reference_times + resample * resamples_.classes;
        const double duration = resamples_.durations[resample];
        const auto others = static_cast<double>(std::max<std::size_t>(1, present_.size() - 1));
        std::fill(crossed_.begin(), crossed_.end(), 0);
        std::fill(shares_.begin(), shares_.end(), 0.0);
        int64_t tp = 0, fp = 0;
        double cross_rate = 0;
        bool cross_changed = false;
        for (const OrderedRow& row : ordered.rows()) {
            const int64_t weight = weights[row.clip];
            tp += weight * row.tp;
            fp += weight * row.fp;
            if (row.label >= 0 && weight) {
                const auto m = static_cast<std::size_t>(row.label);
                crossed_[m] += weight * row.ct;
                shares_[m] = static_cast<double>(crossed_[m]) / times[m];
                cross_changed = true;
            }
            if (!row.last) continue;
            if (cross_changed) {
                double total = 0;
                for (int64_t m : order_) total += shares_[static_cast<std::size_t>(m)];
                cross_rate = psds_.alpha_ct * total / others;
                cross_changed = false;
            }
            const double rate =
                (static_cast<double>(fp) / duration + cross_rate) * psds_.seconds_per_unit;
            if (rate <= psds_.max_efpr) curve.add(rate, tp);
        }
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
    std::vector<int32_t> weights_;      // clips x lanes
    std::vector<Frontier> curves_;      // lanes x classes
    std::vector<double> shares_;        // cross-triggers per reference time of each other class
    std::vector<int64_t> crossed_;
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
