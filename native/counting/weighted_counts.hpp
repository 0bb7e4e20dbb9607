// Counts of clips with weights: deltas are sorted once, then added up for many sets of weights.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "core/buffer.hpp"
#include "core/radix_sort.hpp"
#include "counting/class_rows.hpp"

namespace sedscope {

template <class Change>
struct OrderedRow {
    int32_t clip;
    int32_t label;  // the class on which cross-triggers change, or -1
    Change tp, fp, ct;
    bool last;  // of its score: after it the sums are an operating point

    // Whether fewer references are found after it, or more is false.
    bool makes_worse() const { return tp < 0 || fp > 0 || ct > 0; }
};

// The deltas of one class by decreasing score.
template <class T, class ChangeType = int8_t>
class OrderedRows {
public:
    using Score = T;
    using Change = ChangeType;
    using Row = OrderedRow<Change>;

    explicit OrderedRows(const ClassRows<T, Change>& rows)
        : rows_(rows.count() + rows.cross_count()), scores_(rows_.size()) {
        const std::size_t count = rows.count(), cross_count = rows.cross_count();
        Buffer<T> scores(rows_.size());
        std::copy_n(rows.scores, count, scores.data());
        if (cross_count > 0) std::copy_n(rows.cross_scores, cross_count, scores.data() + count);
        Buffer<int32_t> clips(rows_.size());
        fill_clips(rows.starts, rows.clips, clips.data());
        if (cross_count > 0) fill_clips(rows.cross_starts, rows.clips, clips.data() + count);
        RadixSort<T, Row> sort;
        const auto& order = sort.order(scores.data(), rows_.size(), [&](std::size_t i) {
            if (i < count) return Row{clips[i], -1, rows.tp[i], rows.fp[i], 0, 0};
            const std::size_t k = i - count;
            return Row{clips[i], rows.cross_labels[k], 0, 0, rows.ct[k], 0};
        });
        for (std::size_t i = 0; i < order.size(); ++i) {
            rows_[i] = order[i].payload;
            rows_[i].last = i + 1 == order.size() || order[i + 1].key != order[i].key;
            scores_[i] = score_of_key<T>(order[i].key);
            for (const int64_t change : {rows_[i].tp, rows_[i].fp, rows_[i].ct})
                turnover_ += std::abs(change);
        }
    }

    const Buffer<Row>& rows() const { return rows_; }
    T score(std::size_t row) const { return scores_[row]; }
    // The sum of all changes. No count exceeds this times the largest weight.
    int64_t turnover() const { return turnover_; }

private:
    // Writes the clip of each row.
    static void fill_clips(const int64_t* starts, std::size_t clips, int32_t* clip_of_row) {
        for (std::size_t clip = 0; clip < clips; ++clip)
            std::fill(clip_of_row + (starts[clip] - starts[0]),
                      clip_of_row + (starts[clip + 1] - starts[0]), static_cast<int32_t>(clip));
    }

    Buffer<Row> rows_;
    Buffer<T> scores_;
    int64_t turnover_ = 0;
};

// True and false positives of one class at decreasing scores.
template <class T>
struct WeightedCounts {
    Buffer<T> scores;
    Buffer<int64_t> tp, fp;

    void push(T score, int64_t tp_total, int64_t fp_total) {
        scores.push(score);
        tp.push(tp_total);
        fp.push(fp_total);
    }
};

// Makes one row per score at which a count changes. With `extremes_only`, keeps of each run of rows
// with equal true positives only the first with the fewest false positives, and the last.
template <class T, class Change>
WeightedCounts<T> add_up(const OrderedRows<T, Change>& ordered, const int32_t* weights,
                         bool extremes_only) {
    WeightedCounts<T> counts;
    int64_t tp = 0, fp = 0, tp_before = 0, fp_before = 0;
    struct Point {
        std::size_t row;
        int64_t tp, fp;
    };
    Point cheapest{0, 0, 0}, latest{0, 0, 0};
    bool pending = false;
    auto finish_run = [&] {
        if (!pending) return;
        counts.push(ordered.score(cheapest.row), cheapest.tp, cheapest.fp);
        if (latest.row != cheapest.row)
            counts.push(ordered.score(latest.row), latest.tp, latest.fp);
    };
    const auto& rows = ordered.rows();
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const OrderedRow<Change>& row = rows[i];
        const int64_t weight = weights[row.clip];
        tp += weight * row.tp;
        fp += weight * row.fp;
        if (!row.last || (tp == tp_before && fp == fp_before)) continue;
        if (!extremes_only) {
            counts.push(ordered.score(i), tp, fp);
        } else {
            if (tp != tp_before) finish_run();
            if (tp != tp_before || !pending || fp < cheapest.fp) cheapest = {i, tp, fp};
            latest = {i, tp, fp};
            pending = true;
        }
        tp_before = tp;
        fp_before = fp;
    }
    finish_run();
    return counts;
}

}  // namespace sedscope
