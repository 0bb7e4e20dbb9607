// Ranges of scores: how few false positives each clip can have in each of them, and the rows of
// deltas without the ranges that nobody reads.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "core/buffer.hpp"
#include "core/radix_sort.hpp"
#include "counting/class_rows.hpp"
#include "criteria/delta_rows.hpp"

namespace sedscope {

// Rows of one class by clip, which own their columns.
template <class T>
struct OwnedRows {
    Buffer<int64_t> ends, cross_ends;  // of the rows of each clip
    Buffer<T> scores, cross_scores;
    Buffer<int8_t> tp, fp, ct;
    Buffer<int32_t> cross_labels;
};

// The ranges of one class, by decreasing score. Rows need not be sorted: a range is a number of
// consecutive cells, and the first bits of a score say which cell it lies in.
template <class T>
class ScoreRanges {
public:
    // Makes ranges of at least `rows_per_range` rows, except for the last one.
    ScoreRanges(const ClassRows<T, int8_t>& rows, std::size_t rows_per_range) : rows_(rows) {
        const std::size_t count = rows.count();
        std::vector<uint32_t> in_cell(cells);
        if (count > rows_per_range)
            for (std::size_t i = 0; i < count; ++i) ++in_cell[cell(rows.scores[i])];
        std::size_t in_range = 0;
        for (std::size_t c = 0; c < cells; ++c) {
            in_range += in_cell[c];
            if (in_range < rows_per_range && c + 1 < cells) continue;
            ends_.push_back(static_cast<uint32_t>(c + 1));
            in_range = 0;
        }
        add_up();
    }

    std::size_t clips() const { return rows_.clips; }
    std::size_t count() const { return ends_.size(); }
    // (clips x ranges) no more false positives than a clip has anywhere in a range.
    const float* fewest() const { return fewest_.data(); }
    // (clips x ranges) true and false positives at the end of a range.
    const int32_t* tp() const { return tp_.data(); }
    const int32_t* fp() const { return fp_.data(); }

    // Moves the changes in unread ranges to the lowest score of consecutive ones, and merges them
    // there. Counts at all scores in other ranges stay the same. `classes`: those that
    // cross-triggers can be on.
    OwnedRows<T> without(const bool* unread, std::size_t classes) const {
        std::vector<MergedRange> merged;
        std::vector<int32_t> place(count(), -1);  // in `merged`
        for (std::size_t r = 0; r < count(); ++r) {
            if (!unread[r]) continue;
            if (r == 0 || !unread[r - 1]) merged.push_back({r, r, lowest_[r]});
            merged.back().last = r;
            merged.back().lowest = std::min(merged.back().lowest, lowest_[r]);
            place[r] = static_cast<int32_t>(merged.size() - 1);
        }
        std::vector<int32_t> place_of_cell(cells);
        const std::vector<uint32_t> ranges = range_of_cell();
        for (std::size_t c = 0; c < cells; ++c) place_of_cell[c] = place[ranges[c]];

        OwnedRows<T> kept;
        std::vector<int64_t> crossed(merged.size() * classes);
        for (std::size_t clip = 0; clip < clips(); ++clip) {
            keep_detections(clip, merged, place_of_cell, kept);
            if (rows_.cross_starts) keep_cross_triggers(clip, merged, place_of_cell, crossed, kept);
        }
        return kept;
    }

private:
    static constexpr unsigned cell_bits = 16;
    static constexpr std::size_t cells = std::size_t{1} << cell_bits;

    static constexpr int32_t most = 1 << 24;  // a float is exact up to here

    // Rounding to a float keeps the order of scores, so cells are in the order of scores, too.
    static std::size_t cell(T score) {
        return descending_key(static_cast<float>(score)) >> (32 - cell_bits);
    }

    static std::size_t row(const int64_t* starts, std::size_t clip) {
        return static_cast<std::size_t>(starts[clip] - starts[0]);
    }

    // Consecutive ranges that nobody reads.
    struct MergedRange {
        std::size_t first, last;
        T lowest;  // score
    };

    void keep_detections(std::size_t clip, const std::vector<MergedRange>& merged,
                         const std::vector<int32_t>& place_of_cell, OwnedRows<T>& kept) const {
        const std::size_t end = row(rows_.starts, clip + 1);
        for (std::size_t i = row(rows_.starts, clip); i < end; ++i) {
            if (place_of_cell[cell(rows_.scores[i])] >= 0) continue;
            kept.scores.push(rows_.scores[i]);
            kept.tp.push(rows_.tp[i]);
            kept.fp.push(rows_.fp[i]);
        }
        for (const MergedRange& range : merged) {
            int64_t tp = change(tp_, clip, range), fp = change(fp_, clip, range);
            while (tp || fp) {  // a change that is too large takes several rows
                kept.scores.push(range.lowest);
                kept.tp.push(narrow<int8_t>(tp));
                kept.fp.push(narrow<int8_t>(fp));
            }
        }
        kept.ends.push(static_cast<int64_t>(kept.scores.size()));
    }

