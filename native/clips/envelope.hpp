// The highest score of the events that cover each instant.
//
// It is at least s where the events with a score of at least s are, taken together: the time that
// they cover counts once, however many of them overlap.
#pragma once

#include <algorithm>
#include <vector>

#include "core/time.hpp"

namespace sedscope {

// `emit(from, until, score)` gets the pieces of the envelope in order of time. Events come in order
// of onset. There are at most two pieces per event.
template <class T>
class Envelope {
public:
    void begin() { open_.clear(); }

    template <class Emit>
    void add(const Interval& event, T score, Emit&& emit) {
        emit_until(event.onset, emit);
        time_ = event.onset;
        open_.push_back({score, event.offset});
        std::push_heap(open_.begin(), open_.end());
    }

    template <class Emit>
    void finish(Emit&& emit) {
        emit_until(after_all, emit);
    }

private:
    struct Open {
        T score;
        Time offset;

        bool operator<(const Open& other) const { return score < other.score; }
    };

    template <class Emit>
    void emit_until(Time end, Emit&& emit) {
        while (!open_.empty() && time_ < end) {
            const Open highest = open_.front();
            if (highest.offset > time_) {
                const Time until = std::min(highest.offset, end);
                emit(time_, until, highest.score);
                time_ = until;
            }
            if (highest.offset <= time_) {
                std::pop_heap(open_.begin(), open_.end());
                open_.pop_back();
            }
        }
    }

    std::vector<Open> open_;  // a heap; those that are over stay in it until they are the highest
    Time time_ = before_all;
};

}  // namespace sedscope
