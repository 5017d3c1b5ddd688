#include "app/exit_code.h"

namespace hwtv::app {

int exit_code(ErrorCode code) {
  switch (code) {
    case ErrorCode::invalid_request:
      return 2;
    case ErrorCode::unsupported:
      return 3;
    case ErrorCode::corrupt_file:
      return 4;
    case ErrorCode::io:
      return 5;
    case ErrorCode::out_of_memory:
      return 6;
    case ErrorCode::device_lost:
      return 7;
    case ErrorCode::cancelled:
      return 130;
  }
  return kExitFailure;
}

}  // namespace hwtv::app
