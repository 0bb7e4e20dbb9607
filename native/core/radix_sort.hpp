// Sorts floating-point scores by the digits of their bits, in linear time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "core/bits.hpp"
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
    const Key bits = bit_cast<Key>(score + T{0});
    return bits & sign ? bits : ~(bits | sign);
}

// The score of a key.
template <class T>
T score_of_key(typename Bits<T>::type key) {
    using Key = typename Bits<T>::type;
    constexpr Key sign = Key{1} << (8 * sizeof(Key) - 1);
    return bit_cast<T>(key & sign ? key : ~key & ~sign);
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
        Key lowest = std::numeric_limits<Key>::max(), highest = 0;
        for (std::size_t i = 0; i < count; ++i) {
            const Key key = descending_key(scores[i]);
            entries_[i] = {key, payload(i)};
            lowest = std::min(lowest, key);
            highest = std::max(highest, key);
        }
        if (count > 0) sort(lowest, highest - lowest);
        return entries_;
    }

private:
    // The most bits in a digit: the counts of its values should be few beside the entries, and fit
    // in the fastest cache.
    unsigned widest_digit() const { return entries_.size() < 4096 ? 8 : 10; }

    // Sorts by the digits in which keys differ, if `lowest` is taken off: as few as possible.
    void sort(Key lowest, Key range) {
        unsigned bits = 0;
        while (bits < 8 * sizeof(Key) && (range >> bits) > 0) ++bits;
        const unsigned digits = (bits + widest_digit() - 1) / widest_digit();
        const unsigned width = digits > 0 ? (bits + digits - 1) / digits : 0;
        const std::size_t values = std::size_t{1} << width;
        auto digit = [&](Key key, unsigned d) {
            return static_cast<std::size_t>((key - lowest) >> (d * width)) & (values - 1);
        };
        counts_.assign(digits * values, 0);
        for (const Entry& entry : entries_)
            for (unsigned d = 0; d < digits; ++d) ++counts_[d * values + digit(entry.key, d)];
        scratch_.assign(entries_.size());
        for (unsigned d = 0; d < digits; ++d) {
            std::size_t* const starts = counts_.data() + d * values;
            std::size_t total = 0;
            for (std::size_t v = 0; v < values; ++v) total += std::exchange(starts[v], total);
            for (const Entry& entry : entries_) scratch_[starts[digit(entry.key, d)]++] = entry;
            std::swap(entries_, scratch_);
        }
    }

    Buffer<Entry> entries_, scratch_;
    std::vector<std::size_t> counts_;
};

}  // namespace sedscope
