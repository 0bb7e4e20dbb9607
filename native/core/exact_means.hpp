// Means of several columns with common weights, each rounded only once.
//
// So equal values have an equal mean, whatever the weights are.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <vector>

#include "core/bits.hpp"
#include "core/double_double.hpp"
#include "core/exact_sum.hpp"

namespace sedscope {

// A sum is kept in three doubles: what rounding loses in one of them goes to the next. That is
// nearly always exact. What the third one loses goes to an exact sum, as do huge values.
class ExactMeans {
public:
    void begin(std::size_t columns) {
        high_.assign(columns, 0);
        middle_.assign(columns, 0);
        low_.assign(columns, 0);
        infinite_.assign(columns, 0);
        rest_.clear();
        weight_ = 0;
    }

    // `value(c)`: that of a column. `weight`: more than 0.
    template <class Value>
    void add(Value&& value, int64_t weight) {
        weight_ += weight;
        constexpr bool narrow = std::is_same_v<decltype(value(0)), float>;
        double values[block];
        for (std::size_t first = 0; first < high_.size(); first += block) {
            const std::size_t count = std::min(block, high_.size() - first);
            for (std::size_t i = 0; i < count; ++i) values[i] = value(first + i);
            uint64_t exponents = 0;
            for (std::size_t i = 0; i < count; ++i) exponents |= bits_of(values[i]);
            if (exponents << 1 >= bits_of(largest) << 1) set_apart(values, first, count, weight);
            constexpr int digits = 26;  // a factor with so few keeps products exact
            for (int shift = 0; weight >> shift > 0; shift += digits) {
                const int64_t part = (weight >> shift) % (int64_t{1} << digits);
                if (part > 0)
                    add_block<narrow>(values, first, count, static_cast<double>(part << shift));
            }
        }
    }

    int64_t weight() const { return weight_; }

    // The mean of a column. The sum of the weights is not 0.
    double mean(std::size_t c) const {
        if (infinite_[c] != 0) return infinite_[c];  // also NaN: inf - inf
        double high = high_[c], middle = middle_[c], low = low_[c];
        if (rest_.empty() || !rest_[c]) {
            low = add_exactly(middle, low);
            middle = add_exactly(high, middle);
            const double mean =
                certain_quotient(high, middle, std::abs(low), static_cast<double>(weight_));
            if (mean == mean) return mean;
        }
        ExactSum sum = rest_.empty() || !rest_[c] ? ExactSum() : *rest_[c];
        for (const double part : {high, middle, low}) sum.add(part, 1);
        return sum.divided_by(weight_);
    }

private:
    // `narrow`: values have at most 26 digits.
    template <bool narrow>
    void add_block(const double* values, std::size_t first, std::size_t count, double weight) {
        double *const high = high_.data() + first, *const middle = middle_.data() + first,
                      *const low = low_.data() + first;
        double lost[block], also_lost[block];
        for (std::size_t i = 0; i < count; ++i) {
            if constexpr (narrow) {
                const double from_high = add_exactly(high[i], values[i] * weight);
                lost[i] = add_exactly(low[i], add_exactly(middle[i], from_high));
                also_lost[i] = 0;
                continue;
            }
            // the first 26 digits, and the others: a product with 26 digits is exact
            const auto upper = bit_cast<double>(bits_of(values[i]) & ~uint64_t{0x7ffffff});
            const double from_high = add_exactly(high[i], upper * weight);
            const double from_middle = add_exactly(middle[i], from_high);
            const double from_other = add_exactly(middle[i], (values[i] - upper) * weight);
            lost[i] = add_exactly(low[i], from_middle);
            also_lost[i] = add_exactly(low[i], from_other);
        }
        uint64_t any = 0;
        for (std::size_t i = 0; i < count; ++i) any |= bits_of(lost[i]) | bits_of(also_lost[i]);
        if (any << 1 == 0) return;  // without the signs
        for (std::size_t i = 0; i < count; ++i) {
            if (lost[i] != 0) rest(first + i).add(lost[i], 1);
            if (also_lost[i] != 0) rest(first + i).add(also_lost[i], 1);
        }
    }

    // Adds values that are infinite or huge elsewhere, and leaves 0.
    void set_apart(double* values, std::size_t first, std::size_t count, int64_t weight) {
        for (std::size_t i = 0; i < count; ++i) {
            if (std::abs(values[i]) < largest) continue;
            if (std::isfinite(values[i]))
                rest(first + i).add(values[i], weight);
            else
                infinite_[first + i] += values[i];
            values[i] = 0;
        }
    }

    static uint64_t bits_of(double value) { return bit_cast<uint64_t>(value); }

    ExactSum& rest(std::size_t c) {
        if (rest_.empty()) rest_.resize(high_.size());
        if (!rest_[c]) rest_[c] = std::make_unique<ExactSum>();
        return *rest_[c];
    }

    static constexpr std::size_t block = 32;
    static constexpr double largest = 0x1p900;

    std::vector<double> high_, middle_, low_, infinite_;
    std::vector<std::unique_ptr<ExactSum>> rest_;  // empty, or one per column where there is any
    int64_t weight_ = 0;
};

}  // namespace sedscope
