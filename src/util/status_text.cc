#include "util/status_text.h"

namespace cambium {

std::optional<StatusText> ParseStatusText(std::string_view text) noexcept {
  for (const StatusKind& kind : kStatusKinds) {
    if (!text.starts_with(kind.name)) continue;
    std::string_view rest = text.substr(kind.name.size());
    const bool is_fatal = rest.starts_with(kFatalMark);
    if (is_fatal) rest.remove_prefix(kFatalMark.size());
    const bool has_message = rest.starts_with(": ");
    if (!has_message && !rest.empty()) continue;  // the name of another kind may begin with this one
    return StatusText{&kind, is_fatal ? Status::Severity::kFatal : Status::Severity::kNone,
                      has_message ? rest.substr(2) : rest};
  }
  return std::nullopt;
}

}  // namespace cambium
