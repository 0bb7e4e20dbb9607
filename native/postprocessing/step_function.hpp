// Step functions of time, one per class of a clip, and how to write them on common frames.
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <vector>

#include "core/buffer.hpp"
#include "core/time.hpp"

namespace sedscope {

// The value is values[i] from starts[i] until the next start, and the last one until the end of the
// clip. Two equal starts make a step of no length, which keeps its neighbours apart.
template <class T>
struct StepFunction {
    Buffer<Time> starts;
    Buffer<T> values;

    void clear() {
        starts.clear();
        values.clear();
    }

    // Adds a step. It replaces the last one if both begin at the same time, and continues it if
    // both have the same value.
    void change(Time start, T value) {
        if (starts.size() > 0 && starts[starts.size() - 1] == start) {
            starts.pop();
            values.pop();
        }
        if (values.size() > 0 && values[values.size() - 1] == value) return;
        push(start, value);
    }

    void push(Time start, T value) {
        starts.push(start);
        values.push(value);
    }
};

// The times of `grid`, those at which any class changes, and the end. A start that occurs twice in
// one class occurs twice here.
template <class T>
Buffer<Time> common_grid(const std::vector<StepFunction<T>>& classes, std::vector<Time> grid,
                         Time end) {
    std::vector<Time> larger;
    for (const StepFunction<T>& steps : classes) {
        larger.clear();
        std::set_union(grid.begin(), grid.end(), steps.starts.begin(), steps.starts.end(),
                       std::back_inserter(larger));
        grid.swap(larger);
    }
    Buffer<Time> edges(grid.size() + 1);
    std::copy(grid.begin(), grid.end(), edges.begin());
    edges[grid.size()] = end;
    return edges;
}

// The values on the common grid: classes x frames.
template <class T>
Buffer<T> on_grid(const std::vector<StepFunction<T>>& classes, const Buffer<Time>& edges) {
    const std::size_t frames = edges.size() - 1;
    Buffer<T> out(frames * classes.size());
    T* value = out.data();
    for (const auto& [starts, values] : classes) {
        std::size_t next = 0;  // step; all begin with the first boundary
        for (std::size_t frame = 0; frame < frames; ++frame) {
            next += next < starts.size() && starts[next] == edges[frame];
            *value++ = values[next - 1];
        }
    }
    return out;
}

}  // namespace sedscope
