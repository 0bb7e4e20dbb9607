// Puts tables of rows, each ordered by class and then clip, into one: a class has its rows of the
// first table, then those of the second, and so on. Can leave out rows of low scores.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "core/buffer.hpp"
#include "core/out_of_line.hpp"
#include "core/parallel.hpp"

namespace sedscope {

// Columns of any types, of which the first has the scores.
struct RowTable {
    const int64_t* starts;  // classes x (clips + 1)
    std::size_t clips;
    std::vector<const std::byte*> columns;
};

template <class T>
class RowMerger {
public:
    // `widths`: the bytes of an entry of each column. `floors`: per class, the highest score whose
    // rows are left out; null to keep all rows.
    RowMerger(const std::vector<RowTable>& tables, const std::vector<std::size_t>& widths,
              std::size_t classes, const T* floors, std::size_t threads)
        : tables_(tables), widths_(widths), classes_(classes), floors_(floors), threads_(threads) {
        for (const RowTable& table : tables) clips_ += table.clips;
        starts_.assign(classes * (clips_ + 1));
        std::vector<std::size_t> before(classes + 1);
        parallel_for(classes, threads,
                     [&] { return [&](std::size_t c) { before[c + 1] = count(c); }; });
        for (std::size_t c = 0; c < classes; ++c) {
            const auto first = static_cast<int64_t>(before[c]);
            int64_t* const starts = starts_.data() + c * (clips_ + 1);
            for (std::size_t i = 0; i <= clips_; ++i) starts[i] += first;
            before[c + 1] += before[c];
        }
        rows_ = before[classes];
    }

    std::size_t clips() const { return clips_; }
    std::size_t rows() const { return rows_; }
    // (classes x (clips + 1)) where the rows of each class and clip begin.
    Buffer<int64_t>& starts() { return starts_; }

    // Writes the entries of all columns.
    void copy(const std::vector<std::byte*>& columns) const {
        parallel_for(classes_, threads_, [&] { return [&](std::size_t c) { copy(c, columns); }; });
    }

private:
    const T* scores(const RowTable& table) const {
        return reinterpret_cast<const T*>(table.columns[0]);
    }

    // Counts the rows of a class, and writes where those of each clip begin, from 0.
    SEDSCOPE_OUT_OF_LINE std::size_t count(std::size_t c) {
        int64_t* out = starts_.data() + c * (clips_ + 1);
        int64_t rows = 0;
        for (const RowTable& table : tables_) {
            const int64_t* const starts = table.starts + c * (table.clips + 1);
            for (std::size_t i = 0; i < table.clips; ++i) {
                *out++ = rows;
                if (!floors_) {
                    rows += starts[i + 1] - starts[i];
                    continue;
                }
                const T floor = floors_[c];
                const T* const values = scores(table);
                for (int64_t row = starts[i]; row < starts[i + 1]; ++row)
                    rows += values[row] > floor;
            }
        }
        *out = rows;
        return static_cast<std::size_t>(rows);
    }

    SEDSCOPE_OUT_OF_LINE void copy(std::size_t c, const std::vector<std::byte*>& columns) const {
        const int64_t* to = starts_.data() + c * (clips_ + 1);
        for (const RowTable& table : tables_) {
            const int64_t* const starts = table.starts + c * (table.clips + 1);
            const auto start = static_cast<std::size_t>(*to);
            const auto count = static_cast<std::size_t>(to[table.clips]) - start;
            const auto first = static_cast<std::size_t>(*starts);
            const bool all = count == static_cast<std::size_t>(starts[table.clips]) - first;
            for (std::size_t k = 0; k < columns.size(); ++k) {
                const std::byte* const in = table.columns[k] + first * widths_[k];
                std::byte* const out = columns[k] + start * widths_[k];
                if (all)
                    std::memcpy(out, in, count * widths_[k]);
                else
                    copy_some(widths_[k], in, scores(table) + first, floors_[c], out, count);
            }
            to += table.clips;
        }
    }

    // Copies the `count` entries of rows above a floor.
    static void copy_some(std::size_t width, const std::byte* in, const T* scores, T floor,
                          std::byte* out, std::size_t count) {
        if (width == 1) return copy_above<uint8_t>(in, scores, floor, out, count);
        if (width == 2) return copy_above<uint16_t>(in, scores, floor, out, count);
        if (width == 4) return copy_above<uint32_t>(in, scores, floor, out, count);
        copy_above<uint64_t>(in, scores, floor, out, count);
    }

    template <class Entry>
    static void copy_above(const std::byte* in, const T* scores, T floor, std::byte* out,
                           std::size_t count) {
        const auto* const entries = reinterpret_cast<const Entry*>(in);
        auto* const kept = reinterpret_cast<Entry*>(out);
        for (std::size_t row = 0, n = 0; n < count; ++row) {  // without a branch
            kept[n] = entries[row];
            n += scores[row] > floor;
        }
    }

    const std::vector<RowTable>& tables_;
    const std::vector<std::size_t>& widths_;
    std::size_t classes_, clips_ = 0, rows_ = 0;
    const T* floors_;
    std::size_t threads_;
    Buffer<int64_t> starts_;
};

}  // namespace sedscope
