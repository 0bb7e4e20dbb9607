// Sums of products that are exact whatever their magnitudes.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace sedscope {

// A whole number of 2^-1074, the smallest double: wide enough for any sum of doubles with weights,
// and for some factors. It is slow: use it where rounding errors leave a doubt.
class ExactSum {
public:
    // `value` is finite; `weight` is not negative.
    void add(double value, int64_t weight) {
        int exponent;
        const double fraction = std::frexp(value, &exponent);  // 53 bits from 2^(exponent - 53) on
        auto digits = static_cast<int64_t>(std::ldexp(fraction, 53));
        int bit = exponent - 53 + 1074;
        if (bit < 0) {  // the missing digits are 0
            digits /= int64_t{1} << -bit;
            bit = 0;
        }
        const int64_t sign = digits < 0 ? -1 : 1;
        const auto size = static_cast<uint64_t>(sign * digits);
        const auto times = static_cast<uint64_t>(weight);
        add_product(size & mask, times & mask, bit, sign);
        add_product(size & mask, times >> 32, bit + 32, sign);
        add_product(size >> 32, times & mask, bit + 32, sign);
        add_product(size >> 32, times >> 32, bit + 64, sign);
        if (++additions_ == std::size_t{1} << 24) carry();
    }

    void subtract(ExactSum other) {
        other.carry();
        carry();
        for (std::size_t i = 0; i < words; ++i) word_[i] -= other.word_[i];
        carry();
    }

    void multiply(int64_t factor) {
        const int sign = make_positive();
        ExactSum product;
        const auto times = static_cast<uint64_t>(factor);
        for (std::size_t i = 0; i < words; ++i) {
            const auto word = static_cast<uint64_t>(word_[i]);
            if (word == 0) continue;
            product.add_product(word, times & mask, static_cast<int>(32 * i), sign);
            product.add_product(word, times >> 32, static_cast<int>(32 * i + 32), sign);
        }
        product.carry();
        *this = product;
    }

    // -1, 0 or 1.
    int sign() {
        carry();
        if (word_[words - 1] < 0) return -1;
        return std::all_of(word_, word_ + words, [](int64_t word) { return word == 0; }) ? 0 : 1;
    }

    // The nearest double to the quotient; of two, the even one. The divisor is between 0 and 2^62.
    double divided_by(int64_t divisor) {
        const int sign = make_positive();
        const auto whole = static_cast<uint64_t>(divisor);
        uint64_t quotient = 0, remainder = 0;
        std::size_t last = words;
        while (last > 0 && word_[last - 1] == 0) --last;
        int bit = static_cast<int>(32 * last);  // those from here on are divided
        while (bit > 0 && quotient < uint64_t{1} << 52) {
            --bit;
            remainder = 2 * remainder + (static_cast<uint64_t>(word_[bit / 32]) >> bit % 32 & 1);
            quotient = 2 * quotient + (remainder >= whole);
            if (remainder >= whole) remainder -= whole;
        }
        // compare what is left with a half
        bool half, more;
        if (bit > 0) {
            remainder = 2 * remainder +
                        (static_cast<uint64_t>(word_[(bit - 1) / 32]) >> (bit - 1) % 32 & 1);
            half = remainder >= whole;
            more = remainder != (half ? whole : 0) || any_below(bit - 1);
        } else {
            half = 2 * remainder >= whole;
            more = 2 * remainder != (half ? whole : 0);
        }
        if (half && (more || quotient % 2 == 1)) ++quotient;
        return sign * std::ldexp(static_cast<double>(quotient), bit - 1074);
    }

private:
    // Adds a product of two words, from a bit on.
    void add_product(uint64_t a, uint64_t b, int bit, int64_t sign) {
        const uint64_t product = a * b;
        const uint64_t low = (product & mask) << bit % 32, high = (product >> 32) << bit % 32;
        int64_t* const word = word_ + bit / 32;
        word[0] += sign * static_cast<int64_t>(low & mask);
        word[1] += sign * static_cast<int64_t>((low >> 32) + (high & mask));
        word[2] += sign * static_cast<int64_t>(high >> 32);
    }

    // Leaves 32 bits in each word; the last one has the sign.
    void carry() {
        int64_t rest = 0;
        for (std::size_t i = 0; i < words; ++i) {
            const int64_t sum = word_[i] + rest;
            rest = sum >= 0 ? sum >> 32 : -((-sum + static_cast<int64_t>(mask)) >> 32);  // down
            word_[i] = sum - rest * (int64_t{1} << 32);
        }
        word_[words - 1] += rest * (int64_t{1} << 32);
        additions_ = 0;
    }

    // Drops the sign and returns it.
    int make_positive() {
        carry();
        if (word_[words - 1] >= 0) return 1;
        for (int64_t& word : word_) word = -word;
        carry();
        return -1;
    }

    bool any_below(int bit) const {
        for (int i = 0; i < bit / 32; ++i)
            if (word_[i] != 0) return true;
        return (static_cast<uint64_t>(word_[bit / 32]) & ((uint64_t{1} << bit % 32) - 1)) != 0;
    }

    static constexpr uint64_t mask = 0xffffffff;
    static constexpr std::size_t words = 80;

    int64_t word_[words + 3] = {};  // some room for products
    std::size_t additions_ = 0;     // since the last carry
};

}  // namespace sedscope
