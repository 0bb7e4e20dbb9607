// How many pairs there could be if labels did not matter: what is more than the pairs of equal
// labels are substitutions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "../clips/batch_job.hpp"
#include "../counting/delta_rows.hpp"
#include "pair_sweep.hpp"
#include "../core/parallel.hpp"

namespace sedscope {

// The pairs of one clip, at one threshold for all classes.
template <class T, class Pairing>
class AnyLabelKernel {
public:
    explicit AnyLabelKernel(const Pairing& pairing) : pairing_(pairing) {}

    void begin(std::size_t classes, const Time* edges, const ClipReferences& references) {
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
    // Whether there is anything to pair with.
    bool any() const { return events_ > 0; }

    // The next frames of one class, whose detections can be paired with any reference.
    void feed(std::size_t c, const T* scores, std::size_t frames) {
        trees_[c].feed(
            scores, frames, [&](const Detection<T>& detection, int32_t*) { add(detection); },
            [](T, const int32_t*) {});
    }

    // Changes of the number of pairs, as true positives. Of both zeros, which are one score, the
    // positive one: detections of equal scores come in any order.
    void finish(DetectionRows<T>& rows) {
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
        for (References& of_class : references_) {
            pairing_.candidates(of_class, edges_[detection.first], edges_[detection.end],
                                [&](std::size_t j) { pairs_.add_candidate(before + j); });
            before += of_class.count();
        }
        pairs_.add_detection(detection.score, detection.parent);
    }

    Pairing pairing_;
    const Time* edges_ = nullptr;
    std::vector<References> references_;
    std::size_t events_ = 0;
    std::vector<ComponentTree<T>> trees_;  // per class
    PairSweep<T> pairs_;
};

// Changes of the number of pairs, as true positives, ordered by clip; `starts` gets clips + 1
// values.
template <class T, class Pairing>
DetectionRows<T> any_label_pairs(const std::vector<ClipView<T>>& clips,
                                 const std::vector<int64_t>& columns, const ReferenceTable& table,
                                 const Pairing& pairing, std::size_t threads, int64_t* starts) {
    std::vector<DetectionRows<T>> found(clips.size());
    parallel_for(clips.size(), threads, [&] {
        return [&, kernel = AnyLabelKernel<T, Pairing>(pairing), references = ClipReferences(),
                copy = std::vector<T>()](std::size_t i) mutable {
            const ClipView<T>& clip = clips[i];
            references.assign(table, i, clip.edges, clip.frames + 1);
            kernel.begin(columns.size(), clip.edges, references);
            if (!kernel.any()) return;
            for (std::size_t c = 0; c < columns.size(); ++c)
                feed_column(clip, columns[c], copy, [&](const T* scores, std::size_t frames) {
                    kernel.feed(c, scores, frames);
                });
            kernel.finish(found[i]);
        };
    });
    DetectionRows<T> rows;
    for (std::size_t i = 0; i < clips.size(); ++i) {
        starts[i] = static_cast<int64_t>(rows.size());
        for (std::size_t k = 0; k < found[i].size(); ++k)
            rows.push(found[i].scores[k], found[i].tp[k], 0);
    }
    starts[clips.size()] = static_cast<int64_t>(rows.size());
    return rows;
}

// The pairs of one clip whose frames come in pieces.
template <class T, class Pairing>
class OpenAnyLabel {
public:
    OpenAnyLabel(const std::vector<int64_t>& columns, const ReferenceTable& table,
                 const Time* edges, std::size_t boundaries, const Pairing& pairing)
        : columns_(columns), kernel_(pairing) {
        references_.assign(table, 0, edges, boundaries);
        kernel_.begin(columns.size(), edges, references_);
    }
    OpenAnyLabel(const OpenAnyLabel&) = delete;

    void feed(const ClipView<T>& piece) {
        if (!kernel_.any()) return;
        for (std::size_t c = 0; c < columns_.size(); ++c)
            feed_column(piece, columns_[c], copy_, [&](const T* scores, std::size_t frames) {
                kernel_.feed(c, scores, frames);
            });
    }

    DetectionRows<T> finish() {
        DetectionRows<T> rows;
        if (kernel_.any()) kernel_.finish(rows);
        return rows;
    }

private:
    const std::vector<int64_t> columns_;
    ClipReferences references_;
    AnyLabelKernel<T, Pairing> kernel_;
    std::vector<T> copy_;
};

}  // namespace sedscope
