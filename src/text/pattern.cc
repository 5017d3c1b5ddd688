#include "text/pattern.h"

#include <algorithm>
#include <iterator>
#include <map>

#include "base/check.h"

namespace hwtv::text {

namespace {

constexpr uint32_t bit(CodePointClass cls) { return 1u << static_cast<int>(cls); }

// Ideographs as the one tokenizer that asks for them (Kimi K2) counts them: whole blocks.
constexpr std::pair<uint32_t, uint32_t> kHan[] = {
    {0x3400, 0x4DBF},   {0x4E00, 0x9FFF},   {0xF900, 0xFAFF},
    {0x20000, 0x2A6DF}, {0x2A700, 0x2B73F}, {0x2B740, 0x2B81F},
    {0x2B820, 0x2CEAF}, {0x2CEB0, 0x2EBEF}, {0x2F800, 0x2FA1F}};

struct Tree {
  enum class Kind { set, sequence, choice, repeat, before } kind;
  int set = -1;
  int min = 1, max = 1;  // repeat; max -1: no limit
  std::vector<Tree> children = {};
};

// Recursive descent over one pattern.
class Parser {
 public:
  Parser(std::string_view source, std::vector<CodePointSet>& sets) : source_(source), sets_(sets) {}

  Tree parse() {
    Tree tree = choice();
    CHECK(at_ == source_.size());
    return tree;
  }

 private:
  bool more() const { return at_ < source_.size(); }
  char peek() const { return more() ? source_[at_] : '\0'; }
  bool accept(std::string_view text) {
    if (source_.substr(at_, text.size()) != text) return false;
    at_ += text.size();
    return true;
  }

  Tree choice() {
    Tree tree{.kind = Tree::Kind::choice};
    do tree.children.push_back(sequence());
    while (accept("|"));
    return tree;
  }

  Tree sequence() {
    Tree tree{.kind = Tree::Kind::sequence};
    while (more() && peek() != '|' && peek() != ')') tree.children.push_back(repeated());
    return tree;
  }

  Tree repeated() {
    Tree atom = this->atom();
    Tree tree{.kind = Tree::Kind::repeat};
    if (accept("?")) {
      tree.min = 0;
    } else if (accept("*")) {
      tree.min = 0;
      tree.max = -1;
    } else if (accept("+")) {
      tree.max = -1;
    } else if (accept("{")) {
      tree.min = tree.max = number();
      if (accept(",")) tree.max = number();
      CHECK(accept("}"));
    } else {
      return atom;
    }
    tree.children.push_back(std::move(atom));
    return tree;
  }

  int number() {
    int n = 0;
    CHECK(peek() >= '0' && peek() <= '9');
    while (peek() >= '0' && peek() <= '9') n = n * 10 + (source_[at_++] - '0');
    return n;
  }

  Tree atom() {
    if (accept("(?!\\S)")) {
      return {.kind = Tree::Kind::before, .set = add(set_of_class(CodePointClass::space))};
    }
    if (accept("(?:") || accept("(")) {
      Tree tree = choice();
      CHECK(accept(")"));
      return tree;
    }
    CodePointSet set;
    if (accept("[")) {
      set.negated = accept("^");
      while (!accept("]")) element(set);
    } else {
      element(set);
    }
    return {.kind = Tree::Kind::set, .set = add(std::move(set))};
  }

  // One member of a [..], or a set of its own outside: a class, a character or a range.
  void element(CodePointSet& set) {
    if (accept("\\s")) {
      set.classes |= bit(CodePointClass::space);
    } else if (accept("\\d")) {
      set.ranges.push_back({'0', '9'});
    } else if (accept("\\p{")) {
      property(set);
    } else {
      const uint32_t first = character();
      uint32_t last = first;
      if (source_.substr(at_, 1) == "-" && source_.substr(at_, 2) != "-]") {
        ++at_;
        last = character();
      }
      CHECK(first <= last);
      set.ranges.push_back({first, last});
    }
  }

  void property(CodePointSet& set) {
    static const std::map<std::string_view, CodePointClass> kClasses = {
        {"L", CodePointClass::letter},
        {"N", CodePointClass::number},
        {"M", CodePointClass::mark},
        {"P", CodePointClass::punctuation},
        {"S", CodePointClass::symbol}};
    const size_t end = source_.find('}', at_);
    const std::string_view name = source_.substr(at_, end - at_);
    at_ = end + 1;
    // Two of our own: \p{LBeyondAscii} and \p{LNotHan}.
    if (name == "LBeyondAscii") {
      set.classes_beyond_ascii |= bit(CodePointClass::letter);
    } else if (name == "LNotHan") {
      set.classes |= bit(CodePointClass::letter);
      set.excluded.assign(std::begin(kHan), std::end(kHan));
    } else if (name == "Han") {
      set.ranges.insert(set.ranges.end(), std::begin(kHan), std::end(kHan));
    } else {
      const auto found = kClasses.find(name);
      CHECK(found != kClasses.end());
      set.classes |= bit(found->second);
    }
  }

