// The largest possible number of pairs, and their errors, at every threshold.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <tuple>
#include <vector>

#include "grouped_sweep.hpp"
#include "maximum_matching.hpp"
#include "../clips/references.hpp"

namespace sedscope {

// Sum of signed boundary errors of pairs, in the order in which matchings are preferred.
struct PairErrors {
    Time total, onset, offset;  // total: of absolute values

    PairErrors& operator+=(const PairErrors& other) {
        total += other.total;
        onset += other.onset;
        offset += other.offset;
        return *this;
    }
    PairErrors operator-() const { return {-total, -onset, -offset}; }
    friend PairErrors operator+(PairErrors a, const PairErrors& b) { return a += b; }
    friend bool operator<(const PairErrors& a, const PairErrors& b) {
        return std::tie(a.total, a.onset, a.offset) < std::tie(b.total, b.onset, b.offset);
    }
};

// Detections with the references that each can be paired with, and how the largest possible number
// of pairs changes as the threshold falls.
template <class T>
class PairSweep {
public:
    void clear() {
        detections_.clear();
        partners_.clear();
        errors_.clear();
    }

    // Candidates of the next detection, and then the detection; one without candidates is left out.
    void add_candidate(std::size_t reference) {
        partners_.push_back(static_cast<uint32_t>(reference));
    }
    void add_candidate(std::size_t reference, Time onset_error, Time offset_error) {
        add_candidate(reference);
        const Time total = std::abs(onset_error) + std::abs(offset_error);
        errors_.push_back({total, onset_error, offset_error});
    }
    bool add_detection(T score, T parent) {
        const std::size_t first =
            detections_.empty() ? 0 : detections_.back().first + detections_.back().count;
        if (partners_.size() == first) return false;
        detections_.push_back({score, parent, first, partners_.size() - first});
        return true;
    }

    // Calls `emit(score, change of the number of pairs)`.
    template <class Emit>
    void count_pairs(T floor, std::size_t references, Emit&& emit) {
        const std::size_t groups = arrange(floor, references);
        for (std::size_t g = 0; g < groups; ++g) {
            if (sizes_[g] == 1)
                count_for_one(g, emit);
            else
                count_for_several(g, emit);
        }
    }

    // Calls `emit(score, change of the errors of all pairs)`: of the matchings with the most pairs
    // the one with the smallest errors counts.
    template <class Emit>
    void sum_errors(T floor, std::size_t references, Emit&& emit) {
        const std::size_t groups = arrange(floor, references);
        for (std::size_t g = 0; g < groups; ++g) {
            present_.clear();
            PairErrors before{0, 0, 0};
            changes_.sweep(
                g,
                [&](const Change& change) {
                    if (change.comes)
                        present_.push_back(change.detection);
                    else
                        present_.erase(
                            std::find(present_.begin(), present_.end(), change.detection));
                },
                [&](T score) {
                    const PairErrors now = smallest_errors(sizes_[g]);
                    const PairErrors difference = now + -before;
                    if (difference.onset || difference.offset) emit(score, difference);
                    before = now;
                });
        }
    }

    // With all detections there at once: calls `emit(detection, reference)` for each pair of the
    // matching with the most pairs and, of those, the smallest errors. Detections are numbered as
    // they were added, without those that were left out.
    template <class Emit>
    void best_pairs(std::size_t references, Emit&& emit) {
        const std::size_t groups = arrange(std::numeric_limits<T>::infinity(), references);
        for (std::size_t g = 0; g < groups; ++g) {
            present_.clear();
            changes_.sweep(
                g, [&](const Change& change) { present_.push_back(change.detection); }, [](T) {});
            std::sort(present_.begin(), present_.end());
            smallest_errors(sizes_[g]);
            for (std::size_t i = 0; i < present_.size(); ++i)
                if (chosen_[i] != no_edge) emit(present_[i], partners_[chosen_[i]]);
        }
    }

private:
    struct Paired {
        T score, parent;
        std::size_t first, count;  // candidates in partners_
    };
    // From this score on a detection is there, or no longer.
    struct Change {
        uint32_t group;
        T score;
        uint32_t detection;
        bool comes;
    };

    std::size_t arrange(T floor, std::size_t references) {
        const std::size_t groups = find_groups(references);
        changes_.entries.clear();
        for (std::size_t i = 0; i < detections_.size(); ++i) {
            const Paired& detection = detections_[i];
            const uint32_t group = group_[partners_[detection.first]];
            const auto number = static_cast<uint32_t>(i);
            changes_.entries.push({group, detection.score, number, true});
            if (detection.parent > floor)
                changes_.entries.push({group, detection.parent, number, false});
        }
        changes_.arrange(groups);
        matching_.reset(references, detections_.size());  // groups do not touch each other
        return groups;
    }

