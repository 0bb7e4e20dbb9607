// From deltas to counts: sorts the deltas of a class by score and adds them up.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "core/buffer.hpp"
#include "core/radix_sort.hpp"
#include "counting/class_rows.hpp"

namespace sedscope {

// Counts of one class by decreasing score, one row per score at which a count changes. Row i counts
// what is detected where frames with `score >= scores[i]` are active. Cross-triggers stay sparse:
// at row `cross_rows[k]` those on class `cross_labels[k]` change by `cross_changes[k]`.
template <class T>
struct ClassTotals {
    Buffer<T> scores;
    Buffer<int64_t> tp, fp;
    Buffer<int64_t> cross_rows;
    Buffer<int32_t> cross_labels;
    Buffer<int64_t> cross_changes;
};

template <class T, class Change>
class Accumulator {
public:
    ClassTotals<T> add_up(const ClassRows<T, Change>& rows) {
        net_cross_triggers(rows);
        const std::size_t count = rows.count();
        ClassTotals<T> totals;
        T* scores = totals.scores.reserve(count + netted_.size());
        int64_t* tp = totals.tp.reserve(count + netted_.size());
        int64_t* fp = totals.fp.reserve(count + netted_.size());
        int64_t* cross_rows = totals.cross_rows.reserve(netted_.size());
        int32_t* cross_labels = totals.cross_labels.reserve(netted_.size());
        int64_t* cross_changes = totals.cross_changes.reserve(netted_.size());
        std::size_t n = 0;
        int64_t tp_total = 0, fp_total = 0;
        const auto& order = detections_.order(rows.scores, count, [&](std::size_t i) {
            return DetectionChange{rows.tp[i], rows.fp[i]};
        });
        auto row = order.begin();
        auto cross = netted_.begin();
        while (row != order.end() || cross != netted_.end()) {
            const Key key = cross == netted_.end() ? row->key
                            : row == order.end()   ? cross->key
                                                   : std::min(row->key, cross->key);
            const int64_t tp_before = tp_total, fp_before = fp_total;
            for (; row != order.end() && row->key == key; ++row) {
                tp_total += row->payload.tp;
                fp_total += row->payload.fp;
            }
            bool changed = tp_total != tp_before || fp_total != fp_before;
            for (; cross != netted_.end() && cross->key == key; ++cross) {
                *cross_rows++ = static_cast<int64_t>(n);
                *cross_labels++ = cross->label;
                *cross_changes++ = cross->change;
                changed = true;
            }
            scores[n] = score_of_key<T>(key);
            tp[n] = tp_total;
            fp[n] = fp_total;
            n += changed;
        }
        totals.scores.grow(n);
        totals.tp.grow(n);
        totals.fp.grow(n);
        totals.cross_rows.grow(netted_.size());
        totals.cross_labels.grow(netted_.size());
        totals.cross_changes.grow(netted_.size());
        return totals;
    }

private:
    using Key = typename Bits<T>::type;
    struct DetectionChange {
        Change tp, fp;
    };
    struct LabelChange {
        int32_t label;
        Change change;
    };
    struct CrossChange {
        Key key;
        int32_t label;
        int64_t change;
    };

    // Makes one entry per score and other class at which the cross-triggers change in sum.
    void net_cross_triggers(const ClassRows<T, Change>& rows) {
        netted_.clear();
        CrossChange* next = netted_.reserve(rows.cross_count());
        const auto& order = cross_triggers_.order(
            rows.cross_scores, rows.cross_count(),
            [&](std::size_t i) { return LabelChange{rows.cross_labels[i], rows.ct[i]}; });
        for (auto row = order.begin(); row != order.end();) {
            const Key key = row->key;
            CrossChange* const group = next;
            for (; row != order.end() && row->key == key; ++row) {
                *next = {key, row->payload.label, row->payload.change};
                next += row->payload.change != 0;  // the weight of a clip may be 0
            }
            if (next - group > 1) next = net_group(group, next);
        }
        netted_.grow(static_cast<std::size_t>(next - netted_.data()));
    }

    // Adds up the changes of each other class at one score. Returns the new end.
    static CrossChange* net_group(CrossChange* begin, CrossChange* end) {
        std::stable_sort(begin, end, [](const CrossChange& a, const CrossChange& b) {
            return a.label < b.label;
        });
        CrossChange* out = begin;
        for (const CrossChange* entry = begin; entry != end;) {
            CrossChange sum = *entry;
            for (++entry; entry != end && entry->label == sum.label; ++entry)
                sum.change += entry->change;
            if (sum.change) *out++ = sum;
        }
        return out;
    }

    RadixSort<T, DetectionChange> detections_;
    RadixSort<T, LabelChange> cross_triggers_;
    Buffer<CrossChange> netted_;
};

}  // namespace sedscope
