#include "app/commands.h"

namespace hwtv::app {

std::vector<Command> all_commands() {
  return {
      make_run_command(),        make_chat_command(),     make_tokenize_command(),
      make_detokenize_command(), make_logits_command(),   make_perplexity_command(),
      make_embed_command(),      make_rerank_command(),   make_bench_command(),
      make_kernels_command(),    make_quantize_command(), make_imatrix_command(),
      make_convert_command(),    make_prune_command(),    make_inspect_command(),
      make_devices_command(),    make_history_command(),  make_pull_command(),
      make_list_command(),       make_rm_command(),       make_completions_command(),
  };
}

}  // namespace hwtv::app
