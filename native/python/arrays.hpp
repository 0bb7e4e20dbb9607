// Arrays from and to Python. Arrays are taken as they are: a wrong type is an error, never a
// conversion. Results hand their memory over to numpy without a copy. The C++ types of arguments
// and results say what the stub of the module says.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

#include "clips/view.hpp"
#include "core/buffer.hpp"
#include "core/time.hpp"

namespace sedscope::python {

namespace nb = nanobind;
using namespace nb::literals;

// What the stub calls an array of one of some types.
template <class T>
inline constexpr auto type_name =
    nb::detail::const_name("numpy.") + nb::detail::dtype_traits<T>::name;
template <>
inline constexpr auto type_name<bool> = nb::detail::const_name("numpy.bool_");
template <class T, class... Others>
inline constexpr auto array_name =
    ((nb::detail::const_name("numpy.typing.NDArray[") + type_name<T>)+... +
     (nb::detail::const_name(" | ") + type_name<Others>)) +
    nb::detail::const_name("]");

// An array that Python passes, of one of some types. The functions that take it check which one.
template <class Base, class... Types>
struct Passed : Base {
    Passed() = default;
    Passed(Base array) : Base(std::move(array)) {}
};

template <class T>
using Vector = Passed<nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>, T>;
template <class T>
using Matrix = Passed<nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>, T>;
template <class... Types>
using AnyVector = Passed<nb::ndarray<nb::ro, nb::ndim<1>, nb::c_contig, nb::device::cpu>, Types...>;
using ScoreVector = AnyVector<float, double>;
using ScoreMatrix =
    Passed<nb::ndarray<nb::ro, nb::ndim<2>, nb::c_contig, nb::device::cpu>, float, double>;
using ScoreArray = Passed<nb::ndarray<nb::ro, nb::ndim<2>, nb::device::cpu>, float, double>;

// A numpy array of one of some types, as a result or a part of one.
template <class... Types>
class NumpyArray : public nb::object {
public:
    static constexpr auto Name = array_name<Types...>;
    static bool check_(nb::handle object) { return nb::ndarray_check(object); }

    NumpyArray() = default;
    NumpyArray(nb::handle array, nb::detail::borrow_t)
        : nb::object(array, nb::detail::borrow_t{}) {}
    NumpyArray(nb::handle array, nb::detail::steal_t) : nb::object(array, nb::detail::steal_t{}) {}
    template <class T, class = std::enable_if_t<(std::is_same_v<T, Types> || ...)>>
    NumpyArray(const NumpyArray<T>& array) : nb::object(array) {}
};
using FloatArray = NumpyArray<float, double>;

// A numpy array that owns the buffer. Every copy of the returned object is the same array.
template <class T, class... Shape>
NumpyArray<T> to_numpy(Buffer<T>&& buffer, Shape... shape) {
    auto* owned = new Buffer<T>(std::move(buffer));
    nb::capsule owner(owned,
                      [](void* pointer) noexcept { delete static_cast<Buffer<T>*>(pointer); });
    return nb::borrow<NumpyArray<T>>(
        nb::ndarray<nb::numpy, T>(owned->data(), {static_cast<std::size_t>(shape)...}, owner)
            .cast());
}

template <class T>
NumpyArray<T> to_numpy(Buffer<T>&& buffer) {
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

namespace nanobind::detail {

template <class Base, class... Types>
struct type_caster<sedscope::python::Passed<Base, Types...>> {
    using Array = sedscope::python::Passed<Base, Types...>;
    NB_TYPE_CASTER(Array, sedscope::python::array_name<Types...>)

    bool from_python(handle source, uint32_t flags, cleanup_list* cleanup) noexcept {
        type_caster<Base> base;
        if (!base.from_python(source, flags, cleanup)) return false;
        value = std::move(base.value);
        return true;
    }
    static handle from_cpp(const Array& array, rv_policy policy, cleanup_list* cleanup) noexcept {
        return type_caster<Base>::from_cpp(array, policy, cleanup);
    }
};

}  // namespace nanobind::detail
