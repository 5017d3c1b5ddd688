// Keeps a run in the journal.  Never fails a run: what goes wrong is one warning on stderr.
#pragma once
#include <string>

#include "app/session.h"

namespace hwtv::app {

// `account`: as JSON, kept as it is.
void keep_run(const std::string& command, Session& session, const std::string& account);

}  // namespace hwtv::app
