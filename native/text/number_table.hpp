// Reads rows of numbers from text: one row per line, cells separated by tabs, no quotes.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <version>

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

// Reads the number at `at`, correctly rounded, and returns where it ends. A number with few digits
// and a small exponent takes one division of numbers that a double holds exactly; all others go to
// the library.
inline const char* parse_number(const char* const at, const char* const end, double& value) {
    const char* p = at;
    const bool negative = p < end && *p == '-';
    p += negative;
    const char* const first = p;
    std::uint64_t digits = 0;
    for (; p < end && *p >= '0' && *p <= '9'; ++p) digits = 10 * digits + (*p - '0');
    std::ptrdiff_t count = p - first;
    std::ptrdiff_t exponent = 0;
    if (p < end && *p == '.') {
        const char* const point = ++p;
        for (; p < end && *p >= '0' && *p <= '9'; ++p) digits = 10 * digits + (*p - '0');
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
