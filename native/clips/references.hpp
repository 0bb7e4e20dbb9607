// The reference events of one class in one clip, seen from the frame boundaries.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace sedscope {

using Time = int64_t;  // microseconds

struct Interval {
    Time onset;
    Time offset;
};

constexpr Time before_all = std::numeric_limits<Time>::min();
constexpr Time after_all = std::numeric_limits<Time>::max();

// "At least this part of a length", in whole microseconds and never nothing.
struct Requirement {
    double part;

    Time of(Time length) const {
        const Time needed = static_cast<Time>(part * static_cast<double>(length) + 0.5);
        return needed > 1 ? needed : 1;
    }
};

// What a look-up of references needs beside the events: found once for a clip and class, then only
// read.
class ReferenceIndex {
public:
    static constexpr std::size_t stride = 64;

    // `events` are sorted and do not overlap; `edges` are the clip's `boundaries` frame boundaries.
    void assign(const Interval* events, std::size_t count, const Time* edges,
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
        // How many have begun at every stride-th boundary: a look-up scans on from there.
        const std::size_t marks = (boundaries + stride - 1) / stride;
        marks_.resize(marks);
        std::size_t begun = 0;
        for (std::size_t mark = 0; mark < marks; ++mark) {
            while (begun < count && events[begun].onset < edges[mark * stride]) ++begun;
            marks_[mark] = begun;
        }
    }

private:
    friend class References;

    const Interval* events_ = nullptr;
    std::size_t count_ = 0;
    const Time* edges_ = nullptr;
    Time longest_ = 0;
    std::vector<Time> before_;  // total time of the events before each one
    std::vector<std::size_t> marks_;
};

// A look-up of the references of one class in one clip. It is cheap to copy, and each user has its
// own: it remembers where there was none.
class References {
public:
    References() = default;  // of a class without any
    explicit References(const ReferenceIndex& index)
        : events_(index.events_),
          count_(index.count_),
          edges_(index.edges_),
          before_(index.before_.data()),
          marks_(index.marks_.data()),
          longest_(index.longest_) {}

    std::size_t count() const { return count_; }
    const Interval& operator[](std::size_t j) const { return events_[j]; }

    Time longest() const { return longest_; }
    // Where a criterion keeps the place at which it last found no event near.
    Interval& gap() { return gap_; }

    // Events that begin before the boundary.
    std::size_t begun(std::size_t boundary) const {
        std::size_t j = marks_[boundary / ReferenceIndex::stride];
        while (j < count_ && events_[j].onset < edges_[boundary]) ++j;
        return j;
    }
    // Events that end before or at the boundary, given how many have begun.
    std::size_t ended(std::size_t boundary, std::size_t begun) const {
        return begun > 0 && events_[begun - 1].offset > edges_[boundary] ? begun - 1 : begun;
    }
    // Reference time before the boundary, given how many have begun.
    Time covered(std::size_t boundary, std::size_t begun) const {
        if (begun == 0) return 0;
        const Interval& last = events_[begun - 1];
        const Time until = last.offset < edges_[boundary] ? last.offset : edges_[boundary];
        return before_[begun - 1] + (until - last.onset);
    }
    // Whether frames [first, end) surely share no time with any event: most detections lie between
    // the same two events as the one asked for before.
    bool passed_by(std::size_t first, std::size_t end) const {
        return edges_[first] >= gap_.onset && edges_[end] <= gap_.offset;
    }
    // Reference time within frames [first, end), given how many have begun at either end.
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
        return passed_by(first, end) ? 0 : overlap(first, begun(first), end, begun(end));
    }
    // Whether any event shares time with [from, until); leaves the gap alone.
    bool touched(Time from, Time until) const {
        const Interval* const end = events_ + count_;
        const Interval* next =
            std::upper_bound(events_, end, from,
                             [](Time time, const Interval& event) { return time < event.offset; });
        return from < until && next != end && next->onset < until;
    }

private:
    const Interval* events_ = nullptr;
    std::size_t count_ = 0;
    const Time* edges_ = nullptr;
    const Time* before_ = nullptr;
    const std::size_t* marks_ = nullptr;
    Time longest_ = 0;
    Interval gap_{0, 0};  // between two events
};

// Another class that has references in the clip.
struct OtherClass {
    int32_t label;
    References references;
};

}  // namespace sedscope
