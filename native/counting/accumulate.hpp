// From deltas to counts: sorts the deltas of a class by score and adds them up.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

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
                totals.cross_rows.push(static_cast<int64_t>(n));
                totals.cross_labels.push(cross->label);
                totals.cross_changes.push(cross->change);
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
        const auto& order = cross_triggers_.order(
            rows.cross_scores, rows.cross_count(),
            [&](std::size_t i) { return LabelChange{rows.cross_labels[i], rows.ct[i]}; });
        for (auto row = order.begin(); row != order.end();) {
            const Key key = row->key;
            const std::size_t group = netted_.size();
            for (; row != order.end() && row->key == key; ++row)
                if (row->payload.change)  // the weight of a clip may be 0
                    netted_.push_back({key, row->payload.label, row->payload.change});
            if (netted_.size() - group > 1) net_group(group);
        }
    }

    void net_group(std::size_t group) {
        const auto begin = netted_.begin() + static_cast<std::ptrdiff_t>(group);
        std::stable_sort(begin, netted_.end(), [](const CrossChange& a, const CrossChange& b) {
            return a.label < b.label;
        });
        auto out = begin;
        for (auto entry = begin; entry != netted_.end();) {
            CrossChange sum = *entry;
            for (++entry; entry != netted_.end() && entry->label == sum.label; ++entry)
                sum.change += entry->change;
            if (sum.change) *out++ = sum;
        }
        netted_.erase(out, netted_.end());
    }

    RadixSort<T, DetectionChange> detections_;
    RadixSort<T, LabelChange> cross_triggers_;
    std::vector<CrossChange> netted_;
};

}  // namespace sedscope
