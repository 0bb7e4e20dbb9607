// The scores of one class in order, and the rank of each frame among them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include "core/buffer.hpp"
#include "core/radix_sort.hpp"

namespace sedscope {

using FrameRank = uint16_t;
// A SmallRankSet holds as many ranks, and the one after the last.
constexpr std::size_t most_ranked_frames = 4095;

// Every frame has a rank of its own; rank 0 has the highest score. The rank after the last is that
// of -inf, the score outside the clip.
template <class T>
struct FrameRanks {
    const FrameRank* ranks;  // per frame
    const T* scores;         // per rank
};

// Finds the ranks of the scores of one class, which have no NaN.
template <class T>
class FrameRanking {
public:
    // Writes as many ranks as there are frames, and one more score.
    FrameRanks<T> find(const T* column, std::size_t frames, FrameRank* ranks, T* scores) {
        const auto& sorted =
            sort_.order(column, frames, [](std::size_t i) { return static_cast<uint32_t>(i); });
        for (std::size_t rank = 0; rank < frames; ++rank) {
            ranks[sorted[rank].payload] = static_cast<FrameRank>(rank);
            scores[rank] = score_of_key<T>(sorted[rank].key);
        }
        scores[frames] = -std::numeric_limits<T>::infinity();
        return {ranks, scores};
    }

    // The same, in memory of its own that the next call uses again.
    FrameRanks<T> find(const T* column, std::size_t frames) {
        ranks_.assign(frames);
        scores_.assign(frames + 1);
        return find(column, frames, ranks_.data(), scores_.data());
    }

private:
    RadixSort<T, uint32_t> sort_;
    Buffer<FrameRank> ranks_;
    Buffer<T> scores_;
};

}  // namespace sedscope
