#include <fmt/format.h>

#include <filesystem>

#include "app/chat_prompt.h"
#include "base/file.h"

namespace hwtv::app {
namespace {

struct NamedTemplate {
  const char* name;
  const char* source;
};

// The turn markers of common families, for models whose file carries no template.
constexpr NamedTemplate kNamed[] = {
    {"chatml",
     "{% for m in messages %}{{ '<|im_start|>' + m.role + '\\n' + m.content + '<|im_end|>\\n' }}"
     "{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}"},
    {"llama2",
     "{% set ns = namespace(system='') %}{% for m in messages %}{% if m.role == 'system' %}"
     "{% set ns.system = '<<SYS>>\\n' + m.content + '\\n<</SYS>>\\n\\n' %}{% elif m.role == 'user' "
     "%}"
     "{{ bos_token + '[INST] ' + ns.system + m.content + ' [/INST]' }}{% set ns.system = '' %}"
     "{% else %}{{ ' ' + m.content + ' ' + eos_token }}{% endif %}{% endfor %}"},
    {"llama3",
     "{{ bos_token }}{% for m in messages %}{{ '<|start_header_id|>' + m.role + "
     "'<|end_header_id|>\\n\\n'"
     " + m.content + '<|eot_id|>' }}{% endfor %}{% if add_generation_prompt %}"
     "{{ '<|start_header_id|>assistant<|end_header_id|>\\n\\n' }}{% endif %}"},
    {"gemma",
     "{{ bos_token }}{% for m in messages %}{{ '<start_of_turn>' + ('model' if m.role == "
     "'assistant' "
     "else 'user') + '\\n' + m.content + '<end_of_turn>\\n' }}{% endfor %}{% if "
     "add_generation_prompt %}"
     "{{ '<start_of_turn>model\\n' }}{% endif %}"},
};

}  // namespace

Result<std::string> template_source(const std::string& name_or_file) {
  std::string names;
  for (const NamedTemplate& named : kNamed) {
    if (name_or_file == named.name) return std::string(named.source);
    names += std::string(names.empty() ? "" : ", ") + named.name;
  }
  std::error_code code;
  if (std::filesystem::exists(name_or_file, code))
    return read_file(name_or_file, int64_t{16} << 20);
  return fail(ErrorCode::invalid_request,
              fmt::format("there is no template {} and no such file", name_or_file),
              fmt::format("use one of {}, or a file's path", names));
}

}  // namespace hwtv::app
