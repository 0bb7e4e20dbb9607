// The parameters of the polyphonic sound detection score (PSDS).
#pragma once

namespace sedscope {

struct PsdsDefinition {
    double alpha_ct, alpha_st, max_efpr, seconds_per_unit;
};

}  // namespace sedscope