  uint32_t character() {
    CHECK(more());
    if (accept("\\x{")) {
      uint32_t code_point = 0;
      while (peek() != '}') {
        const char c = source_[at_++];
        CHECK((c >= '0' && c <= '9') || (c >= 'A' && c <= 'F'));
        code_point = code_point * 16 + static_cast<uint32_t>(c <= '9' ? c - '0' : c - 'A' + 10);
      }
      ++at_;
      return code_point;
    }
    if (accept("\\r")) return '\r';
    if (accept("\\n")) return '\n';
    if (accept("\\t")) return '\t';
    accept("\\");
    const Decoded decoded = decode_utf8(source_, at_);
    at_ += decoded.n_bytes;
    return decoded.code_point;
  }

  int add(CodePointSet set) {
    const auto found = std::find(sets_.begin(), sets_.end(), set);
    if (found != sets_.end()) return static_cast<int>(found - sets_.begin());
    sets_.push_back(std::move(set));
    return static_cast<int>(sets_.size()) - 1;
  }

  std::string_view source_;
  std::vector<CodePointSet>& sets_;
  size_t at_ = 0;
};

// Writes a tree's automaton in front of the node `next`; returns its first node.
int emit(const Tree& tree, int next, std::vector<Pattern::Node>& nodes) {
  using Kind = Pattern::Node::Kind;
  const auto add = [&](Pattern::Node node) {
    nodes.push_back(node);
    return static_cast<int>(nodes.size()) - 1;
  };
  switch (tree.kind) {
    case Tree::Kind::set:
      return add({.kind = Kind::set, .set = tree.set, .next = next});
    case Tree::Kind::before:
      return add({.kind = Kind::before, .set = tree.set, .next = next});
    case Tree::Kind::sequence: {
      for (size_t i = tree.children.size(); i-- > 0;) next = emit(tree.children[i], next, nodes);
      return next;
    }
    case Tree::Kind::choice: {
      int way = -1;
      for (size_t i = tree.children.size(); i-- > 0;) {
        const int first = emit(tree.children[i], next, nodes);
        way = way < 0 ? first : add({.kind = Kind::split, .next = first, .other = way});
      }
      return way;
    }
    case Tree::Kind::repeat:
      break;
  }
  const Tree& body = tree.children[0];
  if (tree.max < 0) {
    const int loop = add({.kind = Kind::split, .other = next});
    const int first = emit(body, loop, nodes);
    nodes[static_cast<size_t>(loop)].next = first;
    next = loop;
  }
  for (int i = tree.min; i < tree.max; ++i) {
    next = add({.kind = Kind::split, .next = emit(body, next, nodes), .other = next});
  }
  for (int i = 0; i < tree.min; ++i) next = emit(body, next, nodes);
  return next;
}

// Builds the states of an Automaton: each is a list of nodes, most preferred first.
class Determinizer {
 public:
  using State = std::vector<int>;

  Determinizer(const Pattern& pattern, const Alphabet& alphabet)
      : nodes_(pattern.nodes()), alphabet_(alphabet) {}

  State start(int node) {
    begin();
    State state;
    follow(node, state);
    return state;
  }

  // The state after `symbol`; `matched` tells whether a match ended before it.
  State step(const State& state, uint8_t symbol, bool& matched) {
    const State ready = pass_conditions(state, symbol);
    begin();
    State next;
    matched = false;
    for (const int i : ready) {
      const Pattern::Node& node = nodes_[static_cast<size_t>(i)];
      if (node.kind == Pattern::Node::Kind::match) {
        matched = true;
        break;  // whatever is less preferred has lost
      }
      CHECK(node.kind == Pattern::Node::Kind::set);
      if (symbol != Alphabet::kEnd && alphabet_.set_contains(node.set, symbol)) {
        follow(node.next, next);
      }
    }
    return next;
  }

 private:
  void begin() { seen_.assign(nodes_.size(), false); }

  void follow(int i, State& state) {
    if (seen_[static_cast<size_t>(i)]) return;
    seen_[static_cast<size_t>(i)] = true;
    const Pattern::Node& node = nodes_[static_cast<size_t>(i)];
    if (node.kind != Pattern::Node::Kind::split) return state.push_back(i);
    follow(node.next, state);
    follow(node.other, state);
  }

  State pass_conditions(const State& state, uint8_t symbol) {
    begin();
    State ready;
    for (const int i : state) {
      const Pattern::Node& node = nodes_[static_cast<size_t>(i)];
      if (node.kind != Pattern::Node::Kind::before) {
        follow(i, ready);
      } else if (symbol == Alphabet::kEnd || alphabet_.set_contains(node.set, symbol)) {
        follow(node.next, ready);
      }
    }
    return ready;
  }

