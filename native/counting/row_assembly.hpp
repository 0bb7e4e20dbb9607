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
template <class T>
struct BatchDeltas {
    Buffer<int64_t> starts, cross_starts, error_starts;  // classes x (clips + 1)
    DeltaRows<T> rows;
};

// The rows of a range of clips and a range of classes, per class.
template <class T>
struct PartRows {
    std::size_t first_clip, last_clip, first_class, last_class;
    std::vector<DeltaRows<T>> rows;
};

template <class T>
class RowAssembly {
public:
    RowAssembly(std::size_t classes, std::size_t clips)
        : classes_(classes),
          clips_(clips),
          counts_(classes * clips),
          cross_counts_(classes * clips),
          error_counts_(classes * clips) {}

    struct Sizes {
        std::size_t detections, cross_triggers, errors;

        explicit Sizes(const DeltaRows<T>& rows)
            : detections(rows.detections.size()),
              cross_triggers(rows.cross_triggers.size()),
              errors(rows.errors.size()) {}
    };
    // Records that the rows from `before` to the last belong to a clip and class.
    void record(std::size_t c, std::size_t clip, const Sizes& before, const DeltaRows<T>& rows) {
        const Sizes now(rows);
        counts_[c * clips_ + clip] = now.detections - before.detections;
        cross_counts_[c * clips_ + clip] = now.cross_triggers - before.cross_triggers;
        error_counts_[c * clips_ + clip] = now.errors - before.errors;
    }

    // Frees each part as soon as it is copied.
    BatchDeltas<T> assemble(std::vector<PartRows<T>>& parts, std::size_t threads) const {
        BatchDeltas<T> batch;
        const std::size_t rows = start_rows(counts_, batch.starts);
        const std::size_t cross = start_rows(cross_counts_, batch.cross_starts);
        const std::size_t errors = start_rows(error_counts_, batch.error_starts);
        batch.rows.detections = {Buffer<T>(rows), Buffer<int8_t>(rows), Buffer<int8_t>(rows)};
        batch.rows.cross_triggers = {Buffer<T>(cross), Buffer<int32_t>(cross),
                                     Buffer<int8_t>(cross)};
        batch.rows.errors = {Buffer<T>(errors), Buffer<int64_t>(errors), Buffer<int64_t>(errors)};
        const std::size_t stride = clips_ + 1;
        parallel_for(parts.size(), threads, [&] {
            return [&](std::size_t i) {
                PartRows<T>& part = parts[i];
                for (std::size_t c = part.first_class; c < part.last_class; ++c) {
                    DeltaRows<T> from = std::move(part.rows[c - part.first_class]);
                    const std::size_t at = c * stride + part.first_clip;
                    auto& [scores, tp, fp] = batch.rows.detections;
                    copy(from.detections.scores, scores, batch.starts[at]);
                    copy(from.detections.tp, tp, batch.starts[at]);
                    copy(from.detections.fp, fp, batch.starts[at]);
                    auto& [cross_scores, labels, ct] = batch.rows.cross_triggers;
                    copy(from.cross_triggers.scores, cross_scores, batch.cross_starts[at]);
                    copy(from.cross_triggers.labels, labels, batch.cross_starts[at]);
                    copy(from.cross_triggers.ct, ct, batch.cross_starts[at]);
                    auto& [error_scores, onset, offset] = batch.rows.errors;
                    copy(from.errors.scores, error_scores, batch.error_starts[at]);
                    copy(from.errors.onset, onset, batch.error_starts[at]);
                    copy(from.errors.offset, offset, batch.error_starts[at]);
                }
            };
        });
        return batch;
    }

private:
    // Turns numbers of rows into starts; returns the total.
    std::size_t start_rows(const std::vector<std::size_t>& counts, Buffer<int64_t>& starts) const {
        starts = Buffer<int64_t>(classes_ * (clips_ + 1));
        int64_t total = 0;
        for (std::size_t c = 0; c < classes_; ++c) {
            for (std::size_t i = 0; i < clips_; ++i) {
                starts[c * (clips_ + 1) + i] = total;
                total += static_cast<int64_t>(counts[c * clips_ + i]);
            }
            starts[c * (clips_ + 1) + clips_] = total;
        }
        return static_cast<std::size_t>(total);
    }

    template <class U>
    static void copy(const Buffer<U>& from, Buffer<U>& to, int64_t start) {
        std::copy_n(from.data(), from.size(), to.data() + start);
    }

    const std::size_t classes_, clips_;
    std::vector<std::size_t> counts_, cross_counts_, error_counts_;  // per class and clip
};

}  // namespace sedscope
