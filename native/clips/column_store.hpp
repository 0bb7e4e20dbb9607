// Keeps columns of scores: one clip and class each, apart from those of their clip that are not
// needed. Memory of columns that are dropped serves those that follow.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <unordered_map>
#include <vector>

#include "clips/view.hpp"
#include "core/buffer.hpp"
#include "core/parallel.hpp"

namespace sedscope {

template <class T>
class ColumnStore {
public:
    using Score = T;

    // Where a column comes from, and what it is.
    struct Source {
        const T* scores;
        std::ptrdiff_t stride;
        std::size_t frames;
        T largest;
        uint32_t clip, label;
    };

    explicit ColumnStore(std::size_t classes) : classes_(classes) {}

    std::size_t classes() const { return classes_; }
    // The scores that are kept.
    std::size_t bytes() const { return scores_ * sizeof(T); }

    void add(const std::vector<Source>& sources, std::size_t threads) {
        const std::size_t first = columns_.size();
        for (const Source& source : sources) {
            columns_.push_back({allocate(source.frames), source.frames, source.largest, source.clip,
                                source.label});
            scores_ += source.frames;
            longest_ = std::max(longest_, source.frames);
        }
        constexpr std::size_t together = 64;
        parallel_for((sources.size() + together - 1) / together, threads, [&] {
            return [&](std::size_t part) {
                const std::size_t begin = part * together;
                copy(sources, first, begin, std::min(begin + together, sources.size()));
            };
        });
    }

    // Drops columns whose largest score does not lie above the floor of their class.
    void drop(const T* floors) {
        std::size_t kept = 0, frames = 0;
        std::vector<T*>* dropped = nullptr;  // of the columns with as many frames
        for (const Column& column : columns_) {
            if (column.largest > floors[column.label]) {
                columns_[kept++] = column;
                continue;
            }
            if (!dropped || column.frames != frames) dropped = &free_[frames = column.frames];
            dropped->push_back(column.scores);
            scores_ -= column.frames;
        }
        columns_.erase(columns_.begin() + static_cast<std::ptrdiff_t>(kept), columns_.end());
    }

    // Returns a (clips x classes) table of where each column begins. Columns that are not kept
    // are silent.
    std::vector<const T*> table(std::size_t clips) const {
        if (silence_.size() < longest_)
            silence_.assign(longest_, -std::numeric_limits<T>::infinity());
        std::vector<const T*> table(clips * classes_, silence_.data());
        for (const Column& column : columns_)
            table.at(column.clip * classes_ + column.label) = column.scores;
        return table;
    }

private:
    struct Column {
        T* scores;
        std::size_t frames;
        T largest;
        uint32_t clip, label;
    };

    T* allocate(std::size_t frames) {
        std::vector<T*>& dropped = free_[frames];
        if (!dropped.empty()) {
            T* scores = dropped.back();
            dropped.pop_back();
            return scores;
        }
        if (frames > room_) {
            constexpr std::size_t block = (std::size_t{16} << 20) / sizeof(T);
            room_ = std::max(frames, block);
            blocks_.emplace_back(room_);
            next_ = blocks_.back().data();
        }
        T* scores = next_;
        next_ += frames;
        room_ -= frames;
        return scores;
    }

    // Copies some columns, a few frames of all of them after the other, so that neighbours in
    // memory are read while they are in the cache.
    void copy(const std::vector<Source>& sources, std::size_t offset, std::size_t begin,
              std::size_t end) {
        constexpr std::size_t cached = (std::size_t{16} << 10) / sizeof(T);
        std::size_t longest = 0, stride = 1;
        for (std::size_t i = begin; i < end; ++i) {
            longest = std::max(longest, sources[i].frames);
            stride = std::max(stride, static_cast<std::size_t>(std::abs(sources[i].stride)));
        }
        const std::size_t step = std::max<std::size_t>(16, cached / stride);
        for (std::size_t first = 0; first < longest; first += step) {
            for (std::size_t i = begin; i < end; ++i) {
                const std::size_t last = std::min(first + step, sources[i].frames);
                const T* const in = sources[i].scores;
                const std::ptrdiff_t apart = sources[i].stride;
                T* const out = columns_[offset + i].scores;
                if (apart == 1 && first < last)
                    std::copy(in + first, in + last, out + first);
                else
                    for (std::size_t frame = first; frame < last; ++frame)
                        out[frame] = in[static_cast<std::ptrdiff_t>(frame) * apart];
            }
        }
    }

    std::size_t classes_;
    std::vector<Column> columns_;
    std::vector<Buffer<T>> blocks_;
    std::unordered_map<std::size_t, std::vector<T*>> free_;  // by frames
    T* next_ = nullptr;                                      // the rest of the last block
    std::size_t room_ = 0, scores_ = 0, longest_ = 1;
    mutable std::vector<T> silence_;
};

}  // namespace sedscope
