// What was meant by a word that nothing bears as a name: for the advice of errors.
#pragma once
#include <span>
#include <string>
#include <string_view>

namespace hwtv {

// The candidate with the fewest edits to `word`; empty when none is near.
std::string nearest(std::string_view word, std::span<const std::string> candidates);

}  // namespace hwtv
