// Ends an answer at the first of some strings and holds back text that may still become one, so
// that nothing is printed that has to be taken back.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/stop_watch.h"
#include "text/stream_detokenizer.h"

namespace hwtv::constrain {

class StopStrings final : public engine::StopWatch {
 public:
  // Empty strings are ignored; an empty list never stops and holds nothing back.
  StopStrings(text::StreamDetokenizer detokenizer, std::vector<std::string> stops);

  bool accept(int32_t token) override;

  // The text that is certain since the last call: whole UTF-8 characters, without the stop string
  // and what follows it.
  std::string take_text();

  // Says that no token follows; what was held back becomes certain.
  void finish();

 private:
  void add_text(std::string_view text);
  size_t n_held_back() const;

  text::StreamDetokenizer detokenizer_;
  const std::vector<std::string> stops_;
  std::string pending_;  // not yet certain
  std::string certain_;
  bool stopped_ = false;
};

}  // namespace hwtv::constrain
