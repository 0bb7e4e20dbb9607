// Reads rows of numbers from text: one row per line, cells separated by tabs, no quotes.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <version>

#include "core/bits.hpp"
#include "core/buffer.hpp"

namespace sedscope {

namespace text {

constexpr double powers_of_ten[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                    1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                    1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

// Reads any number, correctly rounded. Returns null if it is not a number or the library cannot
// read it.
inline const char* parse_any(const char* at, const char* end, double& value) {
#ifdef __cpp_lib_to_chars
    const auto [next, error] = std::from_chars(at, end, value);
    return error == std::errc() ? next : nullptr;
#else
    (void)at, (void)end, (void)value;
    return nullptr;
#endif
}

inline bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

// Whether the first byte of a number in memory is its lowest.
inline bool is_little_endian() {
    const std::uint16_t one = 1;
    unsigned char first;
    std::memcpy(&first, &one, 1);
    return first == 1;
}

// Eight times the same byte.
constexpr std::uint64_t repeated(std::uint64_t byte) {
    return byte * 0x0101010101010101;
}

// Eight characters at once; the first is the lowest byte. How many digits a number has is hard to
// guess for the branch predictor, so digits are read without branches.
class EightCharacters {
public:
    explicit EightCharacters(const char* at) { std::memcpy(&bytes_, at, sizeof bytes_); }

    // How many digits it begins with.
    unsigned digits() const {
        const std::uint64_t others =
            ((bytes_ + repeated(0x46)) | (bytes_ - zeros)) & repeated(0x80);
        return others == 0 ? 8 : static_cast<unsigned>(lowest_bit(others) / 8);
    }

    // The number that the first digits make. Neighbours are joined to numbers of two, four, then
    // eight digits.
    std::uint64_t number(unsigned digits) const {
        if (digits == 0) return 0;
        std::uint64_t joined = (bytes_ - zeros) << (64 - 8 * digits);
        joined = (joined * 10 + (joined >> 8)) & 0x00FF00FF00FF00FF;
        joined = (joined * 100 + (joined >> 16)) & 0x0000FFFF0000FFFF;
        return (joined * 10000 + (joined >> 32)) & 0x00000000FFFFFFFF;
    }

private:
    static constexpr std::uint64_t zeros = repeated('0');

    std::uint64_t bytes_;
};

constexpr std::uint64_t whole_powers_of_ten[] = {1,      10,      100,      1000,     10000,
                                                 100000, 1000000, 10000000, 100000000};

// Appends the digits at `p` to a number, and returns where they end.
inline const char* parse_digits(const char* p, const char* const end, std::uint64_t& digits) {
    if (is_little_endian() && end - p >= 16) {
        const EightCharacters first(p), second(p + 8);
        const unsigned of_first = first.digits();
        const unsigned of_second = of_first == 8 ? second.digits() : 0;
        digits = digits * whole_powers_of_ten[of_first] + first.number(of_first);
        digits = digits * whole_powers_of_ten[of_second] + second.number(of_second);
        p += of_first + of_second;
    }
    for (; p < end && is_digit(*p); ++p) digits = 10 * digits + (*p - '0');
    return p;
}

// Reads the number at `at`, correctly rounded, and returns where it ends. A number with few digits
// and a small exponent takes one division of numbers that a double holds exactly; all others go to
// the library.
inline const char* parse_number(const char* const at, const char* const end, double& value) {
    const char* p = at;
    const bool negative = p < end && *p == '-';
    p += negative;
    const char* const first = p;
    std::uint64_t digits = 0;
    for (; p < end && is_digit(*p); ++p) digits = 10 * digits + (*p - '0');  // mostly one
    std::ptrdiff_t count = p - first;
    std::ptrdiff_t exponent = 0;
    if (p < end && *p == '.') {
        const char* const point = ++p;
        p = parse_digits(p, end, digits);
        exponent = point - p;
        count += p - point;
    }
    const bool more = p < end && *p != '\t' && *p != '\n' && *p != '\r';
    if (more || count == 0 || count > 18 || digits > (std::uint64_t{1} << 53) || exponent < -22)
        return parse_any(at, end, value);
    value = static_cast<double>(digits) / powers_of_ten[-exponent];
    if (negative) value = -value;
    return p;
}

}  // namespace text

// Reads all rows into `table`. Returns false if the text has any other form; then the table is not
// valid.
inline bool parse_table(const char* at, std::size_t size, std::size_t columns,
                        Buffer<double>& table) {
    const char* const end = at + size;
    // a cell takes at least one digit and a separator
    table.reserve(std::min(static_cast<std::size_t>(std::count(at, end, '\n')) + 1,
                           size / (2 * columns) + 1) *
                  columns);
    while (at < end) {
        double* row = table.reserve(columns);
        for (std::size_t column = 0; column < columns; ++column) {
            at = text::parse_number(at, end, row[column]);
            if (!at) return false;
            if (column + 1 < columns) {
                if (at == end || *at != '\t') return false;
                ++at;
            }
        }
        if (at < end && *at == '\r') ++at;
        if (at < end && *at != '\n') return false;
        at += at < end;
        table.grow(columns);
    }
    return true;
}

}  // namespace sedscope
