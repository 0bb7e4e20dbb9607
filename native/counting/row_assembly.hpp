// Puts rows of deltas, emitted in any order of clips and classes, into one table by class and clip.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

#include "core/buffer.hpp"
#include "core/parallel.hpp"
#include "criteria/delta_rows.hpp"

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

// Copies `count` rows from `first` on to the rows from `start` on of another table.
template <class Rows>
void copy_rows(Rows& from, std::size_t first, std::size_t count, Rows& to, std::size_t start) {
    const auto copy = [&](const auto& source, auto& target) {
        std::copy_n(source.data() + first, count, target.data() + start);
    };
    std::apply(
        [&](auto&... sources) {
            std::apply([&](auto&... targets) { (copy(sources, targets), ...); }, to.columns());
        },
        from.columns());
}

// Puts the parts together. Frees each of them as soon as it is copied.
template <class T, class Change>
BatchDeltas<T, Change> assemble(std::vector<PartRows<T, Change>>& parts, std::size_t classes,
                                std::size_t clips, std::size_t threads) {
    using Batch = BatchDeltas<T, Change>;
    using Part = PartRows<T, Change>;
    using Segment = typename Part::Segment;
    using Rows = DeltaRows<T, Change>;
    Batch batch;
    // Calls `use` with each table, with the number of its rows in a segment, and with its starts.
    const auto for_each_table = [](auto&& use) {
        use(&Rows::detections, &Segment::detections, &Batch::starts);
        use(&Rows::cross_triggers, &Segment::cross_triggers, &Batch::cross_starts);
        use(&Rows::errors, &Segment::errors, &Batch::error_starts);
    };
    const auto place = [stride = clips + 1](const Segment& segment) {
        return segment.label * stride + segment.clip;
    };
    for_each_table([&](auto table, auto count, auto starts_of) {
        auto& starts = batch.*starts_of;
        starts.assign(classes * (clips + 1));
        std::fill(starts.begin(), starts.end(), 0);
        for (const Part& part : parts)
            for (const Segment& segment : part.segments)
                starts[place(segment)] = static_cast<int64_t>(segment.*count);
        int64_t rows = 0;
        for (int64_t& start : starts) rows += std::exchange(start, rows);
        std::apply([&](auto&... column) { (column.assign(static_cast<std::size_t>(rows)), ...); },
                   (batch.rows.*table).columns());
    });
    parallel_for(parts.size(), threads, [&] {
        return [&](std::size_t i) {
            Part part = std::move(parts[i]);
            for_each_table([&](auto table, auto count, auto starts_of) {
                std::size_t row = 0;
                for (const Segment& segment : part.segments) {
                    copy_rows(part.rows.*table, row, segment.*count, batch.rows.*table,
                              static_cast<std::size_t>((batch.*starts_of)[place(segment)]));
                    row += segment.*count;
                }
            });
        };
    });
    return batch;
}

}  // namespace sedscope
