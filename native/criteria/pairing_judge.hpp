// Judges the detections and references of a scene by a criterion that makes pairs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "clips/ignored_references.hpp"
#include "clips/references.hpp"
#include "core/time.hpp"
#include "criteria/pair_sweep.hpp"
#include "criteria/scene.hpp"

namespace sedscope {

// Of the matchings with the most pairs it takes the one with the smallest boundary errors. Pairs
// with ignored references are the last choice.
template <class Rule>
class PairingJudge {
public:
    // `criterion` has a `rule`, and says whether it counts `cross_triggers`.
    template <class Criterion>
    explicit PairingJudge(const Criterion& criterion)
        : rule_(criterion.rule), cross_triggers_(criterion.cross_triggers) {}

    // Marks the true detections and the found references, which are partners, and the ignored
    // detections.
    void judge(Scene& scene, References& own, IgnoredReferences& ignored) {
        pairs_.clear();
        candidates_.clear();
        for (std::size_t i = 0; i < scene.detections.size(); ++i) {
            const Time onset = scene.detections[i].onset, offset = scene.detections[i].offset;
            rule_.candidates(own, onset, offset, [&](std::size_t j) {
                pairs_.add_candidate(j, rule_.errors({onset, offset}, own[j]));
            });
            std::size_t before = own.count();
            for (References& layer : ignored.layers) {
                rule_.candidates(layer, onset, offset, [&](std::size_t j) {
                    pairs_.add_ignored_candidate(before + j, true);
                });
                before += layer.count();
            }
            if (pairs_.add_detection(0, 0)) candidates_.push_back(static_cast<uint32_t>(i));
        }
        const std::size_t references = own.count() + ignored.count();
        pairs_.best_pairs(references, [&](uint32_t candidate, uint32_t reference) {
            if (reference >= own.count()) {
                scene.is_ignored[candidates_[candidate]] = 1;
                return;
            }
            scene.is_true[candidates_[candidate]] = 1;
            scene.is_found[reference] = 1;
            scene.partners[candidates_[candidate]] = reference;
        });
    }

    // Whether a false detection is a cross-trigger on another class. If the criterion does not
    // count cross-triggers, any overlap makes one. `own` is null if the class has no references.
    bool triggers(const DetectedEvent& detection, References* own, IgnoredReferences& ignored,
                  References& other) const {
        if (!cross_triggers_) return other.touched_by(detection.interval());
        if (!can_pair(detection, other) || (own && can_pair(detection, *own))) return false;
        for (References& layer : ignored.layers)
            if (can_pair(detection, layer)) return false;
        return true;
    }

    bool judges_strays() const { return false; }
    bool onset_off(Time error) const { return rule_.onset_off(error); }
    bool offset_off(Time error, const Interval& event) const {
        return rule_.offset_off(error, event);
    }

private:
    bool can_pair(const DetectedEvent& detection, References& references) const {
        bool any = false;
        rule_.candidates(references, detection.onset, detection.offset,
                         [&](std::size_t) { any = true; });
        return any;
    }

    Rule rule_;
    bool cross_triggers_;
    PairSweep<float> pairs_;            // all at the same score
    std::vector<uint32_t> candidates_;  // detections that can be paired with any reference
};

}  // namespace sedscope
