// Keeps long functions that are called rarely, next to the work that they do, from being copied
// into their callers. It makes the core smaller, not slower.
#pragma once

#ifdef _MSC_VER
#define SEDSCOPE_OUT_OF_LINE __declspec(noinline)
#else
#define SEDSCOPE_OUT_OF_LINE [[gnu::noinline]]
#endif
