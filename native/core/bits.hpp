// The bits of numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#ifdef _MSC_VER
#include <intrin.h>
#endif

namespace sedscope {

// The value of another type with the same bits: std::bit_cast of C++20.
template <class To, class From>
To bit_cast(const From& from) {
    static_assert(sizeof(To) == sizeof(From));
    static_assert(std::is_trivially_copyable_v<To> && std::is_trivially_copyable_v<From>);
    To to;
    std::memcpy(&to, &from, sizeof to);
    return to;
}

// The number of the lowest bit that is set. One is.
inline std::size_t lowest_bit(uint64_t word) {
#ifdef _MSC_VER
    unsigned long bit;
    _BitScanForward64(&bit, word);
    return bit;
#else
    return static_cast<std::size_t>(__builtin_ctzll(word));
#endif
}

// The number of the highest bit that is set. One is.
inline std::size_t highest_bit(uint64_t word) {
#ifdef _MSC_VER
    unsigned long bit;
    _BitScanReverse64(&bit, word);
    return bit;
#else
    return static_cast<std::size_t>(63 - __builtin_clzll(word));
#endif
}

}  // namespace sedscope
