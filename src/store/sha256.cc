#include "store/sha256.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <openssl/evp.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <vector>

#include "store/shared_library.h"
#include "store/words.h"

namespace hwtv::store {
namespace {

constexpr size_t kHexDigits = 64;
constexpr size_t kPieceBytes = 1 << 20;

struct CryptoLibrary {
  decltype(&::EVP_MD_CTX_new) context_new;
  decltype(&::EVP_MD_CTX_free) context_free;
  decltype(&::EVP_sha256) sha256;
  decltype(&::EVP_DigestInit_ex) init;
  decltype(&::EVP_DigestUpdate) update;
  decltype(&::EVP_DigestFinal_ex) final;

  static Result<CryptoLibrary> open() {
    void* library = open_library("libcrypto.so.3");
    CryptoLibrary crypto{};
    if (library && find_function(library, "EVP_MD_CTX_new", crypto.context_new) &&
        find_function(library, "EVP_MD_CTX_free", crypto.context_free) &&
        find_function(library, "EVP_sha256", crypto.sha256) &&
        find_function(library, "EVP_DigestInit_ex", crypto.init) &&
        find_function(library, "EVP_DigestUpdate", crypto.update) &&
        find_function(library, "EVP_DigestFinal_ex", crypto.final))
      return crypto;
    return fail(ErrorCode::unsupported,
                "libcrypto (OpenSSL 3) is not on this machine, and only it can check a file",
                "install it: apt-get install libssl3");
  }
};

tl::unexpected<Error> cannot_read(const std::string& path) {
  return fail(ErrorCode::io, fmt::format("cannot read {}: {}", path, std::strerror(errno)),
              "check the disk and the file's permissions");
}

}  // namespace

Result<std::string> sha256_of_file(const std::string& path,
                                   const std::function<bool(int64_t done_bytes)>& progress) {
  HWTV_TRY(const CryptoLibrary crypto, CryptoLibrary::open());
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return cannot_read(path);
  const std::unique_ptr<EVP_MD_CTX, decltype(crypto.context_free)> context(crypto.context_new(),
                                                                           crypto.context_free);
  const struct Closer {
    int fd;
    ~Closer() { ::close(fd); }
  } closer{fd};
  bool good = context && crypto.init(context.get(), crypto.sha256(), nullptr) == 1;
  std::vector<char> piece(kPieceBytes);
  for (int64_t done = 0; good;) {
    const ssize_t n = ::read(fd, piece.data(), piece.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return cannot_read(path);
    if (n == 0) break;
    good = crypto.update(context.get(), piece.data(), static_cast<size_t>(n)) == 1;
    done += n;
    if (!progress(done)) return fail(ErrorCode::cancelled, "the check of the file was cancelled");
  }
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned n_digest = 0;
  if (!good || crypto.final(context.get(), digest, &n_digest) != 1)
    return fail(ErrorCode::unsupported, "libcrypto has no SHA-256 here",
                "check OpenSSL's configuration");
  std::string text;
  for (unsigned i = 0; i < n_digest; ++i) text += fmt::format("{:02x}", digest[i]);
  return text;
}

std::string sha256_text(std::string_view text) {
  constexpr std::string_view kPrefix = "sha256:";
  if (text.starts_with(kPrefix)) text.remove_prefix(kPrefix.size());
  if (text.size() != kHexDigits) return "";
  for (const char c : text)
    if (!std::isxdigit(static_cast<unsigned char>(c))) return "";
  return lower(text);
}

}  // namespace hwtv::store
