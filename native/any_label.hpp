// How many pairs there could be if labels did not matter: what is more than the pairs of equal
// labels are substitutions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "clips.hpp"
#include "deltas.hpp"
#include "pair_sweep.hpp"
#include "parallel.hpp"

namespace sedscope {

// The pairs of one clip, at one threshold for all classes.
template <class T, class Pairing>
class AnyLabelKernel {
public:
    explicit AnyLabelKernel(const Pairing& pairing) : pairing_(pairing) {}

    void clear() { pairs_.clear(); }

    // The detections of one class, to be paired with any reference.
    void add_class(const T* scores, std::size_t frames, const Time* edges,
                   ClipReferences& references) {
        tree_.sweep(
            scores, frames, -std::numeric_limits<T>::infinity(), 0,
            [&](const Detection<T>& detection, int32_t*) {
                std::size_t before = 0;
                for (std::size_t k = 0; k < references.labels.size(); ++k) {
                    References& of_class = references.by_class[k];
                    pairing_.candidates(of_class, edges[detection.first], edges[detection.end],
                                        [&](std::size_t j) { pairs_.add_candidate(before + j); });
                    before += of_class.count();
                }
                pairs_.add_detection(detection.score, detection.parent);
            },
            [](T, const int32_t*) {});
    }

    template <class Emit>
    void count_pairs(std::size_t references, Emit&& emit) {
        pairs_.count_pairs(-std::numeric_limits<T>::infinity(), references, emit);
    }

private:
    Pairing pairing_;
    ComponentTree<T> tree_;
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
            std::size_t count = 0;
            for (std::size_t k = 0; k < references.labels.size(); ++k)
                count += references.by_class[k].count();
            if (count == 0) return;
            kernel.clear();
            for (const int64_t column : columns)
                kernel.add_class(load_column(clip, column, copy), clip.frames, clip.edges,
                                 references);
            kernel.count_pairs(count,
                               [&](T score, int32_t change) { found[i].push(score, change, 0); });
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

}  // namespace sedscope
