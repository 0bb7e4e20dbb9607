// The reference events of one class in one clip, and how much of them lies between frame
// boundaries.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "clips/layers.hpp"
#include "core/time.hpp"

namespace sedscope {

// What a look-up of references needs besides the events. Built once for a clip and class, then
// only read.
class ReferenceIndex {
public:
    static constexpr std::size_t stride = 64;

    // `events` are sorted by onset; `edges` are the clip's `boundaries` frame boundaries. Events
    // that overlap are separated into layers: this index has those of the first.
    void assign(const Interval* events, std::size_t count, const Time* edges,
                std::size_t boundaries) {
        further_.clear();
        if (!any_overlap(events, count)) {
            index(events, count, edges, boundaries);
            return;
        }
        separate(events, count, layers_);
        index(layers_[0].data(), layers_[0].size(), edges, boundaries);
        further_.resize(layers_.size() - 1);
        for (std::size_t k = 1; k < layers_.size(); ++k)
            further_[k - 1].index(layers_[k].data(), layers_[k].size(), edges, boundaries);
    }

private:
    friend class References;

    void index(const Interval* events, std::size_t count, const Time* edges,
               std::size_t boundaries) {
        events_ = events;
        count_ = count;
        edges_ = edges;
        before_.resize(count + 1);
        before_[0] = 0;
        longest_ = 0;
        for (std::size_t j = 0; j < count; ++j) {
            const Time length = events[j].offset - events[j].onset;
            before_[j + 1] = before_[j] + length;
            longest_ = length > longest_ ? length : longest_;
        }
        // The number of events begun at every stride-th boundary: a look-up scans on from there.
        const std::size_t marks = (boundaries + stride - 1) / stride;
        marks_.resize(marks);
        std::size_t begun = 0;
        for (std::size_t mark = 0; mark < marks; ++mark) {
            while (begun < count && events[begun].onset < edges[mark * stride]) ++begun;
            marks_[mark] = begun;
        }
    }

    const Interval* events_ = nullptr;
    std::size_t count_ = 0;
    const Time* edges_ = nullptr;
    Time longest_ = 0;
    std::vector<Time> before_;  // total time of the events before each one
    std::vector<std::size_t> marks_;
    std::vector<std::vector<Interval>> layers_;  // of events that overlap
    std::vector<ReferenceIndex> further_;        // of the layers after the first
};

// A look-up of the references of one class in one clip. It remembers the last gap between events
// that it met, so each user has its own copy. Copies are cheap.
class References {
public:
    References() = default;  // no events
    explicit References(const ReferenceIndex& index)
        : events_(index.events_),
          count_(index.count_),
          edges_(index.edges_),
          before_(index.before_.data()),
          marks_(index.marks_.data()),
          longest_(index.longest_),
          further_(&index.further_) {}

    // The number of events, and each of them; of the first layer if some overlap.
    std::size_t count() const { return count_; }
    const Interval& operator[](std::size_t j) const { return events_[j]; }
    const Interval* begin() const { return events_; }
    const Interval* end() const { return events_ + count_; }

    // Adds the look-ups of further layers, for criteria that judge references that overlap.
    void add_further_layers(std::vector<References>& layers) const {
        if (further_)
            for (const ReferenceIndex& index : *further_) layers.emplace_back(index);
    }

    Time longest() const { return longest_; }
    // The interval in which a criterion last found no event nearby.
    Interval& gap() { return gap_; }

    // The number of events that begin before the boundary.
    std::size_t begun(std::size_t boundary) const {
        std::size_t j = marks_[boundary / ReferenceIndex::stride];
        while (j < count_ && events_[j].onset < edges_[boundary]) ++j;
        return j;
    }
    // The number of events that end at or before the boundary, given how many have begun.
    std::size_t ended(std::size_t boundary, std::size_t begun) const {
        return begun > 0 && events_[begun - 1].offset > edges_[boundary] ? begun - 1 : begun;
    }
    // The reference time before the boundary, given how many events have begun.
    Time covered(std::size_t boundary, std::size_t begun) const {
        if (begun == 0) return 0;
        const Interval& last = events_[begun - 1];
        const Time until = last.offset < edges_[boundary] ? last.offset : edges_[boundary];
        return before_[begun - 1] + (until - last.onset);
    }
    // Whether frames [first, end) lie in the last gap, so that they share no time with any event.
    // Most detections lie between the same two events as the one before.
    bool in_gap(std::size_t first, std::size_t end) const {
        return edges_[first] >= gap_.onset && edges_[end] <= gap_.offset;
    }
    // The reference time within frames [first, end), given how many events have begun at each.
    Time overlap(std::size_t first, std::size_t begun_first, std::size_t end,
                 std::size_t begun_end) {
        const Time time = covered(end, begun_end) - covered(first, begun_first);
        if (time == 0) {
            gap_.onset = begun_end > 0 ? events_[begun_end - 1].offset : before_all;
            gap_.offset = begun_end < count_ ? events_[begun_end].onset : after_all;
        }
        return time;
    }
    Time overlap(std::size_t first, std::size_t end) {
        return in_gap(first, end) ? 0 : overlap(first, begun(first), end, begun(end));
    }
    // The reference time before an instant, and within [from, until), which need no frames.
    Time covered_before(Time time) const {
        const Interval* const next =
            std::lower_bound(events_, events_ + count_, time,
                             [](const Interval& event, Time t) { return event.onset < t; });
        if (next == events_) return 0;
        const Interval& last = next[-1];
        return before_[next - 1 - events_] + (std::min(last.offset, time) - last.onset);
    }
    Time shared(Time from, Time until) const {
        return covered_before(until) - covered_before(from);
    }
    // Whether any event touches another one. Does not change the gap.
    bool touched_by(const Interval& other) const {
        const Interval* const end = events_ + count_;
        const Interval* next =
            std::lower_bound(events_, end, other.onset,
                             [](const Interval& event, Time time) { return event.offset < time; });
        for (; next != end && next->onset <= other.offset; ++next)
            if (touch(*next, other)) return true;
        return false;
    }

private:
    const Interval* events_ = nullptr;
    std::size_t count_ = 0;
    const Time* edges_ = nullptr;
    const Time* before_ = nullptr;
    const std::size_t* marks_ = nullptr;
    Time longest_ = 0;
    const std::vector<ReferenceIndex>* further_ = nullptr;
    Interval gap_{0, 0};  // the last one met between two events
};

// The number of events in all layers.
inline std::size_t count_in_layers(const std::vector<References>& layers) {
    std::size_t total = 0;
    for (const References& layer : layers) total += layer.count();
    return total;
}

// Another class that has references in the clip.
struct OtherClass {
    int32_t label;
    References references;
};

}  // namespace sedscope
