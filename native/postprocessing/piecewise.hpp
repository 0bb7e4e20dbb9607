// Functions of time that are constant from one boundary to the next, one for each class of a clip,
// and how they are written on one common grid.
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <vector>

#include "../core/buffer.hpp"
#include "../clips/references.hpp"

namespace sedscope {

// values[i] from starts[i] until the next start, the last one until the end of the clip. Two equal
// starts are a piece of no length, which keeps its neighbours apart.
template <class T>
struct Piecewise {
    Buffer<Time> starts;
    Buffer<T> values;

    void clear() {
        starts.clear();
        values.clear();
    }

    // The next piece. One that begins where the last one does takes its place; one that has the
    // value of the last one continues it.
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

// The boundaries at which some class changes, with the end. A start that occurs twice in one class
// occurs twice here.
template <class T>
Buffer<Time> common_grid(const std::vector<Piecewise<T>>& classes, Time end) {
    std::vector<Time> grid, larger;
    for (const Piecewise<T>& pieces : classes) {
        larger.clear();
        std::set_union(grid.begin(), grid.end(), pieces.starts.begin(), pieces.starts.end(),
                       std::back_inserter(larger));
        grid.swap(larger);
    }
    Buffer<Time> edges(grid.size() + 1);
    std::copy(grid.begin(), grid.end(), edges.begin());
    edges[grid.size()] = end;
    return edges;
}

// The values (classes x frames) on the common grid.
template <class T>
Buffer<T> on_grid(const std::vector<Piecewise<T>>& classes, const Buffer<Time>& edges) {
    const std::size_t frames = edges.size() - 1;
    Buffer<T> out(frames * classes.size());
    T* value = out.data();
    for (const auto& [starts, values] : classes) {
        std::size_t next = 0;  // piece; all begin with the first boundary
        for (std::size_t frame = 0; frame < frames; ++frame) {
            next += next < starts.size() && starts[next] == edges[frame];
            *value++ = values[next - 1];
        }
    }
    return out;
}

}  // namespace sedscope
