#include "base/error.h"

namespace hwtv {

std::string_view error_code_name(ErrorCode code) {
  switch (code) {
    case ErrorCode::invalid_request: return "invalid_request";
    case ErrorCode::unsupported: return "unsupported";
    case ErrorCode::corrupt_file: return "corrupt_file";
    case ErrorCode::io: return "io";
    case ErrorCode::out_of_memory: return "out_of_memory";
    case ErrorCode::device_lost: return "device_lost";
    case ErrorCode::cancelled: return "cancelled";
  }
  return "unknown";
}

}  // namespace hwtv
