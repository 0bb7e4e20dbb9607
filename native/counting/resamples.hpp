// Resamples of the clips: sets of weights, and what follows from them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sedscope {

struct Resamples {
    std::size_t count, clips, classes;
    const int32_t* weights;         // count x clips
    int64_t heaviest;               // of the weights
    const double* durations;        // count, seconds
    const int64_t* references;      // count x classes
    const double* reference_times;  // count x classes, seconds
    std::vector<int64_t> order;  // the classes by name: sums over classes are taken in this order

    const int64_t* references_of(std::size_t resample) const {
        return references + resample * classes;
    }
    const double* reference_times_of(std::size_t resample) const {
        return reference_times + resample * classes;
    }

    // Writes the classes with references, by name.
    void find_present(std::size_t resample, std::vector<std::size_t>& present) const {
        present.clear();
        for (int64_t c : order)
            if (references_of(resample)[c]) present.push_back(static_cast<std::size_t>(c));
    }
};

}  // namespace sedscope
