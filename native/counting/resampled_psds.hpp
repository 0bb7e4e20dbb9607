// The polyphonic sound detection score of clips with weights, for many weights.
//
// The same arithmetic in the same order as for one set of counts, so that the bits are the same.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "../core/parallel.hpp"
#include "weighted_counts.hpp"

namespace sedscope {

struct PsdsDefinition {
    double alpha_ct, alpha_st, max_efpr, seconds_per_unit;
};

// What the weights make of the set, for each of the resamples.
struct ResampledSets {
    std::size_t count, clips, classes;
    const int32_t* weights;         // count x clips
    const double* durations;        // count, seconds
    const int64_t* references;      // count x classes
    const double* reference_times;  // count x classes, seconds
};

// The best true positives at each rate, as the steps of a curve: both rise strictly.
class Frontier {
public:
    struct Vertex {
        double rate;
        int64_t tp;
    };

    void clear() { vertices_.clear(); }
    const std::vector<Vertex>& vertices() const { return vertices_; }

    void add(double rate, int64_t tp) {
        auto at = vertices_.end();  // the first vertex that costs as much or more
        while (at != vertices_.begin() && (at - 1)->rate >= rate) --at;
        if (tp <= (at == vertices_.begin() ? 0 : (at - 1)->tp)) return;
        auto end = at;  // vertices that are no better any more
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

// One worker: measures a few resamples side by side, so that a row of deltas is read once for all
// of them, and keeps its buffers. Each variant of the scores has rows per class; at each rate the
// best of all variants counts.
template <class T>
class PsdsResampler {
public:
    using Variant = std::vector<OrderedRows<T>>;
    static constexpr std::size_t lanes = 8;

    // `order`: the classes by name, in which sums over classes are taken.
    PsdsResampler(const std::vector<const Variant*>& variants, const ResampledSets& sets,
                  const PsdsDefinition& psds, const int64_t* order)
        : variants_(variants),
          sets_(sets),
          psds_(psds),
          order_(order, order + sets.classes),
          weights_(sets.clips * lanes),
          curves_(sets.classes * lanes),
          shares_(sets.classes),
          crossed_(sets.classes),
          tpr_(sets.classes),
          next_(sets.classes) {}

    // The scores of resamples [first, last), at most `lanes`, over all classes and of each class.
    void measure(std::size_t first, std::size_t last, double* values, double* class_values) {
        find_curves(first, last);
        for (std::size_t i = first; i < last; ++i) {
            const Frontier* curves = curves_.data() + (i - first) * sets_.classes;
            double* of_classes = class_values + i * sets_.classes;
            find_present(i);
            std::fill_n(of_classes, sets_.classes, std::numeric_limits<double>::quiet_NaN());
            for (std::size_t c : present_)
                of_classes[c] = class_area(curves[c], references(i)[c]) / psds_.max_efpr;
            values[i] = overall_area(curves, references(i)) / psds_.max_efpr;
        }
    }

private:
    const int64_t* references(std::size_t resample) const {
        return sets_.references + resample * sets_.classes;
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
            for (std::size_t clip = 0; clip < sets_.clips; ++clip)
                weights_[clip * lanes + (i - first)] = sets_.weights[i * sets_.clips + clip];
        // differences of two counts must fit, too
        const int64_t narrow = std::numeric_limits<int32_t>::max() / (2 * heaviest());
        for (std::size_t c = 0; c < sets_.classes; ++c)
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

    Frontier& curve(std::size_t lane, std::size_t c) { return curves_[lane * sets_.classes + c]; }

    // `Sum` holds the counts whatever the weights of these resamples.
    template <class Sum>
    void add_points(std::size_t first, std::size_t last, std::size_t c,
                    const OrderedRows<T>& ordered) {
        Sum tp[lanes] = {}, fp[lanes] = {};
        Sum best_tp[lanes] = {}, best_fp[lanes] = {};  // to be surpassed to be worth a look
        for (const OrderedRow& row : ordered.rows()) {
            const int32_t* weights = weights_.data() + static_cast<std::size_t>(row.clip) * lanes;
            if (row.tp)
                for (std::size_t k = 0; k < lanes; ++k) tp[k] += Sum{weights[k]} * row.tp;
            for (std::size_t k = 0; k < lanes; ++k) fp[k] += Sum{weights[k]} * row.fp;
            Sum better = 0;
            for (std::size_t k = 0; k < lanes; ++k)
                better |= (best_tp[k] - tp[k]) | (fp[k] - best_fp[k]);  // negative if either is
            if (better >= 0 || !row.last) continue;
            for (std::size_t i = first; i < last; ++i) {
                const std::size_t k = i - first;
                if (tp[k] <= best_tp[k] && fp[k] >= best_fp[k]) continue;
                const double rate =
                    static_cast<double>(fp[k]) / sets_.durations[i] * psds_.seconds_per_unit;
                if (rate <= psds_.max_efpr) curve(k, c).add(rate, tp[k]);
                best_tp[k] = tp[k];
                best_fp[k] = fp[k];
            }
        }
    }

    void add_points_with_cross_triggers(std::size_t resample, const OrderedRows<T>& ordered,
                                        Frontier& curve) {
        const int32_t* weights = sets_.weights + resample * sets_.clips;
        const double* times = sets_.reference_times + resample * sets_.classes;
        const double duration = sets_.durations[resample];
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
    const ResampledSets& sets_;
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

// Scores of all resamples: `values` (count), `class_values` (count x classes).
template <class T>
void resampled_psds(const std::vector<const std::vector<OrderedRows<T>>*>& variants,
                    const ResampledSets& sets, const PsdsDefinition& psds, const int64_t* order,
                    std::size_t threads, double* values, double* class_values) {
    constexpr std::size_t lanes = PsdsResampler<T>::lanes;
    parallel_for((sets.count + lanes - 1) / lanes, threads, [&] {
        return [&, resampler =
                       PsdsResampler<T>(variants, sets, psds, order)](std::size_t block) mutable {
            const std::size_t first = block * lanes;
            resampler.measure(first, std::min(first + lanes, sets.count), values, class_values);
        };
    });
}

}  // namespace sedscope
