// The types of errors that a detection or a reference can have.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sedscope {

// `correct`: a true detection or a found reference. Only references can be `missed`; only
// detections can be a `cross_trigger`, in the `background`, or `ignored`: one that matches an
// ignored reference is no error.
enum ErrorType : uint8_t {
    correct,
    missed,
    fragmented,
    merged,
    too_long,
    too_short,
    wrong_onset,
    wrong_offset,
    cross_trigger,
    background,
    ignored,
    error_types
};

// The number of references of each type, then the number of detections of each type.
constexpr std::size_t type_columns = 2 * error_types;

}  // namespace sedscope
