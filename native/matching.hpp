// Deltas of criteria that pair each detection with at most one reference and each reference with at
// most one detection, by as many pairs as possible (collar, intersection over union).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <numeric>
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

template <class T, class Pairing>
class MatchingKernel {
public:
    MatchingKernel(const Pairing& pairing, bool cross_triggers)
        : pairing_(pairing), cross_triggers_(cross_triggers) {}

    // A detection that can be paired with no reference of its class, but with one of another class,
    // is a cross-trigger on that class.
    void run(const T* scores, std::size_t frames, const Time* edges, T floor, References* own,
             const std::vector<OtherClass>& others, Rows<T>& rows) {
        push_detection_counts(scores, frames, floor, rows.detections);
        const std::size_t cross = cross_triggers_ ? others.size() : 0;
        if (!own && cross == 0) return;
        detections_.clear();
        partners_.clear();
        tree_.sweep(
            scores, frames, floor, cross,
            [&](const Detection<T>& detection, int32_t* values) {
                const Time from = edges[detection.first], until = edges[detection.end];
                const std::size_t before = partners_.size();
                if (own)
                    pairing_.candidates(*own, from, until, [&](std::size_t j) {
                        partners_.push_back(static_cast<uint32_t>(j));
                    });
                const std::size_t found = partners_.size() - before;
                if (found)
                    detections_.push_back({detection.score, detection.parent, before, found});
                for (std::size_t m = 0; m < cross; ++m) {
                    values[m] = 0;
                    if (!found)
                        pairing_.candidates(*others[m].references, from, until,
                                            [&](std::size_t) { values[m] = 1; });
                }
            },
            [&](T score, const int32_t* delta) {
                for (std::size_t m = 0; m < cross; ++m)
                    if (delta[m]) rows.cross_triggers.push(score, others[m].label, delta[m]);
            });
        if (own) match(floor, own->count(), rows.detections);
    }

private:
    // A detection with the references that it can be paired with.
    struct Paired {
        T score, parent;
        std::size_t first_partner, partners;
    };
    // From this score on a detection is there, or no longer.
    struct Change {
        uint32_t group;
        T score;
        uint32_t detection;
        bool comes;
    };

    // Notes each change of the number of pairs as the threshold falls; a pair is one true positive
    // more and one false positive less.
    void match(T floor, std::size_t references, DetectionRows<T>& rows) {
        const std::size_t groups = find_groups(references);
        changes_.entries.clear();
        for (std::size_t i = 0; i < detections_.size(); ++i) {
            const Paired& detection = detections_[i];
            const uint32_t group = group_[partners_[detection.first_partner]];
            const auto number = static_cast<uint32_t>(i);
            changes_.entries.push({group, detection.score, number, true});
            if (detection.parent > floor)
                changes_.entries.push({group, detection.parent, number, false});
        }
        changes_.arrange(groups);
        matching_.reset(references, detections_.size());  // groups do not touch each other
        for (std::size_t g = 0; g < groups; ++g) {
            if (sizes_[g] == 1)
                match_one(g, rows);
            else
                match_several(g, rows);
        }
    }

    // One reference: it is found while any of its detections is there.
    void match_one(std::size_t group, DetectionRows<T>& rows) {
        int32_t present = 0;
        bool found = false;
        changes_.sweep(
            group, [&](const Change& change) { present += change.comes ? 1 : -1; },
            [&](T score) {
                const bool now = present > 0;
                if (now != found) rows.push(score, now ? 1 : -1, now ? -1 : 1);
                found = now;
            });
    }

    // References that compete for detections.
    void match_several(std::size_t group, DetectionRows<T>& rows) {
        int32_t pairs = 0;
        changes_.sweep(
            group,
            [&](const Change& change) {
                const Paired& detection = detections_[change.detection];
                pairs += change.comes ? matching_.add(change.detection,
                                                      partners_.data() + detection.first_partner,
                                                      detection.partners)
                                      : matching_.remove(change.detection);
            },
            [&](T score) {
                if (pairs) rows.push(score, pairs, -pairs);
                pairs = 0;
            });
    }

    // Numbers the sets of references that are linked by detections which could have either.
    std::size_t find_groups(std::size_t references) {
        parent_.resize(references);
        std::iota(parent_.begin(), parent_.end(), 0u);
        for (const Paired& detection : detections_)
            for (std::size_t k = 1; k < detection.partners; ++k)
                parent_[root(partners_[detection.first_partner + k])] =
                    root(partners_[detection.first_partner]);
        group_.assign(references, Matching::none);
        sizes_.clear();
        for (std::size_t j = 0; j < references; ++j) {
            const uint32_t top = root(static_cast<uint32_t>(j));
            if (group_[top] == Matching::none) {
                group_[top] = static_cast<uint32_t>(sizes_.size());
                sizes_.push_back(0);
            }
            group_[j] = group_[top];
            ++sizes_[group_[j]];
        }
        return sizes_.size();
    }
    uint32_t root(uint32_t j) {
        while (parent_[j] != j) j = parent_[j] = parent_[parent_[j]];
        return j;
    }

    Pairing pairing_;
    bool cross_triggers_;
    ComponentTree<T> tree_;
    std::vector<Paired> detections_;
    std::vector<uint32_t> partners_;
    std::vector<uint32_t> parent_, group_;
    std::vector<uint32_t> sizes_;
    GroupedSweep<Change> changes_;
    Matching matching_;
};

}  // namespace sedscope
