// Exact fractions of whole numbers.
#pragma once

#include <cstdint>

namespace sedscope {

// A product of two whole numbers.
struct Product {
    uint64_t high, low;

    Product(uint64_t a, uint64_t b) {
        const uint64_t a1 = a >> 32, a0 = a & half, b1 = b >> 32, b0 = b & half;
        const uint64_t middle = a1 * b0 + (a0 * b0 >> 32);
        const uint64_t other = a0 * b1 + (middle & half);
        high = a1 * b1 + (middle >> 32) + (other >> 32);
        low = a * b;
    }

    bool operator>=(const Product& other) const {
        return high != other.high ? high > other.high : low >= other.low;
    }

private:
    static constexpr uint64_t half = 0xffffffff;
};

// A fraction of at least 0. The denominator is not 0.
class Fraction {
public:
    Fraction(int64_t numerator, int64_t denominator)
        : numerator_(static_cast<uint64_t>(numerator)),
          denominator_(static_cast<uint64_t>(denominator)),
          value_(static_cast<double>(numerator) / static_cast<double>(denominator)) {}

    // This fraction of a number between 0 and 2^53, in steps, rounded to the nearest whole number,
    // halves up, and at most `largest`.
    int64_t of(int64_t number, int64_t step = 1) const {
        const double product = value_ * static_cast<double>(number) / static_cast<double>(step);
        if (!(product < largest)) return static_cast<int64_t>(largest);
        const double raised = product + 0.5;
        auto whole = static_cast<uint64_t>(raised);
        const double rest = raised - static_cast<double>(whole);
        const double error = (product + 1) * uncertainty;  // of rounding; it is smaller
        if (rest > error && 1 - rest > error) return static_cast<int64_t>(whole);
        const Product twice(numerator_, 2 * static_cast<uint64_t>(number));
        auto reaches_half_below = [&](uint64_t candidate) {  // exactly
            return twice >= half_below(candidate, step);
        };
        while (reaches_half_below(whole + 1)) ++whole;
        while (whole > 0 && !reaches_half_below(whole)) --whole;
        return static_cast<int64_t>(whole);
    }

    // Whether this fraction of a number lies exactly halfway between two numbers of steps, of which
    // `steps` is the larger one.
    bool is_half_below(int64_t steps, int64_t number, int64_t step) const {
        const Product twice(numerator_, 2 * static_cast<uint64_t>(number));
        const Product half = half_below(static_cast<uint64_t>(steps), step);
        return twice >= half && half >= twice;
    }

    // Whether `part` is at least `of(number)`, which is computed only if it is close.
    bool reached_by(int64_t part, int64_t number) const {
        const double product = value_ * static_cast<double>(number);
        const double distance = static_cast<double>(part) + 0.5 - product;
        const double error = (product + 1) * uncertainty;
        if (product < largest && (distance > error || distance < -error)) return distance > 0;
        return part >= of(number);
    }

    double value() const { return value_; }

    // Whether `part` is more than this fraction of `whole`. Both lie between 0 and 2^53.
    bool is_exceeded_by(int64_t part, int64_t whole) const {
        return !(Product(numerator_, static_cast<uint64_t>(whole)) >=
                 Product(denominator_, static_cast<uint64_t>(part)));
    }

private:
    // Twice what lies half a step below a number of steps, times the denominator.
    Product half_below(uint64_t steps, int64_t step) const {
        return {denominator_, (2 * steps - 1) * static_cast<uint64_t>(step)};
    }

    static constexpr double largest = 9e15;  // about 2^53
    static constexpr double uncertainty = 1.0 / (1ll << 50);

    uint64_t numerator_, denominator_;
    double value_;
};

}  // namespace sedscope
