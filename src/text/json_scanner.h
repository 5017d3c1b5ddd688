// Finds the end of one JSON value in a text that arrives in pieces, and whether it is one.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace hwtv::text {

bool is_json_number(std::string_view text);

class JsonScanner {
 public:
  enum class Status { more, done, bad };

  // Reads the value, after spaces, as far as it goes in `text`; gives back how many bytes that
  // were.  A byte that can't be here is not read, nor is what follows the value.
  size_t read(std::string_view text);
  // No more text follows: a number is whole now.
  void end();

  Status status() const { return status_; }

 private:
  enum class State {
    value,        // one must begin here
    first_value,  // or the array ends
    first_key,    // or the object ends
    key,          // must begin here
    colon,
    after_value,  // comma, or the end of what is open
    string,       // a value's or a key's
    escape,
    hex,
    word,
    number,
  };

  bool step(char c);
  bool begin_value(char c);
  bool in_string(char c);
  bool close(char c);
  bool after_value(char c);
  bool end_number();
  void value_done();

  Status status_ = Status::more;
  State state_ = State::value;
  std::string open_;       // a bracket for each array or object that is open
  std::string number_;     // so far
  std::string_view word_;  // what must still come of true, false, null
  int n_hex_ = 0;
  bool is_key_ = false;  // the string that is open
};

}  // namespace hwtv::text
