// The Python face of the core.
#include <nanobind/nanobind.h>

namespace sedscope::python {

void bind_clips(nanobind::module_& module);
void bind_recording(nanobind::module_& module);
void bind_postprocessing(nanobind::module_& module);
void bind_counting(nanobind::module_& module);
void bind_numbers(nanobind::module_& module);

}  // namespace sedscope::python

NB_MODULE(_native, module) {
    using namespace sedscope::python;
    module.doc() = "The compiled core of sedscope.";
    bind_clips(module);
    bind_recording(module);
    bind_postprocessing(module);
    bind_counting(module);
    bind_numbers(module);
}