  const std::vector<Pattern::Node>& nodes_;
  const Alphabet& alphabet_;
  std::vector<bool> seen_;
};

}  // namespace

bool CodePointSet::contains(uint32_t code_point, CodePointClass cls) const {
  const auto in_any = [&](const auto& list) {
    return std::any_of(list.begin(), list.end(), [&](const auto& range) {
      return range.first <= code_point && code_point <= range.second;
    });
  };
  bool in = (classes | (code_point > 0x7F ? classes_beyond_ascii : 0)) & bit(cls);
  if (code_point <= 0x7F || cls != CodePointClass::space) in |= in_any(ranges);
  in &= !in_any(excluded);
  return in != negated;
}

CodePointSet set_of_class(CodePointClass cls) {
  CodePointSet set;
  set.classes = bit(cls);
  return set;
}

Alphabet::Alphabet(std::vector<CodePointSet> sets) : sets_(std::move(sets)) {
  CHECK(sets_.size() <= 64);
  signatures_.assign(2, 0);  // kContinuation and kEnd are in no set
  n_symbols_ = 2;
  fill_blocks();
  for (uint32_t c = 0; c < 128; ++c) ascii_[c] = symbol(c);
}

int Alphabet::find(const CodePointSet& set) const {
  const auto found = std::find(sets_.begin(), sets_.end(), set);
  CHECK(found != sets_.end());
  return static_cast<int>(found - sets_.begin());
}

uint8_t Alphabet::symbol_of_signature(uint64_t signature) {
  const auto found = std::find(signatures_.begin() + 2, signatures_.end(), signature);
  if (found != signatures_.end()) return static_cast<uint8_t>(found - signatures_.begin());
  CHECK(n_symbols_ < 200);
  signatures_.push_back(signature);
  return static_cast<uint8_t>(n_symbols_++);
}

void Alphabet::fill_blocks() {
  // Between two neighbouring borders of any class or range, all code points look alike.
  std::vector<uint32_t> borders{0, kCodePoints};
  for (const uint32_t packed : packed_class_ranges()) {
    borders.push_back(unpack_class_range(packed).first);
  }
  for (const CodePointSet& set : sets_) {
    for (const auto* list : {&set.ranges, &set.excluded}) {
      for (const auto& [first, last] : *list) borders.insert(borders.end(), {first, last + 1});
    }
  }
  borders.push_back(0x80);
  std::sort(borders.begin(), borders.end());
  borders.erase(std::unique(borders.begin(), borders.end()), borders.end());

  std::vector<uint8_t> symbols(kCodePoints);
  const auto ranges = packed_class_ranges();
  size_t range = 0;
  for (size_t i = 0; i + 1 < borders.size(); ++i) {
    const uint32_t c = borders[i];
    while (range + 1 < ranges.size() && unpack_class_range(ranges[range + 1]).first <= c) ++range;
    uint64_t signature = 0;
    for (size_t s = 0; s < sets_.size(); ++s) {
      const bool in = sets_[s].contains(c, unpack_class_range(ranges[range]).cls);
      signature |= static_cast<uint64_t>(in) << s;
    }
    std::fill(symbols.begin() + c, symbols.begin() + borders[i + 1],
              symbol_of_signature(signature));
  }

  std::map<std::array<uint8_t, 256>, uint16_t> seen;
  for (size_t b = 0; b < block_of_.size(); ++b) {
    std::array<uint8_t, 256> block;
    std::copy_n(symbols.begin() + static_cast<ptrdiff_t>(b * 256), 256, block.begin());
    const auto [entry, is_new] = seen.emplace(block, static_cast<uint16_t>(blocks_.size()));
    if (is_new) blocks_.push_back(block);
    block_of_[b] = entry->second;
  }
}

Pattern::Pattern(std::string_view source, std::vector<CodePointSet>& sets) {
  const Tree tree = Parser(source, sets).parse();
  nodes_.push_back({.kind = Node::Kind::match});
  start_ = emit(tree, 0, nodes_);
}

Automaton::Automaton(const Pattern& pattern, const Alphabet& alphabet)
    : n_symbols_(static_cast<size_t>(alphabet.n_symbols())) {
  Determinizer determinizer(pattern, alphabet);
  std::map<Determinizer::State, uint16_t> ids{{{}, kDead}};
  std::vector<Determinizer::State> states{{}, determinizer.start(pattern.start())};
  ids.emplace(states[1], 1);
  start_ = n_symbols_;
  table_.assign(n_symbols_, kDead);
  for (size_t s = 1; s < states.size(); ++s) {
    table_.resize((s + 1) * n_symbols_);
    for (size_t symbol = 0; symbol < n_symbols_; ++symbol) {
      uint16_t& step = table_[s * n_symbols_ + symbol];
      if (symbol == Alphabet::kContinuation) {  // bytes of a character that was read already
        step = static_cast<uint16_t>(s);
        continue;
      }
      bool matched = false;
      const Determinizer::State next =
          determinizer.step(states[s], static_cast<uint8_t>(symbol), matched);
      const auto [entry, is_new] = ids.emplace(next, static_cast<uint16_t>(states.size()));
      if (is_new) states.push_back(next);
      CHECK(states.size() < kMatchedBefore);
      step = static_cast<uint16_t>(entry->second | (matched ? kMatchedBefore : 0));
    }
  }
}

}  // namespace hwtv::text
