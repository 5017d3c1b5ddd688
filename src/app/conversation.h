// A conversation as `hwtv chat` keeps it, and as it lies in a file: a JSON array of messages with
// "role" and "content", as chat APIs use it.
#pragma once
#include <string>
#include <vector>

#include "base/error.h"
#include "text/chat_template.h"

namespace hwtv::app {

using Conversation = std::vector<text::ChatMessage>;

// Errors: io; invalid_request (no such array of messages).
Result<Conversation> load_conversation(const std::string& path);
// Written beside and renamed.  Errors: io.
Result<void> save_conversation(const std::string& path, const Conversation& conversation);

}  // namespace hwtv::app
