// Sums of products with twice the digits of a double, and quotients that are certain.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "core/bits.hpp"

namespace sedscope {

constexpr double uncertain = std::numeric_limits<double>::quiet_NaN();

// The nearest double to every number between (high + low - error) / divisor and
// (high + low + error) / divisor, or `uncertain` if they have several. The divisor is a whole
// number.
inline double certain_quotient(double high, double low, double error, double divisor) {
    const double size = std::abs(high);
    if (high == 0 && low == 0 && error == 0) return 0;
    constexpr double largest = 0x1p900, tiny = 0x1p-50;
    if (!(size > 1 / largest && size < largest && divisor < 0x1p53)) return uncertain;
    if (!(std::abs(low) <= size * tiny)) return uncertain;
    const double first = high / divisor;
    const double quotient = first + (std::fma(-first, divisor, high) + low) / divisor;
    const double product = quotient * divisor;
    // high - product is exact, because they are nearly equal
    const double rest = (high - product) + (low - std::fma(quotient, divisor, -product));
    const double magnitude = std::abs(quotient);
    // the next double towards 0, which is the nearest
    const double below = bit_cast<double>(bit_cast<uint64_t>(magnitude) - 1);
    const double half_gap = (magnitude - below) / 2;
    const double doubt = std::abs(rest) + error + size * (tiny * tiny);  // the last for `rest`
    return doubt * (1 + tiny) < divisor * half_gap ? quotient : uncertain;
}

// Adds, and returns what rounding lost.
inline double add_exactly(double& sum, double value) {
    const double total = sum + value;
    const double part = total - sum;
    const double lost = (sum - (total - part)) + (value - part);
    sum = total;
    return lost;
}

// The unevaluated sum of two doubles, the second far smaller than the first.
struct DoubleDouble {
    double high = 0, low = 0;
    double magnitude = 0;  // the sum of the absolute values of what was added

    void add_product(double a, double b) {
        const double product = a * b;
        add(product, std::fma(a, b, -product));
        magnitude += std::abs(product);
    }
    void add(const DoubleDouble& other) {
        add(other.high, other.low);
        magnitude += other.magnitude;
    }

    // The nearest double to the quotient, or `uncertain`. `additions`: how many there were at most.
    double divided_by(double divisor, std::size_t additions) const {
        // an addition loses at most 2^-102 of the magnitude
        const double error = magnitude * static_cast<double>(additions + 1) * 0x1p-100;
        return certain_quotient(high, low, error, divisor);
    }

private:
    void add(double value, double rest) {
        const double error = add_exactly(high, value) + (low + rest);
        const double total = high;
        high = total + error;
        low = error - (high - total);
    }
};

}  // namespace sedscope
