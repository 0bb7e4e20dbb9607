// Deltas of criteria that pair each detection with at most one reference and each reference with at
// most one detection, by as many pairs as possible (collar, intersection over union).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <tuple>
#include <vector>

#include "component_tree.hpp"
#include "deltas.hpp"
#include "grouped_sweep.hpp"
#include "references.hpp"

namespace sedscope {

// A maximum matching between detections that come and go and references, kept by augmenting paths.
class Matching {
public:
    static constexpr uint32_t none = std::numeric_limits<uint32_t>::max();

    void reset(std::size_t references, std::size_t detections) {
        partner_.assign(references, none);
        if (waiting_.size() < references) waiting_.resize(references);
        for (std::size_t j = 0; j < references; ++j) waiting_[j].clear();
        seen_.assign(references, 0);
        round_ = 0;
        detections_.assign(detections, {nullptr, 0, none});
    }

    // A detection that may be paired with any of the references; returns by how much the number of
    // pairs grows.
    int32_t add(uint32_t detection, const uint32_t* references, std::size_t count) {
        detections_[detection] = {references, count, none};
        for (std::size_t k = 0; k < count; ++k) waiting_[references[k]].push_back(detection);
        ++round_;
        return place(detection);
    }

    // Takes a detection away; returns by how much the number of pairs shrinks (as 0 or -1).
    int32_t remove(uint32_t detection) {
        const Candidate& gone = detections_[detection];
        for (std::size_t k = 0; k < gone.count; ++k) {
            auto& list = waiting_[gone.references[k]];
            list.erase(std::find(list.begin(), list.end(), detection));
        }
        const uint32_t freed = gone.partner;
        if (freed == none) return 0;
        partner_[freed] = none;
        ++round_;
        return fill(freed) ? 0 : -1;
    }

private:
    struct Candidate {
        const uint32_t* references;
        std::size_t count;
        uint32_t partner;
    };

    // Finds a reference for the detection, moving others along an augmenting path if need be.
    int32_t place(uint32_t detection) {
        const Candidate candidate = detections_[detection];
        for (std::size_t k = 0; k < candidate.count; ++k) {
            const uint32_t reference = candidate.references[k];
            if (seen_[reference] == round_) continue;
            seen_[reference] = round_;
            if (partner_[reference] == none || place(partner_[reference])) {
                pair(detection, reference);
                return 1;
            }
        }
        return 0;
    }

    // Finds a detection for a reference that has lost its own.
    bool fill(uint32_t reference) {
        if (seen_[reference] == round_) return false;
        seen_[reference] = round_;
        for (const uint32_t detection : waiting_[reference])
            if (detections_[detection].partner == none) {
                pair(detection, reference);
                return true;
            }
        for (const uint32_t detection : waiting_[reference]) {
            const uint32_t left = detections_[detection].partner;
            if (left == reference || seen_[left] == round_) continue;
            if (fill(left)) {  // another detection takes the reference that this one leaves
                pair(detection, reference);
                return true;
            }
        }
        return false;
    }

    void pair(uint32_t detection, uint32_t reference) {
        detections_[detection].partner = reference;
        partner_[reference] = detection;
    }

    std::vector<Candidate> detections_;
    std::vector<uint32_t> partner_;               // of each reference
    std::vector<std::vector<uint32_t>> waiting_;  // detections that could have the reference
    std::vector<uint32_t> seen_;
    uint32_t round_ = 0;
};

// Both boundaries of a detection near those of the reference, borders included. A boundary that is
// not judged may be anywhere.
struct Collar {
    bool judge_onset, judge_offset;
    Time onset, offset;
    double offset_rate;  // of the reference's length, if that is more than `offset`

    Time offset_tolerance(const Interval& event) const {
        const double length = static_cast<double>(event.offset - event.onset);
        return std::max(offset, static_cast<Time>(offset_rate * length + 0.5));
    }

    // Calls `found(j)` for every reference that a detection can be paired with.
    template <class Found>
    void candidates(References& events, Time from, Time until, Found&& found) const {
        // References begin and end in the same order. Look at those whose judged boundary, or the
        // first of two, is near; remember where none is.
        const Time place = judge_onset ? from : until;
        if (place > events.gap().onset && place < events.gap().offset) return;
        const Time reach = judge_onset ? onset : widest_tolerance(events);
        auto boundary = [&](std::size_t j) {
            return judge_onset ? events[j].onset : events[j].offset;
        };
        std::size_t first = 0;
        for (std::size_t step = events.count(); step > 0;) {  // the first not before place - reach
            const std::size_t half = step / 2;
            if (boundary(first + half) < place - reach) {
                first += half + 1;
                step -= half + 1;
            } else {
                step = half;
            }
        }
        if (first == events.count() || boundary(first) > place + reach) {
            events.gap().onset = first > 0 ? boundary(first - 1) + reach : before_all;
            events.gap().offset = first < events.count() ? boundary(first) - reach : after_all;
            return;
        }
        for (std::size_t j = first; j < events.count() && boundary(j) <= place + reach; ++j) {
            const Time late = until - events[j].offset;
            if (!judge_offset || std::abs(late) <= offset_tolerance(events[j])) found(j);
        }
    }

private:
    Time widest_tolerance(const References& events) const {
        return offset_tolerance({0, events.longest()});
    }
};

// Enough time in common, relative to the time that either takes.
struct Overlap {
    Requirement iou;

