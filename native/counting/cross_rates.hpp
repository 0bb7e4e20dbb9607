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
// that class. Sums of several rows are computed side by side, as one sum has to wait for each of
// its additions.
inline void add_cross_rates(const CrossChanges& cross, const std::vector<double>& times,
                            std::size_t rows, double* sums) {
    constexpr std::size_t lanes = 8;  // rows
    const std::size_t others = times.size();
    std::vector<int64_t> counts(others, 0);
    std::vector<double> rates(others * lanes, 0.0);  // those of one class side by side
    std::size_t next = 0;
    double last = 0;
    for (std::size_t first = 0; first < rows; first += lanes) {
        const std::size_t together = std::min(lanes, rows - first), begin = next;
        for (; next < cross.count && static_cast<std::size_t>(cross.rows[next]) < first + together;
             ++next) {
            const auto m = static_cast<std::size_t>(cross.others[next]);
            const std::size_t lane = static_cast<std::size_t>(cross.rows[next]) - first;
            counts[m] += cross.changes[next];
            std::fill_n(rates.data() + m * lanes + lane, lanes - lane,
                        static_cast<double>(counts[m]) / times[m]);
        }
        if (next == begin) {
            std::fill_n(sums + first, together, last);
            continue;
        }
        double side_by_side[lanes] = {};
        for (std::size_t m = 0; m < others; ++m)
            for (std::size_t lane = 0; lane < lanes; ++lane)
                side_by_side[lane] += rates[m * lanes + lane];
        std::copy_n(side_by_side, together, sums + first);
        last = side_by_side[lanes - 1];
        for (std::size_t k = begin; k < next; ++k) {
            double* const of_class =
                rates.data() + static_cast<std::size_t>(cross.others[k]) * lanes;
            std::fill_n(of_class, lanes, of_class[lanes - 1]);
        }
    }
}

}  // namespace sedscope
