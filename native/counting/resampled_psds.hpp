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
#include "counting/frontier.hpp"
#include "counting/frontiers_by_count.hpp"
#include "counting/frontiers_by_rate.hpp"
#include "counting/psds_definition.hpp"
#include "counting/resamples.hpp"

namespace sedscope {

// Measures a few resamples side by side, so that it reads a row of deltas once for all of them. One
// per thread: it keeps its buffers.
template <class Frontiers>
class PsdsResampler {
public:
    static constexpr std::size_t lanes = Frontiers::lanes;

    PsdsResampler(const Resamples& resamples, const PsdsDefinition& psds)
        : resamples_(resamples),
          psds_(psds),
          frontiers_(resamples, psds),
          curves_(resamples.classes * lanes),
          tpr_(resamples.classes),
          next_(resamples.classes) {}

    // Writes the PSDS of resamples [first, last), at most `lanes`, over all classes and per class.
    // Each variant of the scores has rows per class; at each rate the best of all variants counts.
    template <class Variant>
    void measure(const std::vector<const Variant*>& variants, std::size_t first, std::size_t last,
                 double* values, double* class_values) {
        for (Frontier& curve : curves_) curve.clear();
        frontiers_.find(variants, first, last, curves_.data());
        for (std::size_t i = first; i < last; ++i) {
            const Frontier* curves = curves_.data() + (i - first) * resamples_.classes;
            const int64_t* references = resamples_.references_of(i);
            double* row = class_values + i * resamples_.classes;
            resamples_.find_present(i, present_);
            std::fill_n(row, resamples_.classes, std::numeric_limits<double>::quiet_NaN());
            for (std::size_t c : present_)
                row[c] = class_area(curves[c], references[c]) / psds_.max_efpr;
            values[i] = overall_area(curves, references) / psds_.max_efpr;
        }
    }

private:
    double class_area(const Frontier& curve, int64_t references) const {
        const auto& vertices = curve.vertices();
        double area = 0;
        for (std::size_t i = 0; i < vertices.size(); ++i) {
            const double end = i + 1 < vertices.size() ? vertices[i + 1].cost : psds_.max_efpr;
            area += (end - vertices[i].cost) *
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
                if (next < vertices.size() && vertices[next].cost == rate) {
                    tpr_[c] =
                        static_cast<double>(vertices[next].tp) / static_cast<double>(references[c]);
                    ++next;
                }
                if (next < vertices.size()) {
                    next_rate =
                        more ? std::min(next_rate, vertices[next].cost) : vertices[next].cost;
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

    const Resamples& resamples_;
    const PsdsDefinition& psds_;
    Frontiers frontiers_;
    std::vector<Frontier> curves_;      // lanes x classes
    std::vector<std::size_t> present_;  // classes with references, by name
    std::vector<double> tpr_;
    std::vector<std::size_t> next_;
};

// Writes the PSDS of all resamples: `values` (count), `class_values` (count x classes).
template <class Frontiers, class Variant>
void resampled_psds(const std::vector<const Variant*>& variants, const Resamples& resamples,
                    const PsdsDefinition& psds, std::size_t threads, double* values,
                    double* class_values) {
    using Resampler = PsdsResampler<Frontiers>;
    constexpr std::size_t lanes = Resampler::lanes;
    parallel_for((resamples.count + lanes - 1) / lanes, threads, [&] {
        return [&, resampler = Resampler(resamples, psds)](std::size_t block) mutable {
            const std::size_t first = block * lanes;
            resampler.measure(variants, first, std::min(first + lanes, resamples.count), values,
                              class_values);
        };
    });
}

}  // namespace sedscope
