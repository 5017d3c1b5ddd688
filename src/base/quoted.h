// A name out of a file as a message may show it: in single quotes, everything but printable ASCII
// escaped, long names cut.  For every message that repeats bytes of a file.
#pragma once
#include <string>
#include <string_view>

namespace hwtv {

std::string quoted(std::string_view text);  // 'blk.0.attn_q.weight', 'a\x1b[2J'

}  // namespace hwtv
