// Runs a criterion's kernel on one clip whose frames arrive in pieces, for recordings that do not
// fit in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "clips/reference_table.hpp"
#include "clips/view.hpp"
#include "core/parallel.hpp"
#include "counting/row_assembly.hpp"
#include "criteria/contracts.hpp"

namespace sedscope {

// Keeps one kernel per class, which carries its state from piece to piece.
template <class T, class Kernel, class Change = int8_t>
class OpenClip {
public:
    static_assert(takes_frames<Kernel, T, Change>,
                  "a kernel needs begin(), feed() and finish() for these scores and changes");

    // `edges`: the boundaries of all frames. `make_kernel()` returns the kernel of a criterion.
    template <class MakeKernel>
    OpenClip(const std::vector<int64_t>& columns, const ReferenceTable& references,
             const Time* edges, std::size_t boundaries, const T* floors, std::size_t threads,
             MakeKernel&& make_kernel)
        : columns_(columns), threads_(threads) {
        references_.assign(references, 0, edges, boundaries);
        for (std::size_t c = 0; c < columns.size(); ++c) {
            kernels_.push_back(make_kernel());
            kernels_.back().begin(references_, static_cast<int32_t>(c), floors[c]);
            parts_.emplace_back(0, 1, c, c + 1);
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

    // The rows add up to the same changes as those of the whole clip, in another order.
    BatchDeltas<T, Change> finish() {
        for (std::size_t c = 0; c < columns_.size(); ++c) {
            kernels_[c].finish(rows(c));
            parts_[c].record(c, 0);
        }
        kernels_.clear();
        return assemble(parts_, columns_.size(), 1, threads_);
    }

private:
    DeltaRows<T, Change>& rows(std::size_t c) { return parts_[c].rows; }

    const std::vector<int64_t> columns_;
    const std::size_t threads_;
    ClipReferences references_;
    std::vector<Kernel> kernels_;  // per class, like the parts
    std::vector<PartRows<T, Change>> parts_;
};

}  // namespace sedscope
