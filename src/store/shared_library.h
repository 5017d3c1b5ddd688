// A library that is opened when it is needed: linked, it would cost every command memory and time.
#pragma once
#include <dlfcn.h>

namespace hwtv::store {

// nullptr where it is not on this machine.  It stays open.
inline void* open_library(const char* name) { return ::dlopen(name, RTLD_NOW | RTLD_LOCAL); }

// Sets `function` to the library's one of that name; false: it has none.
template <typename Function>
bool find_function(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(::dlsym(library, name));
  return function != nullptr;
}

}  // namespace hwtv::store
