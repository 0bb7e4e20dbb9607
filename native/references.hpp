// The reference events of one class in one clip, seen from the frame boundaries.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sedscope {

using Time = int64_t;  // microseconds

struct Interval {
    Time onset;
    Time offset;
};

class References {
public:
    // `events` are sorted and do not overlap; `edges` are the clip's `boundaries` frame boundaries.
    void assign(const Interval* events, std::size_t count, const Time* edges,
                std::size_t boundaries) {
        events_ = events;
        count_ = count;
        edges_ = edges;
        before_.resize(count + 1);
        before_[0] = 0;
        for (std::size_t j = 0; j < count; ++j)
            before_[j + 1] = before_[j] + (events[j].offset - events[j].onset);
        // How many have begun at every stride-th boundary: a look-up scans on from there.
        const std::size_t marks = (boundaries + stride - 1) / stride;
        marks_.resize(marks);
        std::size_t begun = 0;
        for (std::size_t mark = 0; mark < marks; ++mark) {
            while (begun < count && events[begun].onset < edges[mark * stride]) ++begun;
            marks_[mark] = begun;
        }
    }

    std::size_t count() const { return count_; }
    const Interval& operator[](std::size_t j) const { return events_[j]; }

    // Events that begin before the boundary.
    std::size_t begun(std::size_t boundary) const {
        std::size_t j = marks_[boundary / stride];
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
    // Reference time within frames [first, end).
    Time overlap(std::size_t first, std::size_t end) const {
        return covered(end, begun(end)) - covered(first, begun(first));
    }

private:
    static constexpr std::size_t stride = 64;

    const Interval* events_ = nullptr;
    std::size_t count_ = 0;
    const Time* edges_ = nullptr;
    std::vector<Time> before_;  // total time of the events before each one
    std::vector<std::size_t> marks_;
};

}  // namespace sedscope
