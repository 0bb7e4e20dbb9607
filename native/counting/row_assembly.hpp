// Puts rows of deltas, emitted in any order of clips and classes, into one table by class and clip.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/buffer.hpp"
#include "core/parallel.hpp"
#include "counting/delta_rows.hpp"

namespace sedscope {

// Deltas of many clips: rows ordered by class, then clip. The rows of class c and clip i are
// [starts[c * (clips + 1) + i], starts[c * (clips + 1) + i + 1]).
template <class T, class Change = int8_t>
struct BatchDeltas {
    Buffer<int64_t> starts, cross_starts, error_starts;  // classes x (clips + 1)
    DeltaRows<T, Change> rows;
};

// The rows of a range of clips and a range of classes, and which of them belong to which clip and
// class.
template <class T, class Change = int8_t>
struct PartRows {
    std::size_t first_clip, last_clip, first_class, last_class;
    DeltaRows<T, Change> rows;

    PartRows(std::size_t first_clip, std::size_t last_clip, std::size_t first_class,
             std::size_t last_class)
        : first_clip(first_clip),
          last_clip(last_clip),
          first_class(first_class),
          last_class(last_class) {}

    // Rows that follow those of the segment before.
    struct Segment {
        std::size_t label, clip;
        std::size_t detections, cross_triggers, errors;
    };
    std::vector<Segment> segments;

    // Records that the rows since the last call belong to a clip and class.
    void record(std::size_t label, std::size_t clip) {
        const Segment now{label, clip, rows.detections.size(), rows.cross_triggers.size(),
                          rows.errors.size()};
        if (now.detections + now.cross_triggers + now.errors == recorded_) return;
        segments.push_back({label, clip, now.detections - before_.detections,
                            now.cross_triggers - before_.cross_triggers,
                            now.errors - before_.errors});
        recorded_ = now.detections + now.cross_triggers + now.errors;
        before_ = now;
    }

private:
    Segment before_{};
    std::size_t recorded_ = 0;  // rows
};

// Puts the parts together. Frees each of them as soon as it is copied.
template <class T, class Change>
BatchDeltas<T, Change> assemble(std::vector<PartRows<T, Change>>& parts, std::size_t classes,
                                std::size_t clips, std::size_t threads) {
    using Part = PartRows<T, Change>;
    using Segment = typename Part::Segment;
    const std::size_t stride = clips + 1;
    auto start_rows = [&](std::size_t Segment::* rows, Buffer<int64_t>& starts) {
        starts = Buffer<int64_t>(classes * stride);
        std::fill_n(starts.data(), starts.size(), 0);
        for (const Part& part : parts)
            for (const Segment& segment : part.segments)
                starts[segment.label * stride + segment.clip] =
                    static_cast<int64_t>(segment.*rows);
        int64_t total = 0;
        for (int64_t& start : starts) total += std::exchange(start, total);
        return static_cast<std::size_t>(total);
    };
    BatchDeltas<T, Change> batch;
    const std::size_t rows = start_rows(&Segment::detections, batch.starts);
    const std::size_t cross = start_rows(&Segment::cross_triggers, batch.cross_starts);
    const std::size_t errors = start_rows(&Segment::errors, batch.error_starts);
    batch.rows.detections = {Buffer<T>(rows), Buffer<Change>(rows), Buffer<Change>(rows)};
    batch.rows.cross_triggers = {Buffer<T>(cross), Buffer<int32_t>(cross), Buffer<int8_t>(cross)};
    batch.rows.errors = {Buffer<T>(errors), Buffer<int64_t>(errors), Buffer<int64_t>(errors)};
    parallel_for(parts.size(), threads, [&] {
        return [&](std::size_t i) {
            const Part part = std::move(parts[i]);
            std::size_t row = 0, cross_row = 0, error_row = 0;
            auto copy = [](const auto& from, std::size_t first, std::size_t count, auto& to,
                           int64_t start) {
                std::copy_n(from.data() + first, count, to.data() + start);
            };
            for (const Segment& segment : part.segments) {
                const std::size_t at = segment.label * stride + segment.clip;
                const auto& from = part.rows;
                auto& to = batch.rows;
                std::size_t count = segment.detections;
                int64_t start = batch.starts[at];
                copy(from.detections.scores, row, count, to.detections.scores, start);
                copy(from.detections.tp, row, count, to.detections.tp, start);
                copy(from.detections.fp, row, count, to.detections.fp, start);
                row += count;
                count = segment.cross_triggers;
                start = batch.cross_starts[at];
                copy(from.cross_triggers.scores, cross_row, count, to.cross_triggers.scores, start);
                copy(from.cross_triggers.labels, cross_row, count, to.cross_triggers.labels, start);
                copy(from.cross_triggers.ct, cross_row, count, to.cross_triggers.ct, start);
                cross_row += count;
                count = segment.errors;
                start = batch.error_starts[at];
                copy(from.errors.scores, error_row, count, to.errors.scores, start);
                copy(from.errors.onset, error_row, count, to.errors.onset, start);
                copy(from.errors.offset, error_row, count, to.errors.offset, start);
                error_row += count;
            }
        };
    });
    return batch;
}

}  // namespace sedscope
