// The intersection criterion for events as they come, which may overlap.
//
// Each event is judged by itself: whether it is relevant does not depend on the threshold. So the
// relevant events with a score of at least s cover a reference where their envelope is at least s.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "clips/envelope.hpp"
#include "clips/ignored_references.hpp"
#include "clips/reference_table.hpp"
#include "clips/references.hpp"
#include "core/buffer.hpp"
#include "core/out_of_line.hpp"
#include "core/time.hpp"
#include "criteria/coverage.hpp"
#include "criteria/delta_rows.hpp"
#include "criteria/intersection.hpp"

namespace sedscope {

// A kernel that takes events. Those of a clip and class come in order of onset.
template <class T>
class IntersectionOfEvents {
public:
    explicit IntersectionOfEvents(const Intersection& criterion) : criterion_(criterion) {}

    SEDSCOPE_OUT_OF_LINE void begin(const ClipReferences& references, int32_t label, T) {
        own_ = references.counted(label);
        const IgnoredReferences ignored = references.ignored(label);
        relevance_ = ignored.any() ? ignored.united : own_;
        others_.clear();
        if (criterion_.cross_triggers) references.of_others(label, others_);
        envelope_.begin();
        covered_.clear();
        next_ = 0;
    }

    SEDSCOPE_OUT_OF_LINE void add(const Interval& event, T score, DeltaRows<T>& rows) {
        const Time length = event.offset - event.onset;
        if (criterion_.dtc.met_by(relevance_.shared(event.onset, event.offset), length)) {
            if (own_.count() > 0) envelope_.add(event, score, covering());
            return;
        }
        rows.detections.push(score, 0, 1);
        for (const OtherClass& other : others_)
            if (criterion_.cttc.met_by(other.references.shared(event.onset, event.offset), length))
                rows.cross_triggers.push(score, other.label, 1);
    }

    SEDSCOPE_OUT_OF_LINE void finish(DeltaRows<T>& rows) {
        envelope_.finish(covering());
        for (Coverage<T>*first = covered_.begin(), *end; first != covered_.end(); first = end) {
            const Interval& reference = own_[first->group];
            Time total = 0;
            for (end = first; end != covered_.end() && end->group == first->group; ++end)
                total += end->change;
            const Time required = criterion_.gtc.of(reference.offset - reference.onset);
            if (total >= required)
                rows.detections.push(score_of_enough(first, end, required), 1, 0);
        }
    }

private:
    // Takes pieces of the envelope: what each covers of the references.
    auto covering() {
        return [this](Time from, Time until, T score) {
            while (next_ < own_.count() && own_[next_].offset <= from) ++next_;
            for (std::size_t j = next_; j < own_.count() && own_[j].onset < until; ++j)
                covered_.push({static_cast<uint32_t>(j), score,
                               std::min(until, own_[j].offset) - std::max(from, own_[j].onset)});
        };
    }

    Intersection criterion_;
    References own_;
    References relevance_;  // with the ignored references, if there are any
    std::vector<OtherClass> others_;
    Envelope<T> envelope_;         // of the relevant events
    Buffer<Coverage<T>> covered_;  // by reference
    std::size_t next_ = 0;         // the first reference that ends after the last piece began
};

}  // namespace sedscope
