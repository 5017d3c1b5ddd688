#include "app/run_journal.h"

#include <fmt/format.h>

#include <chrono>
#include <cstdio>

#include "app/note.h"
#include "app/version.h"
#include "journal/journal.h"

namespace hwtv::app {
namespace {

// Tells two files of one name apart without reading them whole.
std::string model_id(const gguf::File& file) {
  uint64_t hash = 1469598103934665603ull;
  const auto mix = [&](std::string_view bytes) {
    for (const char c : bytes) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ull;
  };
  for (const gguf::TensorInfo& tensor : file.tensors()) {
    mix(tensor.name);
    mix(fmt::format("{}/{}/{}", tensor.type_id, tensor.n_elements, tensor.offset_bytes));
    const size_t n_sampled = static_cast<size_t>(std::min<int64_t>(tensor.n_bytes, 64));
    mix({reinterpret_cast<const char*>(tensor.data), n_sampled});
  }
  return fmt::format("{}-{:016x}", file.size_bytes(), hash);
}

Result<void> append(const std::string& command, Session& session, const std::string& account) {
  HWTV_TRY(journal::Journal journal, journal::Journal::open_default());
  if (!journal.notice().empty()) note("hwtv: {}\n", journal.notice());
  journal::RunRecord record;
  record.time_s =
      std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  record.version = version();
  record.fingerprint = session.device().machine().fingerprint;
  record.command = command;
  const std::string& path = session.model().file().path();
  record.model = path.substr(path.rfind('/') + 1);
  record.model_id = model_id(session.model().file());
  record.account = account;
  HWTV_TRY(const int64_t id, journal.append(record));
  (void)id;
  return {};
}

}  // namespace

void keep_run(const std::string& command, Session& session, const std::string& account) {
  if (const auto kept = append(command, session, account); !kept)
    note("hwtv: this run is not in the journal: {} ({})\n", kept.error().what,
               kept.error().advice);
}

}  // namespace hwtv::app
