// The detections and references of one class in one clip at one threshold, to be judged by a
// criterion.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "clips/references.hpp"
#include "core/time.hpp"

namespace sedscope {

struct DetectedEvent {
    std::size_t first, end;  // frames [first, end)
    Time onset, offset;

    Interval interval() const { return {onset, offset}; }
};

// A detection and a reference of its class that touch each other.
struct Overlap {
    uint32_t detection, reference;
    Time shared;
};

// The detections of one class in one clip at one threshold, by time; where they overlap references
// of the class; and which detections and references a criterion accepts.
struct Scene {
    static constexpr uint32_t no_partner = std::numeric_limits<uint32_t>::max();

    std::vector<DetectedEvent> detections;
    std::vector<Overlap> overlaps;    // ordered by detection, then reference
    std::vector<uint8_t> is_true;     // per detection
    std::vector<uint8_t> is_ignored;  // per detection: it matches an ignored reference
    std::vector<uint8_t> is_found;    // per reference
    std::vector<uint32_t> partners;   // per detection: its reference, or no_partner

    // Finds the overlaps; nothing is accepted yet.
    void find_overlaps(const References& references) {
        overlaps.clear();
        std::size_t next = 0;  // the first reference that does not end before the detection's onset
        for (std::size_t i = 0; i < detections.size(); ++i) {
            const DetectedEvent& detection = detections[i];
            while (next < references.count() && references[next].offset < detection.onset) ++next;
            for (std::size_t j = next;
                 j < references.count() && references[j].onset <= detection.offset; ++j) {
                if (!touch(detection.interval(), references[j])) continue;
                const Time shared = std::min(detection.offset, references[j].offset) -
                                    std::max(detection.onset, references[j].onset);
                overlaps.push_back({static_cast<uint32_t>(i), static_cast<uint32_t>(j), shared});
            }
        }
        is_true.assign(detections.size(), 0);
        is_ignored.assign(detections.size(), 0);
        is_found.assign(references.count(), 0);
        partners.assign(detections.size(), no_partner);
    }
};

}  // namespace sedscope
