// Sorts floating-point scores by the digits of their bits, in linear time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

#include "core/buffer.hpp"

namespace sedscope {

template <class T>
struct Bits;
template <>
struct Bits<float> {
    using type = uint32_t;
};
template <>
struct Bits<double> {
    using type = uint64_t;
};

// An unsigned number that decreases as the score increases. Both zeros have the same key.
template <class T>
typename Bits<T>::type descending_key(T score) {
    using Key = typename Bits<T>::type;
    constexpr Key sign = Key{1} << (8 * sizeof(Key) - 1);
    score += T{0};
    Key bits;
    std::memcpy(&bits, &score, sizeof bits);
    return bits & sign ? bits : ~(bits | sign);
}

// The score of a key.
template <class T>
T score_of_key(typename Bits<T>::type key) {
    using Key = typename Bits<T>::type;
    constexpr Key sign = Key{1} << (8 * sizeof(Key) - 1);
    const Key bits = key & sign ? key : ~key & ~sign;
    T score;
    std::memcpy(&score, &bits, sizeof score);
    return score;
}

// Sorts entries of a score and a payload, so that nothing has to be looked up in the order of the
// scores afterwards.
template <class T, class Payload>
class RadixSort {
public:
    using Key = typename Bits<T>::type;
    struct Entry {
        Key key;
        Payload payload;
    };

    // Returns the entries by decreasing score; equal scores keep their order. `payload(i)` returns
    // the payload of score i. The result is valid until the next call.
    template <class GetPayload>
    const Buffer<Entry>& order(const T* scores, std::size_t count, GetPayload&& payload) {
        entries_.assign(count);
        scratch_.assign(count);
        for (auto& histogram : histograms_) histogram.fill(0);
        for (std::size_t i = 0; i < count; ++i) {
            const Key key = descending_key(scores[i]);
            entries_[i] = {key, payload(i)};
            for (std::size_t d = 0; d < digits; ++d) ++histograms_[d][digit(key, d)];
        }
        for (std::size_t d = 0; d < digits; ++d) {
            auto& starts = histograms_[d];
            if (count == 0 || starts[digit(entries_[0].key, d)] == count) continue;  // all equal
            std::size_t total = 0;
            for (std::size_t& start : starts) total += std::exchange(start, total);
            for (const Entry& entry : entries_) scratch_[starts[digit(entry.key, d)]++] = entry;
            std::swap(entries_, scratch_);
        }
        return entries_;
    }

private:
    static constexpr std::size_t bits = 8;
    static constexpr std::size_t digits = (8 * sizeof(Key) + bits - 1) / bits;

    static std::size_t digit(Key key, std::size_t d) {
        return (key >> (d * bits)) & ((Key{1} << bits) - 1);
    }

    Buffer<Entry> entries_, scratch_;
    std::array<std::array<std::size_t, std::size_t{1} << bits>, digits> histograms_;
};

}  // namespace sedscope
