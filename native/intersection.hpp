// Deltas of the intersection criterion for one clip and class.
//
// A detection is relevant when it shares enough time with references of its class (DTC), else it is
// a false positive. A reference is found when it shares enough time with relevant detections (GTC).
// A false positive that shares enough time with references of another class is a cross-trigger
// (CTTC).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "component_tree.hpp"
#include "deltas.hpp"
#include "grouped_sweep.hpp"
#include "references.hpp"

namespace sedscope {

struct Intersection {
    Requirement dtc, gtc, cttc;
    bool cross_triggers;
};

template <class T>
class IntersectionKernel {
public:
    explicit IntersectionKernel(const Intersection& criterion) : criterion_(criterion) {}

    // `own` is null where the clip has no reference of the class; `others` counts only with
    // cross-triggers.
    void run(const T* scores, std::size_t frames, const Time* edges, T floor, References* own,
             const std::vector<OtherClass>& others, Rows<T>& rows) {
        const std::size_t cross = criterion_.cross_triggers ? others.size() : 0;
        if (!own && cross == 0) {
            push_detection_counts(scores, frames, floor, rows.detections);
            return;
        }
        partial_.entries.clear();
        tree_.sweep(
            scores, frames, floor, quantities_before_cross + cross,
            [&](const Detection<T>& detection, int32_t* values) {
                const Time length = edges[detection.end] - edges[detection.first];
                bool relevant = false;
                values[found_whole] = 0;
                if (own) relevant = match(detection, length, edges, floor, *own, values);
                values[false_positives] = !relevant;
                for (std::size_t m = 0; m < cross; ++m)
                    values[quantities_before_cross + m] =
                        !relevant &&
                        others[m].references->overlap(detection.first, detection.end) >=
                            criterion_.cttc.of(length);
            },
            [&](T score, const int32_t* delta) {
                if (delta[found_whole] || delta[false_positives])
                    rows.detections.push(score, delta[found_whole], delta[false_positives]);
                for (std::size_t m = 0; m < cross; ++m)
                    if (const int32_t change = delta[quantities_before_cross + m])
                        rows.cross_triggers.push(score, others[m].label, change);
            });
        if (own) find_by_parts(*own, rows.detections);
    }

private:
    // The quantities summed over detections. A reference inside one relevant detection is found
    // ("whole") and touched by no other; one that is covered in part is looked at afterwards.
    enum Quantity : std::size_t { false_positives, found_whole, quantities_before_cross };

    // From this score on, the time of a reference that relevant detections cover in part.
    struct Coverage {
        uint32_t group;  // the reference
        T score;
        Time change;
    };

    // Whether the detection is relevant; if so, notes what it covers.
    bool match(const Detection<T>& detection, Time length, const Time* edges, T floor,
               References& own, int32_t* values) {
        if (own.passed_by(detection.first, detection.end)) return false;
        const std::size_t begun_first = own.begun(detection.first);
        const std::size_t begun_end = own.begun(detection.end);
        const Time overlap = own.overlap(detection.first, begun_first, detection.end, begun_end);
        if (overlap < criterion_.dtc.of(length)) return false;

        const std::size_t ended_first = own.ended(detection.first, begun_first);
        const std::size_t ended_end = own.ended(detection.end, begun_end);
        if (ended_end > begun_first)
            values[found_whole] = static_cast<int32_t>(ended_end - begun_first);
        const Time onset = edges[detection.first], offset = edges[detection.end];
        if (ended_first < begun_first)  // begins inside a reference
            cover(ended_first, std::min(offset, own[ended_first].offset) - onset, detection, floor);
        if (ended_end < begun_end && begun_first <= ended_end)  // ends inside one begun within
            cover(ended_end, offset - own[ended_end].onset, detection, floor);
        return true;
    }

    void cover(std::size_t reference, Time time, const Detection<T>& detection, T floor) {
        const auto j = static_cast<uint32_t>(reference);
        partial_.entries.push({j, detection.score, time});
        if (detection.parent > floor) partial_.entries.push({j, detection.parent, -time});
    }

    // Adds up, per reference, what is covered as the threshold falls, and notes each time that it
    // becomes enough or ceases to be.
    void find_by_parts(const References& own, DetectionRows<T>& rows) {
        partial_.arrange(own.count());
        for (std::size_t j = 0; j < own.count(); ++j) {
            const Time needed = criterion_.gtc.of(own[j].offset - own[j].onset);
            Time covered = 0;
            bool found = false;
            partial_.sweep(
                j, [&](const Coverage& entry) { covered += entry.change; },
                [&](T score) {
                    const bool enough = covered >= needed;
                    if (enough != found) rows.push(score, enough ? 1 : -1, 0);
                    found = enough;
                });
        }
    }

    Intersection criterion_;
    ComponentTree<T> tree_;
    GroupedSweep<Coverage> partial_;
};

}  // namespace sedscope
