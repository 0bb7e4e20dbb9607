// Fuzzes the readers of numbers in text (native/text). A table that they accept holds exactly what
// strtod reads, cell by cell, and they never refuse an ordinary one.
//
// The first byte of an input says how many columns the table has and whether it is in a file.
#include "text/number_table.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "core/bits.hpp"
#include "core/buffer.hpp"
#include "text/table_file.hpp"

namespace {

using sedscope::Buffer;

void require(bool holds, const char* broken) {
    if (holds) return;
    std::fprintf(stderr, "Not as it must be: %s\n", broken);
    std::abort();
}

std::vector<std::string> split(std::string_view text, char separator) {
    std::vector<std::string> parts(1);
    for (const char c : text) {
        if (c == separator)
            parts.emplace_back();
        else
            parts.back() += c;
    }
    return parts;
}

// What a slow and obviously right reader finds.
struct Expected {
    bool is_table = true;     // it may be read
    bool is_ordinary = true;  // it must be read
    std::vector<double> cells;

    Expected(std::string_view text, std::size_t columns) {
        std::vector<std::string> lines = split(text, '\n');
        if (lines.back().empty()) lines.pop_back();
        for (std::string& line : lines) {
            if (!line.empty() && line.back() == '\r') line.pop_back();
            const std::vector<std::string> row = split(line, '\t');
            is_table &= row.size() == columns;
            for (const std::string& cell : row) add(cell);
        }
        is_ordinary &= is_table;
    }

private:
    void add(const std::string& cell) {
        char* end = nullptr;
        const double value = std::strtod(cell.c_str(), &end);
        cells.push_back(value);
        const bool is_plain = cell.find_first_not_of("-.0123456789eE+") == std::string::npos;
        const bool begins_well = !cell.empty() && cell.find_first_of("+ \t\n\v\f\r") != 0;
        is_table &= begins_well && end == cell.c_str() + cell.size() &&
                    cell.find_first_of("xX") == std::string::npos;
        is_ordinary &= is_plain && (std::isnormal(value) || is_written_as_zero(cell));
    }

    // Not a number that is too small for a double.
    static bool is_written_as_zero(const std::string& cell) {
        return cell.find_first_not_of("-.0") == std::string::npos;
    }
};

void require_expected(const Expected& expected, bool is_read, const Buffer<double>& table) {
    if (!is_read) {
        require(!expected.is_ordinary, "an ordinary table is read");
        return;
    }
    require(expected.is_table, "what is read is a table of numbers");
    require(table.size() == expected.cells.size(), "all cells are read");
    for (std::size_t i = 0; i < table.size(); ++i) {
        const double cell = table[i], wanted = expected.cells[i];
        const bool is_same =
            sedscope::bit_cast<std::uint64_t>(cell) == sedscope::bit_cast<std::uint64_t>(wanted);
        require(is_same || (std::isnan(cell) && std::isnan(wanted)),
                "cells have the bits of strtod");
    }
}

// The path of a file in memory with this content.
std::string file_of(std::string_view content) {
    static const int file = memfd_create("table", 0);
    require(ftruncate(file, 0) == 0, "the file is emptied");
    require(pwrite(file, content.data(), content.size(), 0) == static_cast<ssize_t>(content.size()),
            "the file is written");
    return "/proc/self/fd/" + std::to_string(file);
}

void check_file(std::string_view content, std::size_t columns) {
    const std::size_t first_size = std::min(content.find('\n'), content.size() - 1) + 1;
    const std::string_view first_line = content.substr(0, first_size);
    const std::string path = file_of(content);
    sedscope::TableFile file, longer, other;
    const bool is_read = sedscope::read_table_file(path, first_line, columns, content.size(), file);
    require_expected(Expected(content.substr(first_size), columns), is_read, file.table);
    if (is_read)
        require(file.ends_with_break == (content.back() == '\n' || content.back() == '\r'),
                "the last line break is noticed");
    require(!sedscope::read_table_file(path, first_line, columns, content.size() - 1, longer),
            "a file that is too large is refused");
    std::string changed(first_line);
    changed.front() ^= 1;
    require(!sedscope::read_table_file(path, changed, columns, content.size(), other),
            "another first line is refused");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
    const std::size_t columns = 1 + data[0] % 8;
    if (data[0] & 8 && !text.empty()) {
        check_file(text, columns);
    } else {
        Buffer<double> table;
        const bool is_read = sedscope::parse_table(text.data(), text.size(), columns, table);
        require_expected(Expected(text, columns), is_read, table);
    }
    return 0;
}
