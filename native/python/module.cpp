// The Python module of the core.
#include <nanobind/nanobind.h>

#include "core/parallel.hpp"

namespace sedscope::python {

// Each file of bindings defines one of these functions.
using Bind = void(nanobind::module_&);
Bind bind_active_time, bind_alarm, bind_any_overlap, bind_clips, bind_collar, bind_columns,
    bind_counting, bind_criteria, bind_intersection, bind_iou, bind_means, bind_postprocessing,
    bind_ranked_clips, bind_recording, bind_resampling, bind_score_ranges, bind_scored_events,
    bind_segments, bind_text;

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
    module.doc() =
        R"(The compiled core. Arrays must have exactly the documented types: nothing is converted.

Times are whole microseconds. Results are objects whose attributes are numpy arrays; reading an
attribute does not copy it.)";
    sedscope::between_items = check_signals;
    for (Bind* bind :
         {bind_columns, bind_clips, bind_recording, bind_postprocessing, bind_ranked_clips,
          bind_criteria,  // before the criteria, which derive from what it binds
          bind_intersection, bind_collar, bind_iou, bind_any_overlap, bind_alarm, bind_active_time,
          bind_segments, bind_scored_events, bind_counting, bind_resampling, bind_score_ranges,
          bind_means, bind_text})
        bind(module);
}
