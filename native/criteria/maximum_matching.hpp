// As many pairs of a detection and a reference as possible, each event in at most one pair.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace sedscope {

// A maximum matching between references and detections that appear and disappear, kept up to date
// by augmenting paths.
class MaximumMatching {
public:
    static constexpr uint32_t none = std::numeric_limits<uint32_t>::max();

    void reset(std::size_t references, std::size_t detections) {
        partner_.assign(references, none);
        if (waiting_.size() < references) waiting_.resize(references);
        for (std::size_t j = 0; j < references; ++j) waiting_[j].clear();
        seen_.assign(references, 0);
        taker_.resize(references);
        round_ = 0;
        detections_.assign(detections, {nullptr, 0, none});
    }

    // Adds a detection that may be paired with any of the references. Returns by how much the
    // number of pairs changes: 0 or 1.
    int32_t add(uint32_t detection, const uint32_t* references, std::size_t count) {
        detections_[detection] = {references, count, none};
        for (std::size_t k = 0; k < count; ++k) waiting_[references[k]].push_back(detection);
        ++round_;
        return pair_detection(detection);
    }

    // Removes a detection. Returns by how much the number of pairs changes: 0 or -1.
    int32_t remove(uint32_t detection) {
        const Candidate& removed = detections_[detection];
        for (std::size_t k = 0; k < removed.count; ++k) {
            auto& list = waiting_[removed.references[k]];
            list.erase(std::find(list.begin(), list.end(), detection));
        }
        const uint32_t freed = removed.partner;
        if (freed == none) return 0;
        partner_[freed] = none;
        ++round_;
        return pair_reference(freed) ? 0 : -1;
    }

private:
    struct Candidate {
        const uint32_t* references;
        std::size_t count;
        uint32_t partner;
    };

    // Finds a reference for the detection. Other detections move along the shortest augmenting path
    // if necessary. Returns by how much the number of pairs changes: 0 or 1.
    int32_t pair_detection(uint32_t detection) {
        queue_.assign(1, detection);
        for (std::size_t next = 0; next < queue_.size(); ++next) {
            const uint32_t mover = queue_[next];
            const Candidate candidate = detections_[mover];
            for (std::size_t k = 0; k < candidate.count; ++k) {
                uint32_t reference = candidate.references[k];
                if (seen_[reference] == round_) continue;
                seen_[reference] = round_;
                taker_[reference] = mover;
                if (partner_[reference] != none) {
                    queue_.push_back(partner_[reference]);
                    continue;
                }
                while (reference != none) {  // each detection takes the reference that it reached
                    const uint32_t taker = taker_[reference];
                    const uint32_t left = detections_[taker].partner;
                    pair(taker, reference);
                    reference = left;
                }
                return 1;
            }
        }
        return 0;
    }

    // Finds a detection for a reference that has lost its own, in the same way.
    bool pair_reference(uint32_t vacant) {
        queue_.assign(1, vacant);
        seen_[vacant] = round_;
        for (std::size_t next = 0; next < queue_.size(); ++next) {
            uint32_t reference = queue_[next];
            for (uint32_t detection : waiting_[reference]) {
                const uint32_t left = detections_[detection].partner;
                if (left != none) {
                    if (seen_[left] == round_) continue;
                    seen_[left] = round_;
                    taker_[left] = reference;  // would get the detection that `left` has now
                    queue_.push_back(left);
                    continue;
                }
                while (true) {
                    const uint32_t before = partner_[reference];
                    pair(detection, reference);
                    if (reference == vacant) return true;
                    detection = before;
                    reference = taker_[reference];
                }
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
    std::vector<std::vector<uint32_t>> waiting_;  // detections that could take the reference
    std::vector<uint32_t> seen_;                  // the round in which each reference was reached
    std::vector<uint32_t> taker_;                 // what precedes the reference on the path
    std::vector<uint32_t> queue_;
    uint32_t round_ = 0;
};

}  // namespace sedscope
