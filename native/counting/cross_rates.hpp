// The rate of cross-triggers of a class, summed over the other classes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace sedscope {

// Changes of cross-triggers by increasing row; `others[k]` is an index of the class that is hit.
struct CrossChanges {
    const int64_t* rows;
    const int64_t* others;
    const int64_t* changes;
    std::size_t count;
};

// Writes for each row the sum over the other classes, in their order, of cross-triggers per time of
// that class. At each row, only the sums from the first class that changes on are computed again.
inline void add_cross_rates(const CrossChanges& cross, const std::vector<double>& times,
                            std::size_t rows, double* sums) {
    const std::size_t others = times.size();
    std::vector<int64_t> counts(others, 0);
    std::vector<double> rates(others, 0.0), before(others + 1, 0.0);
    std::size_t next = 0;
    for (std::size_t row = 0; row < rows; ++row) {
        std::size_t first = others;
        for (; next < cross.count && static_cast<std::size_t>(cross.rows[next]) == row; ++next) {
            const auto m = static_cast<std::size_t>(cross.others[next]);
            counts[m] += cross.changes[next];
            rates[m] = static_cast<double>(counts[m]) / times[m];
            first = std::min(first, m);
        }
        for (std::size_t m = first; m < others; ++m) before[m + 1] = before[m] + rates[m];
        sums[row] = before[others];
    }
}

}  // namespace sedscope
