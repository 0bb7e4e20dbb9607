// Columns of scores that are kept for later, as Python passes them: of one float type.
#pragma once

#include <cstddef>
#include <utility>
#include <variant>

#include "clips/column_store.hpp"
#include "python/arrays.hpp"

namespace sedscope::python {

class Columns {
public:
    Columns(std::size_t classes, bool is_double) : store_(ColumnStore<float>(classes)) {
        if (is_double) store_ = ColumnStore<double>(classes);
    }
    Columns(const Columns&) = delete;

    // Calls `use(store)`.
    template <class Use>
    decltype(auto) visit(Use&& use) const {
        return std::visit(std::forward<Use>(use), store_);
    }
    template <class Use>
    decltype(auto) visit(Use&& use) {
        return std::visit(std::forward<Use>(use), store_);
    }

private:
    std::variant<ColumnStore<float>, ColumnStore<double>> store_;
};

}  // namespace sedscope::python
