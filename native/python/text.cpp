// Binds the readers of numbers in text.
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>

#include <filesystem>
#include <optional>
#include <string_view>

#include "python/arrays.hpp"
#include "text/number_table.hpp"
#include "text/table_file.hpp"

namespace sedscope::python {

namespace {

std::optional<NumpyArray<double>> number_table(const nb::bytes& content, std::size_t start,
                                               std::size_t columns) {
    require(start <= content.size() && columns > 0, "the table must lie in the text");
    Buffer<double> table;
    {
        nb::gil_scoped_release release;
        if (!parse_table(content.c_str() + start, content.size() - start, columns, table))
            columns = 0;
    }
    if (columns == 0) return std::nullopt;
    const std::size_t rows = table.size() / columns;
    return to_numpy(std::move(table), rows, columns);
}

std::optional<std::pair<NumpyArray<double>, bool>> number_table_of_file(
    const std::filesystem::path& path, const nb::bytes& first_line, std::size_t columns,
    std::size_t most_bytes) {
    require(columns > 0, "a table has columns");
    const std::string_view line(first_line.c_str(), first_line.size());
    TableFile file;
    bool is_read;
    {
        nb::gil_scoped_release release;
        is_read = read_table_file(path, line, columns, most_bytes, file);
    }
    if (!is_read) return std::nullopt;
    const std::size_t rows = file.table.size() / columns;
    return {{to_numpy(std::move(file.table), rows, columns), file.ends_with_break}};
}

}  // namespace

void bind_text(nb::module_& module) {
    module.def("number_table", &number_table, "content"_a, "start"_a, "columns"_a,
               R"(Read rows of numbers, separated by tabs, from byte ``start`` on.

None if the text has any other form.)");
    module.def(
        "number_table_of_file", &number_table_of_file, "path"_a, "first_line"_a, "columns"_a,
        "most_bytes"_a,
        R"(Read the numbers of a file below its first line, and whether it ends with a line break.

None if it is not a regular file of at most so many bytes, with this first line and such numbers.)");
}

}  // namespace sedscope::python
