// write_bad_files FOLDER: every bad file as FOLDER/NAME.gguf, and FOLDER/index.tsv with a line
// "NAME <tab> error code <tab> byte" each.  For the acceptance run and as a fuzzing corpus.
#include <fmt/format.h>

#include <cstdio>

#include "base/file.h"
#include "tests/gguf/bad_files.h"

namespace {

hwtv::Result<void> write_all(const std::string& folder) {
  HWTV_TRY_VOID(hwtv::make_folders(folder));
  std::string index;
  for (const hwtv::gguf::BadFile& bad : hwtv::gguf::bad_files()) {
    HWTV_TRY_VOID(hwtv::write_file_atomically(folder + "/" + bad.name + ".gguf", bad.bytes));
    index += fmt::format("{}\t{}\t{}\n", bad.name, hwtv::error_code_name(bad.code), bad.at_byte);
  }
  return hwtv::write_file_atomically(folder + "/index.tsv", index);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    fmt::print(stderr, "usage: {} FOLDER\n", argv[0]);
    return 2;
  }
  const auto written = write_all(argv[1]);
  if (!written) fmt::print(stderr, "{}; {}\n", written.error().what, written.error().advice);
  return written ? 0 : 1;
}
