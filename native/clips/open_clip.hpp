// One clip whose frames come in pieces, for recordings that are too long for memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "batch_job.hpp"

namespace sedscope {

// A kernel for each class, which keeps what is open at the end of a piece.
template <class T, class Kernel>
class OpenClip {
public:
    // `edges`: the boundaries of all frames to come. `make_kernel()` gives the kernel of a
    // criterion.
    template <class MakeKernel>
    OpenClip(const std::vector<int64_t>& columns, const ReferenceTable& references,
             const Time* edges, std::size_t boundaries, const T* floors, std::size_t threads,
             MakeKernel&& make_kernel)
        : columns_(columns), threads_(threads) {
        references_.assign(references, 0, edges, boundaries);
        std::vector<OtherClass> others;
        for (std::size_t c = 0; c < columns.size(); ++c) {
            const References own = references_.split(c, others);
            kernels_.push_back(make_kernel());
            kernels_.back().begin(edges, floors[c], own, others);
            parts_.push_back({0, 1, c, c + 1, {}});
            parts_.back().rows.resize(1);
        }
    }
    OpenClip(const OpenClip&) = delete;

    void feed(const ClipView<T>& piece) {
        constexpr std::size_t worth_threads = 1 << 15;  // scores
        const bool small = piece.frames * columns_.size() < worth_threads;
        parallel_for(columns_.size(), small ? 1 : threads_, [&] {
            return [&, copy = std::vector<T>()](std::size_t c) mutable {
                feed_column(piece, columns_[c], copy, [&](const T* scores, std::size_t frames) {
                    kernels_[c].feed(scores, frames, rows(c));
                });
            };
        });
    }

    // The rows are those of the clip in one piece.
    BatchDeltas<T> finish() {
        Assembly<T> assembly(columns_.size(), 1);
        const typename Assembly<T>::Sizes nothing{Rows<T>()};
        for (std::size_t c = 0; c < columns_.size(); ++c) {
            kernels_[c].finish(rows(c));
            assembly.note(c, 0, nothing, rows(c));
        }
        kernels_.clear();
        return assembly.put_together(parts_, threads_);
    }

private:
    Rows<T>& rows(std::size_t c) { return parts_[c].rows.front(); }

    const std::vector<int64_t> columns_;
    const std::size_t threads_;
    ClipReferences references_;
    std::vector<Kernel> kernels_;  // per class, like the parts
    std::vector<FoundRows<T>> parts_;
};

}  // namespace sedscope
