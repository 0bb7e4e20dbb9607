// The criterion of alarms: a detection raises an alarm at its onset, unless one was raised shortly
// before.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "clips/component_tree.hpp"
#include "clips/ignored_references.hpp"
#include "clips/reference_table.hpp"
#include "core/buffer.hpp"
#include "core/radix_sort.hpp"
#include "core/time.hpp"
#include "criteria/delta_rows.hpp"
#include "criteria/detection_count.hpp"
#include "criteria/scene.hpp"
#include "postprocessing/rank_set.hpp"

namespace sedscope {

// A detection raises no alarm less than `cooldown` after the last alarm. An alarm finds a reference
// from `before` its onset until `after` its offset or, if `within` is stated, until `within` after
// its onset, borders included.
struct Alarm {
    Time cooldown, before, after;
    std::optional<Time> within;

    Interval window(const Interval& reference) const {
        return {reference.onset - before,
                within ? reference.onset + *within : reference.offset + after};
    }

    template <class T>
    class Kernel;
    class Judge;
};

// How much an alarm adds to the counts.
struct AlarmCounts {
    int32_t tp, fp;
};

// The windows of one class in one clip, and how many alarms there are in each.
class AlarmWindows {
public:
    void assign(const Alarm& criterion, const ClipReferences& references, int32_t label) {
        windows_.clear();
        std::vector<References> layers;
        references.counted_in_layers(label, layers);
        add(criterion, layers);
        std::sort(windows_.begin(), windows_.end(), is_earlier);
        counted_.clear();
        longest_ = 0;
        for (const Interval& window : windows_) {
            counted_.push_back({window, 0});
            longest_ = std::max(longest_, window.offset - window.onset);
        }
        add(criterion, references.ignored(label).layers);
        std::sort(windows_.begin(), windows_.end(), is_earlier);
        std::size_t last = 0;  // those that touch become one
        for (std::size_t k = 1; k < windows_.size(); ++k) {
            if (windows_[k].onset > windows_[last].offset)
                windows_[++last] = windows_[k];
            else
                windows_[last].offset = std::max(windows_[last].offset, windows_[k].offset);
        }
        if (!windows_.empty()) windows_.resize(last + 1);
    }

    // Whether there are none, of ignored references either.
    bool empty() const { return windows_.empty(); }

    // Adds an alarm, or takes it away (`sign` is -1). Returns how the counts change.
    AlarmCounts change(Time alarm, int32_t sign) {
        const auto window =
            std::lower_bound(windows_.begin(), windows_.end(), alarm,
                             [](const Interval& other, Time time) { return other.offset < time; });
        if (window == windows_.end() || window->onset > alarm) return {0, sign};
        int32_t tp = 0;
        auto target = std::lower_bound(
            counted_.begin(), counted_.end(), alarm - longest_,
            [](const Target& other, Time time) { return other.window.onset < time; });
        for (; target != counted_.end() && target->window.onset <= alarm; ++target) {
            if (target->window.offset < alarm) continue;
            const bool was_found = target->alarms > 0;
            target->alarms += sign;
            tp += (target->alarms > 0) - was_found;
        }
        return {tp, 0};
    }

private:
    struct Target {
        Interval window;
        int32_t alarms;
    };

    static bool is_earlier(const Interval& a, const Interval& b) { return a.onset < b.onset; }

    void add(const Alarm& criterion, const std::vector<References>& layers) {
        for (const References& layer : layers)
            for (std::size_t j = 0; j < layer.count(); ++j)
                windows_.push_back(criterion.window(layer[j]));
    }

    std::vector<Target> counted_;    // by onset
    Time longest_ = 0;               // of them
    std::vector<Interval> windows_;  // all of them, united
};

// The alarms among some onsets while onsets come and go: each onset that is at least the cooldown
// after the alarm before it. Onsets have numbers, in order of time.
//
// A change alters the alarms only from there on, and only until an alarm is met that was one
// before: the rest of the chain follows from it. This takes few steps, as chains soon meet. At
// worst it takes as many as there are alarms.
class AlarmChain {
public:
    // `times`: of all onsets; none of them is there yet.
    void begin(const Time* times, std::size_t count, Time cooldown) {
        times_ = times;
        onsets_.reset(count);
        alarms_.reset(count);
        is_alarm_.assign(count, 0);
        next_.assign(count);
        std::size_t next = 0;
        for (std::size_t k = 0; k < count; ++k) {
            next = std::max(next, k + 1);
            while (next < count && times[next] < times[k] + cooldown) ++next;
            next_[k] = static_cast<uint32_t>(next);
        }
    }

