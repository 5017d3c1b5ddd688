#include "app/prompt_rows.h"

namespace hwtv::app {

Result<void> for_each_prompt_row(Session& session, const std::vector<int32_t>& tokens,
                                 int64_t first_position, const engine::RowSink& on_row) {
  engine::SequenceRequest request;
  request.prompt = tokens;
  request.adapters = session.adapters();
  request.prompt_rows = on_row;
  request.prompt_rows_from = first_position;
  engine::Engine& engine = session.engine();
  HWTV_TRY(const engine::SequenceId id, engine.add(std::move(request)));
  (void)id;
  while (!engine.idle()) HWTV_TRY_VOID(engine.step());
  return {};
}

}  // namespace hwtv::app
