// The Python face of the core.
#include <nanobind/nanobind.h>

#include "../core/parallel.hpp"

namespace sedscope::python {

void bind_clips(nanobind::module_& module);
void bind_recording(nanobind::module_& module);
void bind_postprocessing(nanobind::module_& module);
void bind_counting(nanobind::module_& module);
void bind_numbers(nanobind::module_& module);

namespace {

// Ctrl-C ends a long call as well.
void check_signals() {
    nanobind::gil_scoped_acquire acquire;
    if (PyErr_CheckSignals() != 0) throw nanobind::python_error();
}

}  // namespace
}  // namespace sedscope::python

NB_MODULE(_native, module) {
    using namespace sedscope::python;
    module.doc() = "The compiled core of sedscope.";
    sedscope::between_pieces = check_signals;
    bind_clips(module);
    bind_recording(module);
    bind_postprocessing(module);
    bind_counting(module);
    bind_numbers(module);
}
