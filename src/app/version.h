// What this build is.
#pragma once
#include <string>

namespace hwtv::app {

std::string version();  // "0.1.0 (0e2c8ed)": as the journal keeps it
std::string
version_text();  // the same with the compiler and the instruction sets it has kernels for

}  // namespace hwtv::app
