// A set of ranks (small whole numbers) that finds the neighbours of a rank fast.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/bits.hpp"

namespace sedscope {

// One bit per number. Each level above has one bit for each word of 64 bits below, set if the word
// is not 0, up to a level of one word. Finding a neighbour takes as many steps as there are levels.
class RankSet {
public:
    static constexpr std::size_t none = ~std::size_t{0};

    // Empties the set, for numbers below `size`.
    void reset(std::size_t size) {
        levels_.clear();
        words_.clear();
        do {
            size = (size + 63) / 64;
            levels_.push_back(words_.size());
            words_.resize(words_.size() + size, 0);
        } while (size > 1);
    }

    void insert(std::size_t number) {
        for (std::size_t level : levels_) {
            words_[level + number / 64] |= bit(number);
            number /= 64;
        }
    }

    void erase(std::size_t number) {
        for (std::size_t level : levels_) {
            if ((words_[level + number / 64] &= ~bit(number)) != 0) return;
            number /= 64;
        }
    }

    // The smallest member above a number, or none.
    std::size_t above(std::size_t number) const {
        for (std::size_t level = 0; level < levels_.size(); ++level) {
            const uint64_t higher =
                words_[levels_[level] + number / 64] & ~(bit(number) | (bit(number) - 1));
            number /= 64;
            if (higher == 0) continue;
            number = number * 64 + lowest_bit(higher);
            while (level-- > 0) number = number * 64 + lowest_bit(words_[levels_[level] + number]);
            return number;
        }
        return none;
    }

    // The largest member below a number, or none.
    std::size_t below(std::size_t number) const {
        for (std::size_t level = 0; level < levels_.size(); ++level) {
            const uint64_t lower = words_[levels_[level] + number / 64] & (bit(number) - 1);
            number /= 64;
            if (lower == 0) continue;
            number = number * 64 + highest_bit(lower);
            while (level-- > 0) number = number * 64 + highest_bit(words_[levels_[level] + number]);
            return number;
        }
        return none;
    }

private:
    static uint64_t bit(std::size_t number) { return uint64_t{1} << (number % 64); }

    std::vector<std::size_t> levels_;  // where each level begins, the lowest first
    std::vector<uint64_t> words_;
};

// The same for numbers below 4096, in two levels of a fixed size.
class SmallRankSet {
public:
    static constexpr std::size_t size = 4096;

    void clear() {
        for (; filled_ != 0; filled_ &= filled_ - 1) words_[lowest_bit(filled_)] = 0;
    }

    void insert(std::size_t number) {
        words_[number / 64] |= bit(number);
        filled_ |= bit(number / 64);
    }

    void erase(std::size_t number) {
        const uint64_t rest = words_[number / 64] & ~bit(number);
        words_[number / 64] = rest;
        filled_ &= ~(uint64_t{rest == 0} << (number / 64));
    }

    // The smallest member above a number that is below some member.
    std::size_t above(std::size_t number) const {
        std::size_t word = number / 64;
        uint64_t higher = words_[word] & ~(bit(number) | (bit(number) - 1));
        if (higher == 0) {
            word = lowest_bit(filled_ & ~(bit(word) | (bit(word) - 1)));
            higher = words_[word];
        }
        return word * 64 + lowest_bit(higher);
    }

    // The largest member below a number that is above some member.
    std::size_t below(std::size_t number) const {
        std::size_t word = number / 64;
        uint64_t lower = words_[word] & (bit(number) - 1);
        if (lower == 0) {
            word = highest_bit(filled_ & (bit(word) - 1));
            lower = words_[word];
        }
        return word * 64 + highest_bit(lower);
    }

private:
    static uint64_t bit(std::size_t number) { return uint64_t{1} << (number % 64); }

    uint64_t filled_ = 0;  // one bit per word: whether it is not 0
    std::array<uint64_t, size / 64> words_{};
};

}  // namespace sedscope
