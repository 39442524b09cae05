#include "cambium/status.h"

#include <algorithm>
#include <iterator>

#include "util/status_text.h"

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

std::string Status::ToString() const {
  if (ok()) return "OK";
  const auto* const kind = std::ranges::find_if(
      kStatusKinds, [this](const StatusKind& each) { return each.code == code() && each.subcode == subcode(); });
  std::string text(kind == std::end(kStatusKinds) ? "Unknown code" : kind->name);
  if (severity() == Severity::kFatal) text += kFatalMark;
  if (!rep_->message.empty()) text.append(": ").append(rep_->message);
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
