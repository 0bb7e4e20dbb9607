// Arrays from and to Python. Arrays are taken as they are: a wrong type is an error, never a
// conversion. Results hand their memory over to numpy without a copy.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>

#include "clips/view.hpp"
#include "core/buffer.hpp"
#include "core/time.hpp"

namespace sedscope::python {

namespace nb = nanobind;
using namespace nb::literals;

template <class T>
using Vector = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Matrix = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using ScoreArray = nb::ndarray<nb::ro, nb::ndim<2>, nb::device::cpu>;
using AnyVector = nb::ndarray<nb::ro, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using AnyMatrix = nb::ndarray<nb::ro, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// A numpy array that owns the buffer. Every copy of the returned object is the same array.
template <class T, class... Shape>
nb::object to_numpy(Buffer<T>&& buffer, Shape... shape) {
    auto* owned = new Buffer<T>(std::move(buffer));
    nb::capsule owner(owned,
                      [](void* pointer) noexcept { delete static_cast<Buffer<T>*>(pointer); });
    return nb::ndarray<nb::numpy, T>(owned->data(), {static_cast<std::size_t>(shape)...}, owner)
        .cast();
}

template <class T>
nb::object to_numpy(Buffer<T>&& buffer) {
    const std::size_t size = buffer.size();
    return to_numpy(std::move(buffer), size);
}

// An array of exactly this type. Throws a TypeError otherwise.
template <class Array>
Array to_array(nb::handle object) {
    Array array;
    if (!nb::try_cast(object, array, false))
        throw nb::type_error("an array has the wrong type, or is not contiguous");
    return array;
}

template <class T, class Array>
bool has_type(const Array& array) {
    return array.dtype() == nb::dtype<T>();
}

// The data of an array that must have the score type T.
template <class T, class Array>
const T* data_of(const Array& array, const char* name) {
    if (!has_type<T>(array))
        throw nb::type_error((std::string(name) + " must have the type of the scores").c_str());
    return static_cast<const T*>(array.data());
}

// A view of scores that must have the type T.
template <class T>
ClipView<T> view_of(const ScoreArray& values, const Time* edges, const char* name) {
    return {data_of<T>(values, name), static_cast<std::ptrdiff_t>(values.stride(0)),
            static_cast<std::ptrdiff_t>(values.stride(1)), values.shape(0), edges};
}

inline void require(bool condition, const char* message) {
    if (!condition) throw std::invalid_argument(message);
}

// Each of the starts is where some of the `rows` rows begin, and where those before end.
template <class Starts>
void require_starts(const Starts& starts, std::size_t rows) {
    int64_t last = 0;
    for (std::size_t k = 0; k < starts.size(); ++k) {
        require(starts.data()[k] >= last, "starts must not decrease");
        last = starts.data()[k];
    }
    require(static_cast<std::size_t>(last) <= rows, "starts must not exceed the rows");
}

}  // namespace sedscope::python