    // Adds an onset. Calls `change(time, 1)` and `change(time, -1)` for the alarms that there are
    // more and less.
    template <class Change>
    void insert(std::size_t onset, Change&& change) {
        onsets_.insert(onset);
        const std::size_t before = alarms_.below(onset);
        if (before != RankSet::none && next_[before] > onset) return;
        replace(onset, alarms_.above(onset), change);
    }

    template <class Change>
    void erase(std::size_t onset, Change&& change) {
        onsets_.erase(onset);
        if (is_alarm_[onset]) replace(onsets_.above(onset), onset, change);
    }

private:
    // Replaces the alarms from `old` on by those from `alarm` on.
    template <class Change>
    void replace(std::size_t alarm, std::size_t old, Change&& change) {
        while (alarm != old) {
            if (old < alarm) {  // `none` is larger than any number
                alarms_.erase(old);
                is_alarm_[old] = 0;
                change(times_[old], -1);
                old = alarms_.above(old);
            } else {
                alarms_.insert(alarm);
                is_alarm_[alarm] = 1;
                change(times_[alarm], 1);
                alarm = onsets_.above(next_[alarm] - 1);
            }
        }
    }

    const Time* times_ = nullptr;
    RankSet onsets_, alarms_;
    std::vector<uint8_t> is_alarm_;
    Buffer<uint32_t> next_;  // the first onset that is not too early after each
};

// Emits the deltas of one class in one clip.
//
// The onset at a frame exists for thresholds between the score of the frame before and its own. As
// the threshold falls, frames become active one after the other: one that follows an inactive frame
// brings an onset, and one that precedes an active frame takes the onset there away. Only these
// frames are kept, and sorted by score. Where a clip is too short for two alarms, its first active
// frame raises the only one, which needs no order.
template <class T>
class Alarm::Kernel {
public:
    explicit Kernel(const Alarm& criterion) : criterion_(criterion) {}

    void begin(const ClipReferences& references, int32_t label, T floor) {
        windows_.assign(criterion_, references, label);
        edges_ = references.edges;
        floor_ = last_ = floor;
        frame_ = 0;
        rose_ = false;
        scores_.clear();
        steps_.clear();
        times_.clear();
        alarm_ = {0, 0};
        way_ = Way::sort;
        if (!edges_) return;  // events follow, not frames
        const std::size_t frames = references.boundaries - 1;
        if (frames == 0 || edges_[frames - 1] - edges_[0] < criterion_.cooldown)
            way_ = Way::single;
        else if (criterion_.cooldown == 0 && windows_.empty())
            way_ = Way::count;
        if (way_ == Way::count) count_.begin(floor);
    }

    void feed(const T* scores, std::size_t frames, DeltaRows<T>& rows) {
        if (way_ == Way::single)
            rise(scores, frames, rows);
        else if (way_ == Way::count)
            count_.feed(scores, frames, rows.detections);
        else
            keep(scores, frames);
        frame_ += frames;
    }

    // Takes an event that is detected as it is: its onset never goes away.
    void add(const Interval& event, T score, DeltaRows<T>&) {
        steps_.push({static_cast<uint32_t>(times_.size()), true, false});
        scores_.push(score);
        times_.push(event.onset);
    }

    void finish(DeltaRows<T>& rows) {
        if (way_ == Way::single) {
            push(last_, alarm_, rows);
        } else if (way_ == Way::count) {
            count_.finish(rows.detections);
        } else {
            if (edges_) keep_last(false);
            sweep(rows);
        }
    }

private:
    enum class Way { single, count, sort };

    // What happens where a frame becomes active: the onset before `next` begins, or `next` ends.
    struct Step {
        uint32_t next : 30;
        uint32_t inserts : 1, erases : 1;
    };

    void push(T score, const AlarmCounts& change, DeltaRows<T>& rows) {
        if (change.tp || change.fp) rows.detections.push(score, change.tp, change.fp);
    }

    // Takes frames of a clip with at most one alarm: at the first frame that is active.
    void rise(const T* scores, std::size_t frames, DeltaRows<T>& rows) {
        for (std::size_t i = first_above(scores, 0, frames, last_); i < frames;
             i = first_above(scores, i + 1, frames, last_)) {
            // below the largest score so far, the alarm is an earlier one
            const Time time = edges_[frame_ + i];
            const AlarmCounts alarm = windows_.change(time, 1);
            windows_.change(time, -1);
            if (last_ > floor_) push(last_, {alarm_.tp - alarm.tp, alarm_.fp - alarm.fp}, rows);
            alarm_ = alarm;
            last_ = scores[i];
        }
    }