    template <class Found>
    void candidates(References& events, Time from, Time until, Found&& found) const {
        if (from >= events.gap().onset && until <= events.gap().offset) return;
        if (iou.of(until - from) > events.longest()) return;
        std::size_t first = 0;
        for (std::size_t step = events.count(); step > 0;) {  // the first that ends after `from`
            const std::size_t half = step / 2;
            if (events[first + half].offset <= from) {
                first += half + 1;
                step -= half + 1;
            } else {
                step = half;
            }
        }
        if (first == events.count() || events[first].onset >= until) {
            events.gap().onset = first > 0 ? events[first - 1].offset : before_all;
            events.gap().offset = first < events.count() ? events[first].onset : after_all;
            return;
        }
        for (std::size_t j = first; j < events.count() && events[j].onset < until; ++j) {
            const Interval& event = events[j];
            const Time shared = std::min(until, event.offset) - std::max(from, event.onset);
            const Time united = (until - from) + (event.offset - event.onset) - shared;
            if (shared >= iou.of(united)) found(j);
        }
    }
};

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
    PairErrors smallest_errors(std::size_t references) {
        constexpr uint32_t none = Matching::none;
        std::vector<uint32_t> detection_of(references, none);
        std::vector<std::size_t> chosen(present_.size(), no_edge);  // index into partners_
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
                    if (chosen[i] != no_edge) {  // it would have to leave its reference
                        const uint32_t own = place_[partners_[chosen[i]]];
                        if (through[own] == no_edge) continue;
                        start = least[own] + -errors_[chosen[i]];
                    }
                    for (std::size_t e = detection.first; e < detection.first + detection.count;
                         ++e) {
                        if (e == chosen[i]) continue;
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
                const uint32_t left = chosen[i] == no_edge ? none : place_[partners_[chosen[i]]];
                chosen[i] = through[reference];
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
    GroupedSweep<Change> changes_;
    Matching matching_;
};

template <class T, class Pairing>
class MatchingKernel {
public:
    MatchingKernel(const Pairing& pairing, bool cross_triggers, bool errors)
        : pairing_(pairing), cross_triggers_(cross_triggers), errors_(errors) {}

    // A detection that can be paired with no reference of its class, but with one of another class,
    // is a cross-trigger on that class.
    void run(const T* scores, std::size_t frames, const Time* edges, T floor, References* own,
             const std::vector<OtherClass>& others, Rows<T>& rows) {
        push_detection_counts(scores, frames, floor, rows.detections);
        const std::size_t cross = cross_triggers_ ? others.size() : 0;
        if (!own && cross == 0) return;
        pairs_.clear();
        tree_.sweep(
            scores, frames, floor, cross,
            [&](const Detection<T>& detection, int32_t* values) {
                const Time from = edges[detection.first], until = edges[detection.end];
                if (own)
                    pairing_.candidates(*own, from, until, [&](std::size_t j) {
                        if (errors_)
                            pairs_.add_candidate(j, from - (*own)[j].onset,
                                                 until - (*own)[j].offset);
                        else
                            pairs_.add_candidate(j);
                    });
                const bool paired = pairs_.add_detection(detection.score, detection.parent);
                for (std::size_t m = 0; m < cross; ++m) {
                    values[m] = 0;
                    if (!paired)
                        pairing_.candidates(*others[m].references, from, until,
                                            [&](std::size_t) { values[m] = 1; });
                }
            },
            [&](T score, const int32_t* delta) {
                for (std::size_t m = 0; m < cross; ++m)
                    if (delta[m]) rows.cross_triggers.push(score, others[m].label, delta[m]);
            });
        if (!own) return;
        // a pair is one true positive more and one false positive less
        pairs_.count_pairs(floor, own->count(), [&](T score, int32_t change) {
            rows.detections.push(score, change, -change);
        });
        if (errors_)
            pairs_.sum_errors(floor, own->count(), [&](T score, const PairErrors& change) {
                rows.errors.push(score, change.onset, change.offset);
            });
    }

private:
    Pairing pairing_;
    bool cross_triggers_, errors_;
    ComponentTree<T> tree_;
    PairSweep<T> pairs_;
};

}  // namespace sedscope
