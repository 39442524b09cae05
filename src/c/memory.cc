#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string_view>

#include "c/wrappers.h"
#include "util/status_text.h"

namespace cambium::c {

char* CopyBytes(Slice bytes) {
  auto* const copy = static_cast<char*>(std::malloc(bytes.size() + 1));
  if (copy == nullptr) throw std::bad_alloc();
  if (!bytes.empty()) std::memcpy(copy, bytes.data(), bytes.size());
  copy[bytes.size()] = '\0';
  return copy;
}

char* CopyIdentity(const DB& db, std::size_t* length) {
  std::string identity;
  *length = 0;
  if (!db.GetDbIdentity(identity).ok()) return nullptr;
  *length = identity.size();
  return CopyBytes(identity);
}

char** CopyStrings(const std::vector<std::string>& strings) {
  auto** const list = static_cast<char**>(std::calloc(strings.size() + 1, sizeof(char*)));
  if (list == nullptr) throw std::bad_alloc();
  try {
    for (std::size_t i = 0; i < strings.size(); ++i) list[i] = CopyBytes(strings[i]);
  } catch (...) {
    cambium_string_list_destroy(list, strings.size());
    throw;
  }
  return list;
}

namespace {

// The texts of errors for which there is no memory: one for each kind and severity, so that no code is lost. They are
// never freed.
constexpr std::string_view kNoMemory = ": no memory for the error message";
constexpr std::size_t kFixedBytes = 96;
constexpr std::size_t kKinds = std::size(kStatusKinds);
using FixedText = std::array<char, kFixedBytes>;

constexpr std::array<FixedText, 2 * kKinds> MakeFixedTexts() {
  std::array<FixedText, 2 * kKinds> texts{};
  for (std::size_t i = 0; i < texts.size(); ++i) {
    char* at = texts[i].data();
    for (const std::string_view part : {kStatusKinds[i / 2].name, i % 2 == 0 ? "" : kFatalMark, kNoMemory}) {
      at = std::ranges::copy(part, at).out;
    }
    *at = '\0';  // an error of the compiler if the text has no room
  }
  return texts;
}
constinit std::array<FixedText, 2 * kKinds> fixed_texts = MakeFixedTexts();

char* FixedTextOf(const StatusKind& kind, Status::Severity severity) {
  const auto index = static_cast<std::size_t>(&kind - kStatusKinds);
  return fixed_texts[2 * index + (severity == Status::Severity::kFatal ? 1 : 0)].data();
}
char* FixedTextOf(const Status& status) {
  for (const StatusKind& kind : kStatusKinds) {
    if (kind.code == status.code() && kind.subcode == status.subcode()) return FixedTextOf(kind, status.severity());
  }
  return FixedTextOf(Status::OutOfMemory());  // never: there is no other kind
}
char* FixedTextOf(const char* text) {
  const std::optional<StatusText> parsed = ParseStatusText(text);
  return parsed.has_value() ? FixedTextOf(*parsed->kind, parsed->severity) : FixedTextOf(Status::OutOfMemory());
}

bool IsFixedText(const void* pointer) {
  const std::less<> is_before;  // also orders pointers into different objects
  return !is_before(pointer, fixed_texts.data()) && is_before(pointer, fixed_texts.data() + fixed_texts.size());
}

void Replace(char** errptr, char* text) noexcept {
  cambium_free(*errptr);
  *errptr = text;
}

}  // namespace

void SaveText(char** errptr, const char* text) noexcept {
  if (errptr == nullptr) return;
  const std::size_t bytes = std::strlen(text) + 1;
  auto* const copy = static_cast<char*>(std::malloc(bytes));
  if (copy != nullptr) std::memcpy(copy, text, bytes);
  Replace(errptr, copy != nullptr ? copy : FixedTextOf(text));
}

void SaveError(char** errptr, const Status& status) noexcept {
  if (status.ok() || errptr == nullptr) return;
  try {
    SaveText(errptr, status.ToString().c_str());
  } catch (const std::exception&) {
    Replace(errptr, FixedTextOf(status));
  }
}

void SaveException(char** errptr, const std::exception& exception) noexcept {
  char* text = nullptr;
  try {
    SaveError(&text, Status::Aborted(exception.what()));
  } catch (const std::exception&) {
    SaveText(&text, kOutOfMemory);
  }
  if (errptr == nullptr) return cambium_free(text);
  Replace(errptr, text);
}

}  // namespace cambium::c

void cambium_free(void* pointer) {
  if (!cambium::c::IsFixedText(pointer)) std::free(pointer);
}

void cambium_string_list_destroy(char** list, size_t length) {
  if (list == nullptr) return;
  for (size_t i = 0; i < length; ++i) std::free(list[i]);
  std::free(list);
}
