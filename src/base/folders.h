// Where this program keeps things, by the XDG base directory specification.
#pragma once
#include <string>

namespace hwtv {

std::string cache_folder();  // $XDG_CACHE_HOME/hwtv or ~/.cache/hwtv: models, the machine's rates
std::string state_folder();  // $XDG_STATE_HOME/hwtv or ~/.local/state/hwtv: the journal

}  // namespace hwtv
