// Reads a file with a table of numbers, if it is an ordinary one.
#pragma once

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>

#include "core/buffer.hpp"
#include "text/number_table.hpp"

namespace sedscope {

// A table that follows an expected first line.
struct TableFile {
    Buffer<double> table;
    bool ends_with_break = false;
};

// Returns false if the file is not a regular one, begins with another line, is larger than `most`
// bytes or has any other form: whoever asked finds out what it is then.
inline bool read_table_file(const std::filesystem::path& path, std::string_view first_line,
                            std::size_t columns, std::size_t most, TableFile& result) {
    namespace fs = std::filesystem;
    std::error_code error;
    if (!fs::is_regular_file(path, error))
        return false;  // opening a pipe would wait for its writer
    std::ifstream file(path, std::ios::binary | std::ios::ate);
    if (!file) return false;
    const auto size = static_cast<std::size_t>(file.tellg());
    if (size < first_line.size() || size > most) return false;
    Buffer<char> content(size);
    file.seekg(0);
    if (!file.read(content.data(), static_cast<std::streamsize>(size))) return false;
    if (file.peek() != std::ifstream::traits_type::eof()) return false;  // it grows
    const std::string_view text(content.data(), size);
    if (text.substr(0, first_line.size()) != first_line) return false;
    result.ends_with_break = !text.empty() && (text.back() == '\n' || text.back() == '\r');
    return parse_table(content.data() + first_line.size(), size - first_line.size(), columns,
                       result.table);
}

}  // namespace sedscope
