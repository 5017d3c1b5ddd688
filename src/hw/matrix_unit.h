// Whether this process may compute with the CPU's matrix unit (Intel AMX, int8).
#pragma once

namespace hwtv::hw {

// The CPU has the unit, and the operating system lets this process keep its registers (8 KiB for each
// thread): it is asked here, since Linux wants to be asked before the first use.
bool can_use_amx_int8();

}  // namespace hwtv::hw
