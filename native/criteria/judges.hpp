// What criteria say of single detections and references at one threshold.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "intersection.hpp"
#include "maximum_matching.hpp"
#include "pair_sweep.hpp"
#include "../clips/references.hpp"

namespace sedscope {

struct DetectedEvent {
    std::size_t first, end;  // frames [first, end)
    Time onset, offset;
};

// A detection and a reference of its class that share time.
struct Contact {
    uint32_t detection, reference;
    Time shared;
};

// The detections of one class in one clip at one threshold, in order of time, how they meet the
// references of the class, and which are right.
struct Scene {
    std::vector<DetectedEvent> detections;
    std::vector<Contact> contacts;   // ordered by detection, then reference
    std::vector<uint8_t> is_true;    // of each detection
    std::vector<uint8_t> is_found;   // of each reference
    std::vector<uint32_t> partners;  // of each detection, if the criterion makes pairs

    // Finds the contacts; nothing is right yet.
    void meet(const References& references) {
        contacts.clear();
        std::size_t next = 0;  // the first reference that ends after the detection's onset
        for (std::size_t i = 0; i < detections.size(); ++i) {
            const DetectedEvent& detection = detections[i];
            while (next < references.count() && references[next].offset <= detection.onset) ++next;
            for (std::size_t j = next;
                 j < references.count() && references[j].onset < detection.offset; ++j) {
                const Time shared = std::min(detection.offset, references[j].offset) -
                                    std::max(detection.onset, references[j].onset);
                if (shared > 0)
                    contacts.push_back(
                        {static_cast<uint32_t>(i), static_cast<uint32_t>(j), shared});
            }
        }
        is_true.assign(detections.size(), 0);
        is_found.assign(references.count(), 0);
        partners.assign(detections.size(), Matching::none);
    }
};

class IntersectionJudge {
public:
    explicit IntersectionJudge(const Intersection& criterion) : criterion_(criterion) {}

    // Says which detections and references are right.
    void judge(Scene& scene, References& own) {
        covered_.assign(scene.detections.size(), 0);
        for (const Contact& contact : scene.contacts) covered_[contact.detection] += contact.shared;
        for (std::size_t i = 0; i < scene.detections.size(); ++i)
            scene.is_true[i] = covered_[i] >= criterion_.dtc.of(length(scene.detections[i]));
        covered_.assign(own.count(), 0);
        for (const Contact& contact : scene.contacts)
            if (scene.is_true[contact.detection]) covered_[contact.reference] += contact.shared;
        for (std::size_t j = 0; j < own.count(); ++j)
            scene.is_found[j] = covered_[j] >= criterion_.gtc.of(own[j].offset - own[j].onset);
    }

    // Whether a false detection is a cross-trigger on another class; by any time in common if the
    // criterion does not count them. `own` is null where the class has no references.
    bool triggers(const DetectedEvent& detection, References*, References& other) const {
        if (!criterion_.cross_triggers) return other.touched(detection.onset, detection.offset);
        const Time shared = other.overlap(detection.first, detection.end);
        return shared >= criterion_.cttc.of(length(detection));
    }

    // Whether a boundary is too far off, given the error; time in common has no tolerance.
    bool onset_off(Time) const { return true; }
    bool offset_off(Time, const Interval&) const { return true; }

private:
    static Time length(const DetectedEvent& detection) {
        return detection.offset - detection.onset;
    }

    Intersection criterion_;
    std::vector<Time> covered_;
};

// Of the matchings with the most pairs, the one with the smallest boundary errors.
template <class Pairing>
class PairingJudge {
public:
    PairingJudge(const Pairing& pairing, bool cross_triggers)
        : pairing_(pairing), cross_triggers_(cross_triggers) {}
    // The same rule, with room of its own to work in.
    PairingJudge(const PairingJudge& other) : PairingJudge(other.pairing_, other.cross_triggers_) {}

    void judge(Scene& scene, References& own) {
        pairs_.clear();
        candidates_.clear();
        for (std::size_t i = 0; i < scene.detections.size(); ++i) {
            const Time onset = scene.detections[i].onset, offset = scene.detections[i].offset;
            pairing_.candidates(own, onset, offset, [&](std::size_t j) {
                pairs_.add_candidate(j, onset - own[j].onset, offset - own[j].offset);
            });
            if (pairs_.add_detection(0, 0)) candidates_.push_back(static_cast<uint32_t>(i));
        }
        pairs_.best_pairs(own.count(), [&](uint32_t candidate, uint32_t reference) {
            scene.is_true[candidates_[candidate]] = 1;
            scene.is_found[reference] = 1;
            scene.partners[candidates_[candidate]] = reference;
        });
    }

    bool triggers(const DetectedEvent& detection, References* own, References& other) const {
        if (!cross_triggers_) return other.touched(detection.onset, detection.offset);
        return can_pair(detection, other) && !(own && can_pair(detection, *own));
    }

    bool onset_off(Time error) const { return pairing_.onset_off(error); }
    bool offset_off(Time error, const Interval& event) const {
        return pairing_.offset_off(error, event);
    }

private:
    bool can_pair(const DetectedEvent& detection, References& references) const {
        bool found = false;
        pairing_.candidates(references, detection.onset, detection.offset,
                            [&](std::size_t) { found = true; });
        return found;
    }

    Pairing pairing_;
    bool cross_triggers_;
    PairSweep<float> pairs_;            // all at one score
    std::vector<uint32_t> candidates_;  // the detections that can be paired at all
};

}  // namespace sedscope
