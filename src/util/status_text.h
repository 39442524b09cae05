// The text of a status. Status::ToString writes it, ParseStatusText reads it:
//
//   kind [" (fatal until reopened)"] [": " message]
//
// A kind is a code, or a code and a subcode: "IO error", "IO error (no space)". So the text says everything that the
// status does, and two different statuses never have the same text.
#pragma once

#include <optional>
#include <string_view>

#include "cambium/status.h"

namespace cambium {

struct StatusKind {
  Status::Code code;
  Status::SubCode subcode;
  std::string_view name;
};
// All kinds of errors. No other pair of code and subcode occurs.
inline constexpr StatusKind kStatusKinds[] = {
    {Status::Code::kNotFound, Status::SubCode::kNone, "NotFound"},
    {Status::Code::kCorruption, Status::SubCode::kNone, "Corruption"},
    {Status::Code::kNotSupported, Status::SubCode::kNone, "Not implemented"},
    {Status::Code::kInvalidArgument, Status::SubCode::kNone, "Invalid argument"},
    {Status::Code::kIOError, Status::SubCode::kNone, "IO error"},
    {Status::Code::kIOError, Status::SubCode::kNoSpace, "IO error (no space)"},
    {Status::Code::kIOError, Status::SubCode::kLocked, "IO error (locked)"},
    {Status::Code::kIOError, Status::SubCode::kPathNotFound, "IO error (not found)"},
    {Status::Code::kIOError, Status::SubCode::kDenied, "IO error (denied)"},
    {Status::Code::kIncomplete, Status::SubCode::kNone, "Result incomplete"},
    {Status::Code::kShutdownInProgress, Status::SubCode::kNone, "Shutdown in progress"},
    {Status::Code::kTimedOut, Status::SubCode::kNone, "Operation timed out"},
    {Status::Code::kTimedOut, Status::SubCode::kLockTimeout, "Operation timed out (lock)"},
    {Status::Code::kAborted, Status::SubCode::kNone, "Operation aborted"},
    {Status::Code::kAborted, Status::SubCode::kOutOfMemory, "Operation aborted (out of memory)"},
    {Status::Code::kBusy, Status::SubCode::kNone, "Resource busy"},
    {Status::Code::kBusy, Status::SubCode::kDeadlock, "Resource busy (deadlock)"},
    {Status::Code::kBusy, Status::SubCode::kLockLimit, "Resource busy (lock limit)"},
    {Status::Code::kExpired, Status::SubCode::kNone, "Operation expired"},
    {Status::Code::kTryAgain, Status::SubCode::kNone, "Operation failed. Try again."},
    {Status::Code::kColumnFamilyDropped, Status::SubCode::kNone, "Column family dropped"},
};
inline constexpr std::string_view kFatalMark = " (fatal until reopened)";

// The parts of a text. `message` borrows from it.
struct StatusText {
  const StatusKind* kind;
  Status::Severity severity;
  std::string_view message;
};
// Returns nullopt if `text` is not the text of an error.
[[nodiscard]] std::optional<StatusText> ParseStatusText(std::string_view text) noexcept;

}  // namespace cambium