    // One reference: it has a pair while any of its detections is there.
    template <class Emit>
    void count_for_one(std::size_t group, Emit&& emit) {
        int32_t present = 0;
        bool found = false;
        changes_.sweep(
            group, [&](const Change& change) { present += change.comes ? 1 : -1; },
            [&](T score) {
                const bool now = present > 0;
                if (now != found) emit(score, now ? 1 : -1);
                found = now;
            });
    }

    // References that compete for detections.
    template <class Emit>
    void count_for_several(std::size_t group, Emit&& emit) {
        int32_t pairs = 0;
        changes_.sweep(
            group,
            [&](const Change& change) {
                const Paired& detection = detections_[change.detection];
                pairs += change.comes
                             ? matching_.add(change.detection, partners_.data() + detection.first,
                                             detection.count)
                             : matching_.remove(change.detection);
            },
            [&](T score) {
                if (pairs) emit(score, pairs);
                pairs = 0;
            });
    }

    // Numbers the sets of references that are linked by detections which could have either.
    std::size_t find_groups(std::size_t references) {
        parent_.resize(references);
        std::iota(parent_.begin(), parent_.end(), 0u);
        for (const Paired& detection : detections_)
            for (std::size_t k = 1; k < detection.count; ++k)
                parent_[root(partners_[detection.first + k])] = root(partners_[detection.first]);
        group_.assign(references, Matching::none);
        place_.resize(references);
        sizes_.clear();
        for (std::size_t j = 0; j < references; ++j) {
            const uint32_t top = root(static_cast<uint32_t>(j));
            if (group_[top] == Matching::none) {
                group_[top] = static_cast<uint32_t>(sizes_.size());
                sizes_.push_back(0);
            }
            group_[j] = group_[top];
            place_[j] = sizes_[group_[j]]++;
        }
        return sizes_.size();
    }
    uint32_t root(uint32_t j) {
        while (parent_[j] != j) j = parent_[j] = parent_[parent_[j]];
        return j;
    }

    // The errors of the best matching of the detections present: pairs are added one by one along
    // the path that adds the least, until no more can be added. References count by their place.
    // `chosen_` says which candidate each detection gets.
    PairErrors smallest_errors(std::size_t references) {
        constexpr uint32_t none = Matching::none;
        std::vector<uint32_t> detection_of(references, none);
        chosen_.assign(present_.size(), no_edge);
        PairErrors sum{0, 0, 0};
        while (true) {
            // Least errors to reach each reference from a detection without a pair (Bellman-Ford).
            std::vector<PairErrors> least(references);
            std::vector<std::size_t> through(references, no_edge);
            std::vector<std::size_t> from(references, 0);
            for (bool changed = true; changed;) {
                changed = false;
                for (std::size_t i = 0; i < present_.size(); ++i) {
                    const Paired& detection = detections_[present_[i]];
                    PairErrors start{0, 0, 0};
                    if (chosen_[i] != no_edge) {  // it would have to leave its reference
                        const uint32_t own = place_[partners_[chosen_[i]]];
                        if (through[own] == no_edge) continue;
                        start = least[own] + -errors_[chosen_[i]];
                    }
                    for (std::size_t e = detection.first; e < detection.first + detection.count;
                         ++e) {
                        if (e == chosen_[i]) continue;
                        const uint32_t reference = place_[partners_[e]];
                        const PairErrors reach = start + errors_[e];
                        if (through[reference] == no_edge || reach < least[reference]) {
                            least[reference] = reach;
                            through[reference] = e;
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
                const uint32_t left = chosen_[i] == no_edge ? none : place_[partners_[chosen_[i]]];
                chosen_[i] = through[reference];
                detection_of[reference] = static_cast<uint32_t>(i);
                reference = left;
            }
        }
    }

    static constexpr std::size_t no_edge = std::numeric_limits<std::size_t>::max();

    std::vector<Paired> detections_;
    std::vector<uint32_t> partners_;
    std::vector<PairErrors> errors_;  // of each candidate, if they are asked for
    std::vector<uint32_t> parent_;
    std::vector<uint32_t> group_, place_;  // of each reference; its place in the group
    std::vector<uint32_t> sizes_;          // of each group
    std::vector<uint32_t> present_;
    std::vector<std::size_t> chosen_;  // of each of them, an index into partners_ or no_edge
    GroupedSweep<Change> changes_;
    Matching matching_;
};

}  // namespace sedscope
