// Binds recordings whose scores arrive in pieces.
#include "python/recording.hpp"

namespace sedscope::python {

void bind_recording(nb::module_& module) {
    nb::class_<OpenRecording>(module, "OpenRecording")
        .def("feed", &OpenRecording::feed, "values"_a.noconvert())
        .def("finish", &OpenRecording::finish);
    nb::class_<Recording>(module, "Recording")
        .def(nb::init<const Vector<int64_t>&, const Vector<int64_t>&, bool>(),
             "edges"_a.noconvert(), "columns"_a.noconvert(), "is_double"_a);
}

}  // namespace sedscope::python
