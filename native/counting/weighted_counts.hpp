// Counts of clips with weights: deltas are put in order once, then added up for many weights.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "../core/buffer.hpp"
#include "../core/radix_sort.hpp"

namespace sedscope {

// Deltas of one class in any order, and the clip that each belongs to.
template <class T>
struct ClipRows {
    const T* scores;
    const int32_t* clips;
    const int8_t* tp;
    const int8_t* fp;
    std::size_t count;
    const T* cross_scores;
    const int32_t* cross_clips;
    const int32_t* cross_labels;
    const int8_t* cross;
    std::size_t cross_count;
};

struct OrderedRow {
    int32_t clip;
    int32_t label;  // the class on which cross-triggers change, or -1
    int8_t tp, fp, ct;
    bool last;  // of its score: from here on the sums are an operating point
};

// The deltas of one class by decreasing score.
template <class T>
class OrderedRows {
public:
    using Score = T;

    explicit OrderedRows(const ClipRows<T>& rows)
        : rows_(rows.count + rows.cross_count), scores_(rows.count + rows.cross_count) {
        Buffer<T> scores(rows_.size());
        std::copy_n(rows.scores, rows.count, scores.data());
        std::copy_n(rows.cross_scores, rows.cross_count, scores.data() + rows.count);
        RadixSort<T, OrderedRow> sort;
        const auto& order = sort.order(scores.data(), rows_.size(), [&](std::size_t i) {
            if (i < rows.count) return OrderedRow{rows.clips[i], -1, rows.tp[i], rows.fp[i], 0, 0};
            i -= rows.count;
            return OrderedRow{rows.cross_clips[i], rows.cross_labels[i], 0, 0, rows.cross[i], 0};
        });
        for (std::size_t i = 0; i < order.size(); ++i) {
            rows_[i] = order[i].payload;
            rows_[i].last = i + 1 == order.size() || order[i + 1].key != order[i].key;
            scores_[i] = score_of_key<T>(order[i].key);
            turnover_ += std::max(std::abs(rows_[i].tp), std::abs(rows_[i].fp));
        }
    }

    const Buffer<OrderedRow>& rows() const { return rows_; }
    T score(std::size_t row) const { return scores_[row]; }
    // No count gets larger than this, times the largest weight.
    int64_t turnover() const { return turnover_; }

private:
    Buffer<OrderedRow> rows_;
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

// One row per score at which a count changes. With `extremes_only`, of each run of rows with equal
// true positives only the first with the fewest false positives, and the last.
template <class T>
WeightedCounts<T> add_up(const OrderedRows<T>& ordered, const int32_t* weights,
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
        const OrderedRow& row = rows[i];
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
