// Sums of products with twice the digits of a double.
#pragma once

#include <cmath>

namespace sedscope {

// The unevaluated sum of two doubles, the second far smaller than the first.
struct DoubleDouble {
    double high = 0, low = 0;

    void add_product(double a, double b) {
        const double product = a * b;
        add(product, std::fma(a, b, -product));
    }
    void add(const DoubleDouble& other) { add(other.high, other.low); }

    double divided_by(double divisor) const {
        const double quotient = high / divisor;
        return quotient + (std::fma(-quotient, divisor, high) + low) / divisor;
    }

private:
    void add(double value, double rest) {
        const double total = high + value;
        const double part = total - high;
        const double error = (high - (total - part)) + (value - part) + (low + rest);
        high = total + error;
        low = error - (high - total);
    }
};

}  // namespace sedscope
