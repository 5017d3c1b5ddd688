// The folder below which the machine is read: "/" for this machine, a fixture in tests.  Every
// reader of probe/ takes one.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "probe/observed.h"

namespace hwtv::probe {

class Root {
 public:
  explicit Root(std::string folder = "/");

  // `path` begins with '/' and is taken below the root.
  Observed<std::string> text(const std::string& path) const;  // the whole file, at most 64 MiB
  Observed<std::string> line(const std::string& path) const;  // its first line, spaces trimmed
  Observed<int64_t> number(const std::string& path) const;    // its first line as a decimal number
  Observed<std::vector<int>> cpu_list(const std::string& path) const;  // "0-3,8"
  bool has(const std::string& path) const;

  // The numbers N of the entries `path`/PREFIXn, ascending: numbered("/sys/devices/system/node",
  // "node") -> {0, 1}.  Empty when there are none.
  std::vector<int> numbered(const std::string& path, const std::string& prefix) const;
  // The names in the folder, sorted.
  Observed<std::vector<std::string>> names(const std::string& path) const;

 private:
  std::string folder_;  // without a trailing slash
};

}  // namespace hwtv::probe
