// A folder for one test's files, gone with the object.
#pragma once
#include <cstdlib>
#include <filesystem>
#include <string>

namespace hwtv::gguf {

class TemporaryFolder {
 public:
  TemporaryFolder()
      : path_((std::filesystem::temp_directory_path() / "hwtv_gguf_XXXXXX").string()) {
    if (!::mkdtemp(path_.data())) std::abort();
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace hwtv::gguf
