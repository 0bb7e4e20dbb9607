// Binds the reader of numbers in text.
#include "python/arrays.hpp"
#include "text/number_table.hpp"

namespace sedscope::python {

namespace {

// The rows of numbers from byte `start` on, or None if the text has any other form.
nb::object number_table(const nb::bytes& content, std::size_t start, std::size_t columns) {
    require(start <= content.size() && columns > 0, "the table must lie in the text");
    Buffer<double> table;
    {
        nb::gil_scoped_release release;
        if (!parse_table(content.c_str() + start, content.size() - start, columns, table))
            columns = 0;
    }
    if (columns == 0) return nb::none();
    const std::size_t rows = table.size() / columns;
    return to_numpy(std::move(table), rows, columns);
}

}  // namespace

void bind_text(nb::module_& module) {
    module.def("number_table", &number_table, "content"_a, "start"_a, "columns"_a);
}

}  // namespace sedscope::python
