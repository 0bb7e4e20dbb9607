// A checksum of the scores of a clip, which graphics cards can compute as well: sums of products of
// whole numbers, in any order.
//
// The scores are a sequence of 32-bit words, cut into blocks. The sum of a block is that of its
// words times fixed random weights, modulo 2^64. Two blocks that differ have the same sum with a
// probability of 2^-32. The sums of all blocks are scrambled, each in its own way, and added up.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace sedscope {

constexpr std::size_t digest_block = 1024;  // words

// Scrambles the bits of a number, as the generator SplitMix64 does.
inline uint64_t scrambled(uint64_t number) {
    number = (number ^ (number >> 30)) * 0xBF58476D1CE4E5B9u;
    number = (number ^ (number >> 27)) * 0x94D049BB133111EBu;
    return number ^ (number >> 31);
}

inline uint64_t numbered(std::size_t number) {
    return (static_cast<uint64_t>(number) + 1) * 0x9E3779B97F4A7C15u;
}

// The weight of each word of a block, of 32 bits.
inline const std::array<uint32_t, digest_block>& digest_weights() {
    static const std::array<uint32_t, digest_block> weights = [] {
        std::array<uint32_t, digest_block> made{};
        for (std::size_t i = 0; i < digest_block; ++i)
            made[i] = static_cast<uint32_t>(scrambled(numbered(i)) >> 32);
        return made;
    }();
    return weights;
}

// The digest of `size` contiguous scores in `frames` frames.
template <class T>
uint64_t clip_digest(const T* scores, std::size_t size, std::size_t frames) {
    constexpr std::size_t width = digest_block * sizeof(uint32_t) / sizeof(T);  // scores in a block
    const auto& weights = digest_weights();
    std::array<uint32_t, digest_block> words;
    uint64_t digest = frames;
    for (std::size_t first = 0, block = 0; first < size; first += width, ++block) {
        const std::size_t bytes = std::min(width, size - first) * sizeof(T);
        std::memcpy(words.data(), scores + first, bytes);
        uint64_t sum = 0;
        for (std::size_t i = 0; i < bytes / sizeof(uint32_t); ++i)
            sum += static_cast<uint64_t>(weights[i]) * words[i];
        digest += scrambled(sum + numbered(block));
    }
    return scrambled(digest);
}

}  // namespace sedscope
