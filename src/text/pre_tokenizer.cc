#include "text/pre_tokenizer.h"

#include <utility>

namespace hwtv::text {

namespace {

CodePointSet digits() {
  CodePointSet set;
  set.ranges.push_back({'0', '9'});
  return set;
}

std::vector<Pattern> parse(std::span<const Pass> passes, std::vector<CodePointSet>& sets) {
  std::vector<Pattern> patterns;
  for (const Pass& pass : passes) {
    if (pass.kind == Pass::Kind::pattern) patterns.emplace_back(pass.pattern, sets);
  }
  return patterns;
}

// The sets that the passes without a pattern ask for.
std::vector<CodePointSet> with_own_sets(std::vector<CodePointSet> sets) {
  sets.push_back(set_of_class(CodePointClass::space));
  sets.push_back(set_of_class(CodePointClass::number));
  sets.push_back(digits());
  return sets;
}

}  // namespace

PreTokenizer::PreTokenizer(const PreTokenizerRule& rule)
    : patterns_(parse(rule.passes, sets_)),
      alphabet_(with_own_sets(sets_)),
      space_(alphabet_.find(set_of_class(CodePointClass::space))),
      number_(alphabet_.find(set_of_class(CodePointClass::number))),
      digit_(alphabet_.find(digits())) {
  for (const Pass& pass : rule.passes) {
    stages_.push_back({pass.kind, static_cast<int>(automata_.size())});
    if (pass.kind == Pass::Kind::pattern) {
      automata_.emplace_back(patterns_[automata_.size()], alphabet_);
    }
  }
}

bool PreTokenizer::split(std::string_view text, Scratch& scratch) const {
  if (!classify(text, scratch.symbols)) return false;
  scratch.ends.clear();
  if (text.empty()) return true;
  scratch.ends.push_back(static_cast<uint32_t>(text.size()));
  for (const Stage& stage : stages_) {
    std::swap(scratch.ends, scratch.previous);
    scratch.ends.clear();
    uint32_t begin = 0;
    for (const uint32_t end : scratch.previous) {
      cut(stage, scratch.symbols.data(), begin, end, scratch.ends);
      begin = end;
    }
  }
  return true;
}

bool PreTokenizer::classify(std::string_view text, std::vector<uint8_t>& symbols) const {
  symbols.resize(text.size());
  for (size_t at = 0; at < text.size();) {
    const uint8_t byte = static_cast<uint8_t>(text[at]);
    if (byte < 0x80) {
      symbols[at++] = alphabet_.ascii(byte);
      continue;
    }
    const Decoded decoded = decode_utf8(text, at);
    const uint32_t c = decoded.code_point;
    const uint32_t shortest = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    if (!decoded.valid || decoded.n_bytes != shortest) return false;
    symbols[at] = alphabet_.symbol(c);
    for (uint32_t i = 1; i < shortest; ++i) symbols[at + i] = Alphabet::kContinuation;
    at += shortest;
  }
  return true;
}

void PreTokenizer::cut(const Stage& stage, const uint8_t* symbols, uint32_t begin, uint32_t end,
                       std::vector<uint32_t>& ends) const {
  switch (stage.kind) {
    case Pass::Kind::pattern:
      return cut_matches(automata_[static_cast<size_t>(stage.automaton)], symbols, begin, end,
                         ends);
    case Pass::Kind::space_at_end:
      return cut_space_at_end(symbols, begin, end, ends);
    case Pass::Kind::number_groups:
      return cut_groups(number_, true, symbols, begin, end, ends);
    case Pass::Kind::digit_groups:
      return cut_groups(digit_, false, symbols, begin, end, ends);
  }
}

void PreTokenizer::cut_matches(const Automaton& automaton, const uint8_t* symbols, uint32_t begin,
                               uint32_t end, std::vector<uint32_t>& ends) const {
  uint32_t word = begin;  // start of what no match has taken yet
  for (uint32_t at = begin; at < end;) {
    const int64_t length = automaton.match(symbols, at, end);
    if (length < 0) {
      do ++at;
      while (at < end && symbols[at] == Alphabet::kContinuation);
      continue;
    }
    if (word < at) ends.push_back(at);
    at += static_cast<uint32_t>(length);
    ends.push_back(at);
    word = at;
  }
  if (word < end) ends.push_back(end);
}

void PreTokenizer::cut_groups(int set, bool cut_behind, const uint8_t* symbols, uint32_t begin,
                              uint32_t end, std::vector<uint32_t>& ends) const {
  const auto cut_at = [&](uint32_t at) {
    if (at > begin && (ends.empty() || ends.back() < at)) ends.push_back(at);
  };
  std::vector<uint32_t> run;  // starts of the characters of a run of the set
  for (uint32_t at = begin; at < end;) {
    run.clear();
    while (at < end && alphabet_.set_contains(set, symbols[at])) {
      run.push_back(at);
      do ++at;
      while (at < end && symbols[at] == Alphabet::kContinuation);
    }
    if (run.empty()) {
      ++at;
      continue;
    }
    // A number's first group keeps the text before it; digits are cut in front of it too.
    size_t first = run.size() % 3;
    if (first == 0 && cut_behind) first = 3;
    for (size_t i = first; i < run.size(); i += 3) cut_at(run[i]);
    if (cut_behind) cut_at(at);
  }
  cut_at(end);
}

void PreTokenizer::cut_space_at_end(const uint8_t* symbols, uint32_t begin, uint32_t end,
                                    std::vector<uint32_t>& ends) const {
  uint32_t space = end;
  for (uint32_t at = end; at-- > begin;) {
    if (symbols[at] == Alphabet::kContinuation) continue;
    if (!alphabet_.set_contains(space_, symbols[at])) break;
    space = at;
  }
  if (begin < space && space < end) ends.push_back(space);
  ends.push_back(end);
}

}  // namespace hwtv::text
