// Asks for memory that is read soon.
#pragma once

#ifdef _MSC_VER
#define SEDSCOPE_PREFETCH(address) static_cast<void>(address)
#else
#define SEDSCOPE_PREFETCH(address) __builtin_prefetch(address)
#endif
