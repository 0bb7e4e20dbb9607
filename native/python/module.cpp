// The Python module of the core.
#include <nanobind/nanobind.h>

#include "core/parallel.hpp"

namespace sedscope::python {

void bind_columns(nanobind::module_& module);
void bind_clips(nanobind::module_& module);
void bind_recording(nanobind::module_& module);
void bind_criteria(nanobind::module_& module);
void bind_counting(nanobind::module_& module);
void bind_resampling(nanobind::module_& module);
void bind_score_ranges(nanobind::module_& module);
void bind_postprocessing(nanobind::module_& module);
void bind_ranked_clips(nanobind::module_& module);
void bind_means(nanobind::module_& module);
void bind_text(nanobind::module_& module);

namespace {

// Lets Ctrl-C end a long call.
void check_signals() {
    nanobind::gil_scoped_acquire acquire;
    if (PyErr_CheckSignals() != 0) throw nanobind::python_error();
}

}  // namespace
}  // namespace sedscope::python

NB_MODULE(_native, module) {
    using namespace sedscope::python;
    module.doc() = "The compiled core of sedscope.";
    sedscope::between_items = check_signals;
    bind_columns(module);
    bind_clips(module);
    bind_recording(module);
    bind_criteria(module);
    bind_counting(module);
    bind_resampling(module);
    bind_score_ranges(module);
    bind_postprocessing(module);
    bind_ranked_clips(module);
    bind_means(module);
    bind_text(module);
}
