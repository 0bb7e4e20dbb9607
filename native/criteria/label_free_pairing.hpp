// The number of pairs that would be possible if labels did not matter. Those beyond the pairs of
// equal labels are substitutions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "clips/component_tree.hpp"
#include "clips/reference_table.hpp"
#include "clips/view.hpp"
#include "core/out_of_line.hpp"
#include "core/parallel.hpp"
#include "criteria/delta_rows.hpp"
#include "criteria/pair_sweep.hpp"

namespace sedscope {

// The pairs of one clip at every threshold, the same threshold for all classes.
template <class T, class Rule>
class LabelFreeKernel {
public:
    explicit LabelFreeKernel(const Rule& rule) : rule_(rule) {}

    SEDSCOPE_OUT_OF_LINE void begin(std::size_t classes, const Time* edges,
                                    const ClipReferences& references) {
        edges_ = edges;
        events_ = 0;
        references_.clear();
        for (std::size_t k = 0; k < references.labels.size(); ++k) {
            references_.emplace_back(references.by_class[k]);
            events_ += references_.back().count();
        }
        trees_.resize(classes);
        for (auto& tree : trees_) tree.begin(lowest, 0);
        pairs_.clear();
    }
    // Whether there is any reference to pair with.
    bool has_references() const { return events_ > 0; }

    // The next frames of one class. Its detections can be paired with references of any class.
    SEDSCOPE_OUT_OF_LINE void feed(std::size_t c, const T* scores, std::size_t frames) {
        trees_[c].feed(
            scores, frames, [&](const Detection<T>& detection, int32_t*) { add(detection); },
            [](T, const int32_t*) {});
    }

    // Emits the changes of the number of pairs as true positives. Both zeros are the same score and
    // detections of equal scores come in any order, so a zero is always written as the positive
    // one.
    SEDSCOPE_OUT_OF_LINE void finish(DetectionRows<T>& rows) {
        for (auto& tree : trees_)
            tree.finish([&](const Detection<T>& detection, int32_t*) { add(detection); },
                        [](T, const int32_t*) {});
        pairs_.count_pairs(lowest, events_,
                           [&](T score, int32_t change) { rows.push(score + T{0}, change, 0); });
    }

private:
    static constexpr T lowest = -std::numeric_limits<T>::infinity();

    void add(const Detection<T>& detection) {
        std::size_t before = 0;
        for (References& references : references_) {
            rule_.candidates(references, edges_[detection.first], edges_[detection.end],
                             [&](std::size_t j) { pairs_.add_candidate(before + j); });
            before += references.count();
        }
        pairs_.add_detection(detection.score, detection.parent);
    }

    Rule rule_;
    const Time* edges_ = nullptr;
    std::vector<References> references_;
    std::size_t events_ = 0;
    std::vector<ComponentTree<T>> trees_;  // per class
    PairSweep<T> pairs_;
};

// Returns the changes of the number of pairs as true positives, ordered by clip. The rows of clip i
// are [starts[i], starts[i + 1]).
template <class T, class Rule>
DetectionRows<T> label_free_pairs(const std::vector<ClipView<T>>& clips,
                                  const std::vector<int64_t>& columns, const ReferenceTable& table,
                                  const Rule& rule, std::size_t threads, int64_t* starts) {
    std::vector<DetectionRows<T>> clip_rows(clips.size());
    parallel_for(clips.size(), threads, [&] {
        return [&, kernel = LabelFreeKernel<T, Rule>(rule), references = ClipReferences(),
                copy = std::vector<T>()](std::size_t i) mutable {
            const ClipView<T>& clip = clips[i];
            references.assign(table, i, clip.edges, clip.frames + 1);
            kernel.begin(columns.size(), clip.edges, references);
            if (!kernel.has_references()) return;
            for (std::size_t c = 0; c < columns.size(); ++c)
                feed_column(clip, columns[c], copy, [&](const T* scores, std::size_t frames) {
                    kernel.feed(c, scores, frames);
                });
            kernel.finish(clip_rows[i]);
        };
    });
    DetectionRows<T> rows;
    for (std::size_t i = 0; i < clips.size(); ++i) {
        starts[i] = static_cast<int64_t>(rows.size());
        for (std::size_t k = 0; k < clip_rows[i].size(); ++k)
            rows.push(clip_rows[i].scores[k], clip_rows[i].tp[k], 0);
    }
    starts[clips.size()] = static_cast<int64_t>(rows.size());
    return rows;
}

// The same for one clip whose frames arrive in pieces.
template <class T, class Rule>
class OpenLabelFreePairs {
public:
    OpenLabelFreePairs(const std::vector<int64_t>& columns, const ReferenceTable& table,
                       const Time* edges, std::size_t boundaries, const Rule& rule)
        : columns_(columns), kernel_(rule) {
        references_.assign(table, 0, edges, boundaries);
        kernel_.begin(columns.size(), edges, references_);
    }
    OpenLabelFreePairs(const OpenLabelFreePairs&) = delete;

    void feed(const ClipView<T>& piece) {
        if (!kernel_.has_references()) return;
        for (std::size_t c = 0; c < columns_.size(); ++c)
            feed_column(piece, columns_[c], copy_, [&](const T* scores, std::size_t frames) {
                kernel_.feed(c, scores, frames);
            });
    }

    DetectionRows<T> finish() {
        DetectionRows<T> rows;
        if (kernel_.has_references()) kernel_.finish(rows);
        return rows;
    }

private:
    const std::vector<int64_t> columns_;
    ClipReferences references_;
    LabelFreeKernel<T, Rule> kernel_;
    std::vector<T> copy_;
};

}  // namespace sedscope
