// The regular expressions of pre-tokenizers, as automata that read each byte once or twice and need
// no stack: a line of 10 MB of spaces is split as fast as prose.  For pre_tokenizer.cc.
//
// The dialect is what these expressions use: literals, \s \d \p{..}, [..] with ranges and ^,
// groups, |, ? * + {m} {m,n}, and (?!\S) at the end of an alternative.  Matching is leftmost, and
// among the matches there the one a backtracking engine would find first.
#pragma once
#include <array>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "text/unicode.h"

namespace hwtv::text {

// A set of code points.  White space beyond ASCII belongs to \s only, never to a range: so it is in
// the tokenizers this agrees with.
struct CodePointSet {
  uint32_t classes = 0;  // bit c: all code points of CodePointClass c
  uint32_t classes_beyond_ascii = 0;
  std::vector<std::pair<uint32_t, uint32_t>> ranges;    // first, last
  std::vector<std::pair<uint32_t, uint32_t>> excluded;  // of all the above
  bool negated = false;

  bool contains(uint32_t code_point, CodePointClass cls) const;
  bool operator==(const CodePointSet&) const = default;
};

CodePointSet set_of_class(CodePointClass cls);

// Code points -> the symbols that a group of patterns can tell apart, at most 200.
class Alphabet {
 public:
  static constexpr uint8_t kContinuation = 0;  // a UTF-8 continuation byte
  static constexpr uint8_t kEnd = 1;           // the end of the text

  explicit Alphabet(std::vector<CodePointSet> sets);

  int n_symbols() const { return n_symbols_; }
  int n_sets() const { return static_cast<int>(sets_.size()); }
  int find(const CodePointSet& set) const;  // Requires: it is one of the sets
  bool set_contains(int set, uint8_t symbol) const { return signatures_[symbol] >> set & 1; }

  uint8_t ascii(uint8_t byte) const { return ascii_[byte]; }
  uint8_t symbol(uint32_t code_point) const {
    return blocks_[block_of_[code_point >> 8]][code_point & 0xFF];
  }

 private:
  uint8_t symbol_of_signature(uint64_t signature);
  void fill_blocks();

  std::vector<CodePointSet> sets_;
  std::vector<uint64_t> signatures_;  // per symbol: bit s set if sets_[s] contains it
  int n_symbols_ = 0;
  std::array<uint8_t, 128> ascii_{};
  std::array<uint16_t, kCodePoints / 256> block_of_{};
  std::vector<std::array<uint8_t, 256>> blocks_;
};

// A parsed pattern: a Thompson automaton whose splits are ordered by preference.
class Pattern {
 public:
  // Appends the sets it uses to `sets`.  Requires: the dialect above (patterns are part of the
  // program; a wrong one is a bug).
  Pattern(std::string_view source, std::vector<CodePointSet>& sets);

  struct Node {
    enum class Kind : uint8_t { set, split, before, match } kind;
    int set = -1;  // set: what it consumes; before: what must follow, or the end
    int next = -1;
    int other = -1;  // split: the less preferred way
  };
  const std::vector<Node>& nodes() const { return nodes_; }
  int start() const { return start_; }

 private:
  std::vector<Node> nodes_;
  int start_;
};

// A pattern over an alphabet, made deterministic.
class Automaton {
 public:
  Automaton(const Pattern& pattern, const Alphabet& alphabet);

  // Length of the match that begins at symbols[begin], or -1.  Looks no further than `end`.
  int64_t match(const uint8_t* symbols, int64_t begin, int64_t end) const {
    const uint16_t* state = table_.data() + start_;
    int64_t at = begin, matched = -1;
    while (true) {
      const uint16_t step = state[at < end ? symbols[at] : Alphabet::kEnd];
      if (step & kMatchedBefore) matched = at;
      const uint16_t next = step & ~kMatchedBefore;
      if (next == kDead) return matched < 0 ? -1 : matched - begin;
      state = table_.data() + static_cast<size_t>(next) * n_symbols_;
      ++at;
    }
  }

 private:
  static constexpr uint16_t kMatchedBefore = 0x8000;
  static constexpr uint16_t kDead = 0;

  size_t n_symbols_;
  size_t start_;                 // offset of the start state's row
  std::vector<uint16_t> table_;  // (state, symbol) -> next state | kMatchedBefore; row 0 is kDead's
};

}  // namespace hwtv::text
