#include "cambium/status.h"

namespace cambium {

Status::Status(Code code, SubCode subcode, std::string_view message)
    : rep_(std::make_unique<Rep>(Rep{code, subcode, Severity::kNone, std::string(message)})) {}

Status::Status(const Status& other) : rep_(other.rep_ == nullptr ? nullptr : std::make_unique<Rep>(*other.rep_)) {}

Status& Status::operator=(const Status& other) {
  if (this != &other) rep_ = other.rep_ == nullptr ? nullptr : std::make_unique<Rep>(*other.rep_);
  return *this;
}

Status Status::Fatal() const {
  Status fatal = *this;
  if (fatal.rep_ != nullptr) fatal.rep_->severity = Severity::kFatal;
  return fatal;
}

Status Status::WithContext(std::string_view context) const {
  Status longer = *this;
  if (longer.rep_ != nullptr) longer.rep_->message.insert(0, std::string(context) + ": ");
  return longer;
}

namespace {
const char* CodeName(Status::Code code) {
  switch (code) {
    case Status::Code::kOk: return "OK";
    case Status::Code::kNotFound: return "NotFound";
    case Status::Code::kCorruption: return "Corruption";
    case Status::Code::kNotSupported: return "Not implemented";
    case Status::Code::kInvalidArgument: return "Invalid argument";
    case Status::Code::kIOError: return "IO error";
    case Status::Code::kIncomplete: return "Result incomplete";
    case Status::Code::kShutdownInProgress: return "Shutdown in progress";
    case Status::Code::kTimedOut: return "Operation timed out";
    case Status::Code::kAborted: return "Operation aborted";
    case Status::Code::kBusy: return "Resource busy";
    case Status::Code::kExpired: return "Operation expired";
    case Status::Code::kTryAgain: return "Operation failed. Try again.";
    case Status::Code::kColumnFamilyDropped: return "Column family dropped";
  }
  return "Unknown code";
}
}  // namespace

std::string Status::ToString() const {
  std::string text = CodeName(code());
  if (ok()) return text;
  if (IsNoSpace()) text += " (no space)";
  if (IsLocked()) text += " (locked)";
  if (severity() == Severity::kFatal) text += " (fatal until reopened)";
  if (!rep_->message.empty()) text += ": " + rep_->message;
  return text;
}

std::string Slice::ToString(bool hex) const {
  if (!hex) return ToString();
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  text.reserve(2 * size_);
  for (const char c : *this) {
    text += kDigits[static_cast<unsigned char>(c) >> 4];
    text += kDigits[static_cast<unsigned char>(c) & 15];
  }
  return text;
}

}  // namespace cambium