    // Keeps the frames that change onsets.
    void keep(const T* scores, std::size_t frames) {
        scores_.reserve(frames + 1);
        steps_.reserve(frames + 1);
        times_.reserve(frames);
        for (std::size_t i = 0; i < frames; ++i) {
            const T score = std::max(scores[i], floor_);
            const bool rises = score > last_;
            keep_last(rises);
            *times_.end() = edges_[frame_ + i];
            times_.grow(rises);
            rose_ = rises;
            last_ = score;
        }
    }

    // Keeps the frame before, now that it is known whether the score rises after it.
    void keep_last(bool rises) {
        *scores_.reserve(1) = last_;
        *steps_.reserve(1) = {static_cast<uint32_t>(times_.size()) & most_onsets, rose_, rises};
        const bool changes = last_ > floor_ && (rose_ || rises);
        scores_.grow(changes);
        steps_.grow(changes);
    }

    void sweep(DeltaRows<T>& rows) {
        if (!edges_) sort_events();
        chain_.begin(times_.data(), times_.size(), criterion_.cooldown);
        AlarmCounts changed{0, 0};
        const auto change = [&](Time time, int32_t sign) {
            const AlarmCounts counts = windows_.change(time, sign);
            changed.tp += counts.tp;
            changed.fp += counts.fp;
        };
        typename RadixSort<T, Step>::Key key = 0;
        const auto& order = by_score_.order(scores_.data(), scores_.size(),
                                            [&](std::size_t i) { return steps_[i]; });
        for (const auto& entry : order) {
            if (entry.key != key) {
                push(score_of_key<T>(key), changed, rows);
                changed = {0, 0};
                key = entry.key;
            }
            const Step& step = entry.payload;
            if (step.inserts) chain_.insert(step.next - 1, change);
            if (step.erases) chain_.erase(step.next, change);
        }
        push(score_of_key<T>(key), changed, rows);
    }

    // Numbers the onsets of events in order of time.
    void sort_events() {
        std::vector<std::pair<Time, T>> events;
        for (std::size_t k = 0; k < times_.size(); ++k) events.push_back({times_[k], scores_[k]});
        std::sort(events.begin(), events.end());
        for (std::size_t k = 0; k < events.size(); ++k) {
            std::tie(times_[k], scores_[k]) = events[k];
            steps_[k] = {static_cast<uint32_t>(k + 1) & most_onsets, true, false};
        }
    }

    static constexpr uint32_t most_onsets = (uint32_t{1} << 30) - 1;

    const Alarm criterion_;
    AlarmWindows windows_;
    AlarmChain chain_;
    DetectionCount<T> count_;
    RadixSort<T, Step> by_score_;
    Way way_ = Way::sort;
    const Time* edges_ = nullptr;
    T floor_{};
    std::size_t frame_ = 0;  // frames so far
    T last_{};               // the score of the frame before; of a single alarm: the largest so far
    bool rose_ = false;      // whether the frame before is an onset
    AlarmCounts alarm_{0, 0};  // the single alarm so far
    Buffer<T> scores_;         // of the frames that change onsets
    Buffer<Step> steps_;       // what they change
    Buffer<Time> times_;       // of the onsets
};

// Marks the alarms that are right. Detections that raise none count as ignored, as do alarms for
// ignored references.
class Alarm::Judge {
public:
    explicit Judge(const Alarm& criterion) : criterion_(criterion) {}

    bool judges_strays() const { return criterion_.cooldown > 0; }

    void judge(Scene& scene, References& own, IgnoredReferences& ignored) const {
        std::optional<Time> last;
        for (std::size_t i = 0; i < scene.detections.size(); ++i) {
            const Time time = scene.detections[i].onset;
            if (last && time - *last < criterion_.cooldown) {
                scene.is_ignored[i] = 1;
                continue;
            }
            last = time;
            for (std::size_t j = 0; j < own.count(); ++j)
                if (finds(time, own[j])) scene.is_true[i] = scene.is_found[j] = 1;
            if (scene.is_true[i]) continue;
            for (const References& layer : ignored.layers)
                for (const Interval& event : layer) scene.is_ignored[i] |= finds(time, event);
        }
    }

    bool triggers(const DetectedEvent& detection, References*, IgnoredReferences&,
                  References& other) const {
        return other.touched_by(detection.interval());
    }

    bool onset_off(Time) const { return true; }  // a detection that is not too early or too late
    bool offset_off(Time, const Interval&) const { return false; }  // is right

private:
    bool finds(Time alarm, const Interval& reference) const {
        const Interval window = criterion_.window(reference);
        return window.onset <= alarm && alarm <= window.offset;
    }

    const Alarm criterion_;
};

}  // namespace sedscope
