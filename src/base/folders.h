// Where this program keeps things, by the XDG base directory specification.  Without $HOME the home
// folder is the one that the system has for this user; both are empty where it has none.
#pragma once
#include <string>

namespace hwtv {

// Models and the machine's rates: $HWTV_CACHE, else $XDG_CACHE_HOME/hwtv, else ~/.cache/hwtv.
std::string cache_folder();
// The journal: $XDG_STATE_HOME/hwtv, else ~/.local/state/hwtv.
std::string state_folder();

}  // namespace hwtv
