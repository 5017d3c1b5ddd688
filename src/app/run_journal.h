// Keeps a run in the journal.  Never fails a run: what goes wrong is one warning on stderr.
#pragma once
#include <string>

#include "app/account.h"

namespace hwtv::app {

void keep_run(const std::string& command, Session& session, const Account& account);

}  // namespace hwtv::app