    // `crossed`: (merged ranges x classes) zeros, before and after.
    void keep_cross_triggers(std::size_t clip, const std::vector<MergedRange>& merged,
                             const std::vector<int32_t>& place_of_cell,
                             std::vector<int64_t>& crossed, OwnedRows<T>& kept) const {
        const std::size_t begin = row(rows_.cross_starts, clip);
        const std::size_t end = row(rows_.cross_starts, clip + 1);
        const std::size_t classes = merged.empty() ? 0 : crossed.size() / merged.size();
        auto sum = [&](std::size_t i, int32_t place) -> int64_t& {
            return crossed[static_cast<std::size_t>(place) * classes +
                           static_cast<std::size_t>(rows_.cross_labels[i])];
        };
        auto keep = [&](std::size_t i, T score, int8_t change) {
            kept.cross_scores.push(score);
            kept.cross_labels.push(rows_.cross_labels[i]);
            kept.ct.push(change);
        };
        for (std::size_t i = begin; i < end; ++i) {
            const int32_t place = place_of_cell[cell(rows_.cross_scores[i])];
            if (place < 0)
                keep(i, rows_.cross_scores[i], rows_.ct[i]);
            else
                sum(i, place) += rows_.ct[i];
        }
        if (!merged.empty())
            for (std::size_t i = begin; i < end; ++i) {
                const int32_t place = place_of_cell[cell(rows_.cross_scores[i])];
                if (place < 0) continue;
                for (int64_t& change = sum(i, place); change != 0;)
                    keep(i, merged[static_cast<std::size_t>(place)].lowest, narrow<int8_t>(change));
            }
        kept.cross_ends.push(static_cast<int64_t>(kept.cross_scores.size()));
    }

    // The change of a count from before the first of some ranges to the end of the last.
    int64_t change(const Buffer<int32_t>& counts, std::size_t clip,
                   const MergedRange& range) const {
        const int32_t* of_clip = counts.data() + clip * count();
        return int64_t{of_clip[range.last]} - (range.first > 0 ? of_clip[range.first - 1] : 0);
    }

    std::vector<uint32_t> range_of_cell() const {
        std::vector<uint32_t> ranges(cells);
        auto begin = ranges.begin();
        for (std::size_t r = 0; r < count(); ++r) {
            const auto end = ranges.begin() + ends_[r];
            std::fill(begin, end, static_cast<uint32_t>(r));
            begin = end;
        }
        return ranges;
    }

    void add_up() {
        const std::vector<uint32_t> ranges = range_of_cell();
        fewest_.assign(clips() * count());
        tp_.assign(clips() * count());
        fp_.assign(clips() * count());
        lowest_.assign(count(), std::numeric_limits<T>::infinity());
        for (std::size_t i = 0; i < rows_.cross_count(); ++i) {
            T& lowest = lowest_[ranges[cell(rows_.cross_scores[i])]];
            lowest = std::min(lowest, rows_.cross_scores[i]);
        }
        struct Changes {
            int32_t tp, fp, fall;
        };
        std::vector<Changes> changes(count());
        for (std::size_t clip = 0; clip < rows_.clips; ++clip) {
            std::fill(changes.begin(), changes.end(), Changes{});
            for (std::size_t i = row(rows_.starts, clip); i < row(rows_.starts, clip + 1); ++i) {
                const std::size_t r = ranges[cell(rows_.scores[i])];
                lowest_[r] = std::min(lowest_[r], rows_.scores[i]);
                changes[r].tp += rows_.tp[i];
                changes[r].fp += rows_.fp[i];
                changes[r].fall += std::min<int32_t>(rows_.fp[i], 0);
            }
            int32_t tp = 0, fp = 0;
            for (std::size_t r = 0; r < count(); ++r) {
                const std::size_t at = clip * count() + r;
                fewest_[at] = static_cast<float>(std::clamp(fp + changes[r].fall, 0, most));
                tp_[at] = tp += changes[r].tp;
                fp_[at] = fp += changes[r].fp;
            }
        }
    }

    ClassRows<T, int8_t> rows_;
    std::vector<uint32_t> ends_;  // the cell after the last one of each range
    std::vector<T> lowest_;       // the lowest score of each range
    Buffer<float> fewest_;
    Buffer<int32_t> tp_, fp_;
};

}  // namespace sedscope
