// Binds recordings whose scores arrive in pieces.
#include "python/recording.hpp"

#include <nanobind/typing.h>

namespace sedscope::python {

void bind_recording(nb::module_& module) {
    module.attr("Result") = nb::type_var("Result", "covariant"_a = true);
    nb::class_<OpenRecording>(module, "OpenRecording", nb::is_generic(),
                              nb::sig("class OpenRecording(typing.Generic[Result])"),
                              "Work on a recording that waits for more frames.")
        .def("feed", &OpenRecording::feed, "values"_a.noconvert(),
             "Process the next frames: (frames x columns).")
        .def("finish", &OpenRecording::finish, nb::sig("def finish(self) -> Result"),
             "Return the result after all frames. It can be called once.");
    nb::class_<Recording>(module, "Recording", R"(One clip whose scores arrive in pieces.

``edges``: the boundaries of all frames. ``columns``: the column of each class. ``is_double``:
whether the scores are float64, otherwise float32.)")
        .def(nb::init<const Vector<int64_t>&, const Vector<int64_t>&, bool>(),
             "edges"_a.noconvert(), "columns"_a.noconvert(), "is_double"_a);
}

}  // namespace sedscope::python
