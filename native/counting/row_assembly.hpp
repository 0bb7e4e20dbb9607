// Rows that were found in any order, put in the order of classes and clips.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "../core/buffer.hpp"
#include "delta_rows.hpp"
#include "../core/parallel.hpp"

namespace sedscope {

// Deltas of many clips: rows ordered by class, then clip.
template <class T>
struct BatchDeltas {
    Buffer<int64_t> starts, cross_starts, error_starts;  // classes x (clips + 1)
    Rows<T> rows;
};

// Some clips and some classes, and the rows they give, per class.
template <class T>
struct FoundRows {
    std::size_t first_clip, last_clip, first_class, last_class;
    std::vector<Rows<T>> rows;
};

template <class T>
class Assembly {
public:
    Assembly(std::size_t classes, std::size_t clips)
        : classes_(classes),
          clips_(clips),
          counts_(classes * clips),
          cross_counts_(classes * clips),
          error_counts_(classes * clips) {}

    struct Sizes {
        std::size_t detections, cross_triggers, errors;

        explicit Sizes(const Rows<T>& rows)
            : detections(rows.detections.size()),
              cross_triggers(rows.cross_triggers.size()),
              errors(rows.errors.size()) {}
    };
    // Takes note of what was found in a clip and class: the rows from `before` to the last.
    void note(std::size_t c, std::size_t clip, const Sizes& before, const Rows<T>& rows) {
        const Sizes now(rows);
        counts_[c * clips_ + clip] = now.detections - before.detections;
        cross_counts_[c * clips_ + clip] = now.cross_triggers - before.cross_triggers;
        error_counts_[c * clips_ + clip] = now.errors - before.errors;
    }

    // Each part is let go as soon as it has been copied.
    BatchDeltas<T> put_together(std::vector<FoundRows<T>>& parts, std::size_t threads) const {
        BatchDeltas<T> batch;
        const std::size_t rows = add_up(counts_, batch.starts);
        const std::size_t cross = add_up(cross_counts_, batch.cross_starts);
        const std::size_t errors = add_up(error_counts_, batch.error_starts);
        batch.rows.detections = {Buffer<T>(rows), Buffer<int8_t>(rows), Buffer<int8_t>(rows)};
        batch.rows.cross_triggers = {Buffer<T>(cross), Buffer<int32_t>(cross),
                                     Buffer<int8_t>(cross)};
        batch.rows.errors = {Buffer<T>(errors), Buffer<int64_t>(errors), Buffer<int64_t>(errors)};
        const std::size_t stride = clips_ + 1;
        parallel_for(parts.size(), threads, [&] {
            return [&](std::size_t i) {
                FoundRows<T>& part = parts[i];
                for (std::size_t c = part.first_class; c < part.last_class; ++c) {
                    Rows<T> from = std::move(part.rows[c - part.first_class]);
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
    // Turns row counts into where the rows start; returns the total.
    std::size_t add_up(const std::vector<std::size_t>& counts, Buffer<int64_t>& starts) const {
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
