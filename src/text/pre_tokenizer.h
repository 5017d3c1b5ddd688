// Cuts a text into the words that byte-level BPE merges within.  For byte_pair.cc.
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

#include "text/pattern.h"
#include "text/pre_tokenizer_rules.h"

namespace hwtv::text {

class PreTokenizer {
 public:
  explicit PreTokenizer(const PreTokenizerRule& rule);

  // Room that one caller reuses from text to text.
  struct Scratch {
    std::vector<uint8_t> symbols;  // per byte of the text
    std::vector<uint32_t> ends;    // of the words, as byte offsets
    std::vector<uint32_t> previous;
  };

  // Fills scratch.ends; no word is empty and the last ends where the text does.
  // False: the text is not UTF-8 in its shortest form; nothing is filled.
  // Requires: text.size() < 2^32.
  bool split(std::string_view text, Scratch& scratch) const;

 private:
  struct Stage {
    Pass::Kind kind;
    int automaton;  // index, for Kind::pattern
  };

  bool classify(std::string_view text, std::vector<uint8_t>& symbols) const;
  void cut(const Stage& stage, const uint8_t* symbols, uint32_t begin, uint32_t end,
           std::vector<uint32_t>& ends) const;
  void cut_matches(const Automaton& automaton, const uint8_t* symbols, uint32_t begin, uint32_t end,
                   std::vector<uint32_t>& ends) const;
  void cut_groups(int set, bool cut_behind, const uint8_t* symbols, uint32_t begin, uint32_t end,
                  std::vector<uint32_t>& ends) const;
  void cut_space_at_end(const uint8_t* symbols, uint32_t begin, uint32_t end,
                        std::vector<uint32_t>& ends) const;

  std::vector<CodePointSet> sets_;  // filled by patterns_
  std::vector<Stage> stages_;
  std::vector<Pattern> patterns_;
  Alphabet alphabet_;
  int space_, number_, digit_;  // sets of the alphabet
  std::vector<Automaton> automata_;
};

}  // namespace hwtv::text
