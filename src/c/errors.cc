#include <optional>

#include "cambium/c.h"
#include "util/status_text.h"

using cambium::ParseStatusText;
using cambium::Status;
using cambium::StatusText;

namespace {

// The constants in c.h have these numbers.
template <typename Enum>
constexpr bool HasNumber(Enum value, int number) {
  return static_cast<int>(value) == number;
}
static_assert(HasNumber(Status::Code::kOk, cambium_code_ok) &&
              HasNumber(Status::Code::kNotFound, cambium_code_not_found) &&
              HasNumber(Status::Code::kCorruption, cambium_code_corruption) &&
              HasNumber(Status::Code::kNotSupported, cambium_code_not_supported) &&
              HasNumber(Status::Code::kInvalidArgument, cambium_code_invalid_argument) &&
              HasNumber(Status::Code::kIOError, cambium_code_io_error) &&
              HasNumber(Status::Code::kIncomplete, cambium_code_incomplete) &&
              HasNumber(Status::Code::kShutdownInProgress, cambium_code_shutdown_in_progress) &&
              HasNumber(Status::Code::kTimedOut, cambium_code_timed_out) &&
              HasNumber(Status::Code::kAborted, cambium_code_aborted) &&
              HasNumber(Status::Code::kBusy, cambium_code_busy) &&
              HasNumber(Status::Code::kExpired, cambium_code_expired) &&
              HasNumber(Status::Code::kTryAgain, cambium_code_try_again) &&
              HasNumber(Status::Code::kColumnFamilyDropped, cambium_code_column_family_dropped));
static_assert(HasNumber(Status::SubCode::kNone, cambium_subcode_none) &&
              HasNumber(Status::SubCode::kNoSpace, cambium_subcode_no_space) &&
              HasNumber(Status::SubCode::kLocked, cambium_subcode_locked) &&
              HasNumber(Status::SubCode::kPathNotFound, cambium_subcode_path_not_found) &&
              HasNumber(Status::SubCode::kDenied, cambium_subcode_denied) &&
              HasNumber(Status::SubCode::kLockTimeout, cambium_subcode_lock_timeout) &&
              HasNumber(Status::SubCode::kDeadlock, cambium_subcode_deadlock) &&
              HasNumber(Status::SubCode::kLockLimit, cambium_subcode_lock_limit) &&
              HasNumber(Status::SubCode::kOutOfMemory, cambium_subcode_out_of_memory));
static_assert(HasNumber(Status::Severity::kNone, cambium_severity_none) &&
              HasNumber(Status::Severity::kFatal, cambium_severity_fatal));

std::optional<StatusText> ParseError(const char* error) {
  return error == nullptr ? std::nullopt : ParseStatusText(error);
}

}  // namespace

int cambium_error_code(const char* error) {
  if (error == nullptr) return cambium_code_ok;
  const std::optional<StatusText> text = ParseError(error);
  return text.has_value() ? static_cast<int>(text->kind->code) : static_cast<int>(cambium_code_unknown);
}
int cambium_error_subcode(const char* error) {
  const std::optional<StatusText> text = ParseError(error);
  return text.has_value() ? static_cast<int>(text->kind->subcode) : static_cast<int>(cambium_subcode_none);
}
int cambium_error_severity(const char* error) {
  const std::optional<StatusText> text = ParseError(error);
  return text.has_value() ? static_cast<int>(text->severity) : static_cast<int>(cambium_severity_none);
}
const char* cambium_error_message(const char* error) {
  const std::optional<StatusText> text = ParseError(error);
  return text.has_value() ? text->message.data() : error;
}
