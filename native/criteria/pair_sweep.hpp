// The largest possible number of pairs, and their boundary errors, at every threshold.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include "criteria/grouped_sweep.hpp"
#include "criteria/least_error_matching.hpp"
#include "criteria/maximum_matching.hpp"

namespace sedscope {

// Collects detections with the references that each can be paired with, then sweeps the threshold
// from high to low.
template <class T>
class PairSweep {
public:
    void clear() {
        detections_.clear();
        partners_.clear();
        errors_.clear();
    }

    // Add the candidates of a detection first, then the detection. A detection without candidates
    // is left out: then `add_detection` returns false.
    void add_candidate(std::size_t reference) {
        partners_.push_back(static_cast<uint32_t>(reference));
    }
    void add_candidate(std::size_t reference, const PairErrors& errors) {
        add_candidate(reference);
        errors_.push_back(errors);
    }
    // The candidate does not count: it may only keep a detection from being false.
    void add_ignored_candidate(std::size_t reference, bool errors) {
        add_candidate(reference);
        if (errors) errors_.push_back({0, 0, 0, 0, 1});
    }
    bool add_detection(T score, T parent) {
        const std::size_t first =
            detections_.empty() ? 0 : detections_.back().first + detections_.back().count;
        if (partners_.size() == first) return false;
        detections_.push_back({score, parent, first, partners_.size() - first});
        return true;
    }

    // Calls `emit(score, change)` for each change of the largest possible number of pairs.
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

    // Calls `emit(score, change)` for each change of the summed errors of all pairs. Of the
    // matchings with the most pairs the one with the smallest errors counts.
    template <class Emit>
    void sum_errors(T floor, std::size_t references, Emit&& emit) {
        const std::size_t groups = arrange(floor, references);
        for (std::size_t g = 0; g < groups; ++g) {
            present_.clear();
            PairErrors before;
            changes_.sweep(
                g,
                [&](const Change& change) {
                    if (change.appears)
                        present_.push_back(change.detection);
                    else
                        present_.erase(
                            std::find(present_.begin(), present_.end(), change.detection));
                },
                [&](T score) {
                    const PairErrors now = match_present(sizes_[g]);
                    const PairErrors difference = now + -before;
                    if (difference.onset || difference.offset) emit(score, difference);
                    before = now;
                });
        }
    }

    // Matches all detections at once, whatever their scores. Calls `emit(detection, reference)` for
    // each pair of the matching with the most pairs and, among those, the smallest errors.
    // Detections are numbered as they were added, without those that were left out.
    template <class Emit>
    void best_pairs(std::size_t references, Emit&& emit) {
        const std::size_t groups = arrange(std::numeric_limits<T>::infinity(), references);
        for (std::size_t g = 0; g < groups; ++g) {
            present_.clear();
            changes_.sweep(
                g, [&](const Change& change) { present_.push_back(change.detection); }, [](T) {});
            std::sort(present_.begin(), present_.end());
            match_present(sizes_[g]);
            for (std::size_t i = 0; i < present_.size(); ++i)
                if (least_errors_.chosen(i) != LeastErrorMatching::no_edge)
                    emit(present_[i], partners_[least_errors_.chosen(i)]);
        }
    }

private:
    // A detection, and the range of its candidates in `partners_`.
    struct Candidates {
        T score, parent;
        std::size_t first, count;
    };
    // A detection appears, or disappears, where the threshold falls below the score.
    struct Change {
        uint32_t group;
        T score;
        uint32_t detection;
        bool appears;
    };

    std::size_t arrange(T floor, std::size_t references) {
        const std::size_t groups = find_groups(references);
        changes_.entries.clear();
        for (std::size_t i = 0; i < detections_.size(); ++i) {
            const Candidates& detection = detections_[i];
            const uint32_t group = group_[partners_[detection.first]];
            const auto number = static_cast<uint32_t>(i);
            changes_.entries.push({group, detection.score, number, true});
            if (detection.parent > floor)
                changes_.entries.push({group, detection.parent, number, false});
        }
        changes_.arrange(groups);
        matching_.reset(references, detections_.size());  // groups do not share references
        return groups;
    }

    // One reference: it has a pair while any of its detections is present.
    template <class Emit>
    void count_for_one(std::size_t group, Emit&& emit) {
        int32_t present = 0;
        bool paired = false;
        changes_.sweep(
            group, [&](const Change& change) { present += change.appears ? 1 : -1; },
            [&](T score) {
                const bool now = present > 0;
                if (now != paired) emit(score, now ? 1 : -1);
                paired = now;
            });
    }

    // Several references that compete for detections.
    template <class Emit>
    void count_for_several(std::size_t group, Emit&& emit) {
        int32_t pairs = 0;
        changes_.sweep(
            group,
            [&](const Change& change) {
                const Candidates& detection = detections_[change.detection];
                pairs += change.appears
                             ? matching_.add(change.detection, partners_.data() + detection.first,
                                             detection.count)
                             : matching_.remove(change.detection);
            },
            [&](T score) {
                if (pairs) emit(score, pairs);
                pairs = 0;
            });
    }

    // Two references are in one group if a detection could be paired with either. Numbers the
    // groups and returns how many there are.
    std::size_t find_groups(std::size_t references) {
        parent_.resize(references);
        std::iota(parent_.begin(), parent_.end(), 0u);
        for (const Candidates& detection : detections_)
            for (std::size_t k = 1; k < detection.count; ++k)
                parent_[root(partners_[detection.first + k])] = root(partners_[detection.first]);
        group_.assign(references, MaximumMatching::none);
        index_.resize(references);
        sizes_.clear();
        for (std::size_t j = 0; j < references; ++j) {
            const uint32_t top = root(static_cast<uint32_t>(j));
            if (group_[top] == MaximumMatching::none) {
                group_[top] = static_cast<uint32_t>(sizes_.size());
                sizes_.push_back(0);
            }
            group_[j] = group_[top];
            index_[j] = sizes_[group_[j]]++;
        }
        return sizes_.size();
    }
    uint32_t root(uint32_t j) {
        while (parent_[j] != j) j = parent_[j] = parent_[parent_[j]];
        return j;
    }

    // The matching of the detections present with the most pairs and the smallest errors.
    PairErrors match_present(std::size_t references) {
        return least_errors_.match(
            present_.size(), references, errors_.data(),
            [&](std::size_t i) {
                const Candidates& detection = detections_[present_[i]];
                return EdgeRange{detection.first, detection.first + detection.count};
            },
            [&](std::size_t edge) { return index_[partners_[edge]]; });
    }

    std::vector<Candidates> detections_;
    std::vector<uint32_t> partners_;
    std::vector<PairErrors> errors_;  // of each candidate, if requested
    std::vector<uint32_t> parent_;
    std::vector<uint32_t> group_, index_;  // of each reference: its group, its index in the group
    std::vector<uint32_t> sizes_;          // of each group
    std::vector<uint32_t> present_;        // detections
    GroupedSweep<Change> changes_;
    MaximumMatching matching_;
    LeastErrorMatching least_errors_;
};

}  // namespace sedscope
