// Of the matchings with the most pairs, the one with the smallest boundary errors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <tuple>
#include <vector>

#include "core/time.hpp"

namespace sedscope {

// Sums of the boundary errors of pairs. The smaller errors are preferred; they compare as tuples.
// A pair with an ignored reference has no errors, but any other pair is preferred to it.
struct PairErrors {
    Time judged = 0, total = 0;  // of absolute values: of the boundaries that are judged, of both
    Time onset = 0, offset = 0;  // signed
    int64_t ignored = 0;         // the number of pairs with ignored references

    PairErrors& operator+=(const PairErrors& other) {
        ignored += other.ignored;
        judged += other.judged;
        total += other.total;
        onset += other.onset;
        offset += other.offset;
        return *this;
    }
    PairErrors operator-() const { return {-judged, -total, -onset, -offset, -ignored}; }
    friend PairErrors operator+(PairErrors a, const PairErrors& b) { return a += b; }
    friend bool operator<(const PairErrors& a, const PairErrors& b) {
        return std::tie(a.ignored, a.judged, a.total, a.onset, a.offset) <
               std::tie(b.ignored, b.judged, b.total, b.onset, b.offset);
    }
};

// The edges [first, end) of a detection; each leads to a reference that it can be paired with.
struct EdgeRange {
    std::size_t first, end;
};

// Adds pairs one by one, each along the augmenting path that adds the least error, until no more
// can be added.
class LeastErrorMatching {
public:
    static constexpr std::size_t no_edge = std::numeric_limits<std::size_t>::max();

    // Returns the summed errors of the matching. `edges_of(i)` is the EdgeRange of detection i,
    // `reference_of(e)` the reference, below `references`, and `errors[e]` the errors of edge e.
    template <class EdgesOf, class ReferenceOf>
    PairErrors match(std::size_t detections, std::size_t references, const PairErrors* errors,
                     EdgesOf&& edges_of, ReferenceOf&& reference_of) {
        std::vector<uint32_t> detection_of(references, none);
        chosen_.assign(detections, no_edge);
        PairErrors sum;
        while (true) {
            // The least errors to reach each reference from a free detection (Bellman-Ford).
            std::vector<PairErrors> least(references);
            std::vector<std::size_t> through(references, no_edge);
            std::vector<std::size_t> from(references, 0);
            for (bool changed = true; changed;) {
                changed = false;
                for (std::size_t i = 0; i < detections; ++i) {
                    PairErrors start;
                    if (chosen_[i] != no_edge) {  // it would have to leave its reference
                        const uint32_t own = reference_of(chosen_[i]);
                        if (through[own] == no_edge) continue;
                        start = least[own] + -errors[chosen_[i]];
                    }
                    const EdgeRange edges = edges_of(i);
                    for (std::size_t edge = edges.first; edge < edges.end; ++edge) {
                        if (edge == chosen_[i]) continue;
                        const uint32_t reference = reference_of(edge);
                        const PairErrors reach = start + errors[edge];
                        if (through[reference] == no_edge || reach < least[reference]) {
                            least[reference] = reach;
                            through[reference] = edge;
                            from[reference] = i;
                            changed = true;
                        }
                    }
                }
            }
            uint32_t best = none;
            for (std::size_t j = 0; j < references; ++j)
                if (through[j] != no_edge && detection_of[j] == none &&
                    (best == none || least[j] < least[best]))
                    best = static_cast<uint32_t>(j);
            if (best == none) return sum;
            sum += least[best];
            for (uint32_t reference = best; reference != none;) {
                const std::size_t i = from[reference];
                const uint32_t left = chosen_[i] == no_edge ? none : reference_of(chosen_[i]);
                chosen_[i] = through[reference];
                detection_of[reference] = static_cast<uint32_t>(i);
                reference = left;
            }
        }
    }

    // The edge of the pair in which detection i is, or no_edge.
    std::size_t chosen(std::size_t i) const { return chosen_[i]; }

private:
    static constexpr uint32_t none = std::numeric_limits<uint32_t>::max();

    std::vector<std::size_t> chosen_;
};

}  // namespace sedscope
