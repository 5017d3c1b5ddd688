// Every command of the program.  Adding one: a file <name>_command.cc with its make function,
// declared here, and a row in commands.cc.
#pragma once
#include <vector>

#include "app/command.h"

namespace hwtv::app {

std::vector<Command> all_commands();

Command make_run_command();
Command make_chat_command();
Command make_tokenize_command();
Command make_detokenize_command();
Command make_logits_command();
Command make_perplexity_command();
Command make_bench_command();
Command make_kernels_command();
Command make_quantize_command();
Command make_imatrix_command();
Command make_convert_command();
Command make_prune_command();
Command make_inspect_command();
Command make_devices_command();
Command make_embed_command();
Command make_history_command();
Command make_list_command();
Command make_rerank_command();
Command make_rm_command();
Command make_pull_command();
Command make_completions_command();

}  // namespace hwtv::app
