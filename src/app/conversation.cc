#include "app/conversation.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/file.h"

namespace hwtv::app {

Result<Conversation> load_conversation(const std::string& path) {
  HWTV_TRY(const std::string bytes, read_file(path, int64_t{256} << 20));
  const auto json = nlohmann::json::parse(bytes, nullptr, false);
  const auto bad = [&](const std::string& why) {
    return fail(ErrorCode::invalid_request, fmt::format("{} is no conversation: {}", path, why),
                "a conversation is [{\"role\": \"user\", \"content\": \"...\"}, ...]");
  };
  if (!json.is_array()) return bad("not a JSON array");
  Conversation conversation;
  for (const auto& message : json) {
    if (!message.is_object() || !message.contains("role") || !message.contains("content") ||
        !message["role"].is_string() || !message["content"].is_string())
      return bad(
          fmt::format("message {} has no role and content as strings", conversation.size() + 1));
    conversation.push_back(
        {message["role"].get<std::string>(), message["content"].get<std::string>()});
  }
  return conversation;
}

Result<void> save_conversation(const std::string& path, const Conversation& conversation) {
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  for (const text::ChatMessage& message : conversation)
    json.push_back({{"role", message.role}, {"content", message.content}});
  return write_file_atomically(
      path, json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n");
}

}  // namespace hwtv::app
