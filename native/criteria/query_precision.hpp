// The average precision of one clip and class, from its deltas.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/buffer.hpp"

namespace sedscope {

class QueryPrecision {
public:
    // `interpolated`: the precision at a recall is the best one at this recall or a higher one.
    // `ranked`: of equal scores, rows come one after the other. Otherwise they come together.
    QueryPrecision(bool interpolated, bool ranked) : interpolated_(interpolated), ranked_(ranked) {}

    // The area under precision over recall, in steps. There are `count` rows, and some references.
    double of(const double* scores, const int8_t* tp, const int8_t* fp, std::size_t count,
              int64_t references) {
        rows_.resize(count);
        for (std::size_t k = 0; k < count; ++k) rows_[k] = k;
        std::stable_sort(rows_.begin(), rows_.end(),
                         [&](std::size_t a, std::size_t b) { return scores[a] > scores[b]; });
        best_.assign(1, none);  // the best precision, by the number of true positives
        int64_t found = 0, detected = 0;
        for (std::size_t i = 0; i < count; ++i) {
            const std::size_t k = rows_[i];
            found += tp[k];
            detected += tp[k] + fp[k];
            if (!ranked_ && i + 1 < count && scores[rows_[i + 1]] == scores[k]) continue;
            const auto found_count = static_cast<std::size_t>(found);
            if (found_count >= best_.size()) best_.resize(found_count + 1, none);
            const double precision = static_cast<double>(found) / static_cast<double>(detected);
            if (detected > 0) best_[found_count] = std::max(best_[found_count], precision);
        }
        if (interpolated_)
            for (std::size_t n = best_.size(); n-- > 1;)
                best_[n - 1] = std::max(best_[n - 1], best_[n]);
        return area(static_cast<double>(references));
    }

private:
    static constexpr double none = -1;

    double area(double references) const {
        double sum = 0, recall_before = 0;
        for (std::size_t n = 1; n < best_.size(); ++n) {
            if (best_[n] < 0) continue;
            const double recall = static_cast<double>(n) / references;
            sum += best_[n] * (recall - recall_before);
            recall_before = recall;
        }
        return sum;
    }

    bool interpolated_, ranked_;
    std::vector<std::size_t> rows_;
    std::vector<double> best_;
};

}  // namespace sedscope
