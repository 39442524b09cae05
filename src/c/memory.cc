#include <cstdlib>
#include <cstring>

#include "c/wrappers.h"

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

// The message when there is no memory for the message. It is never freed.
char no_memory[] = "Operation aborted: no memory for the error message";

}  // namespace

void SaveText(char** errptr, const char* text) noexcept {
  if (errptr == nullptr) return;
  const std::size_t bytes = std::strlen(text) + 1;
  auto* copy = static_cast<char*>(std::malloc(bytes));
  if (copy != nullptr) {
    std::memcpy(copy, text, bytes);
  } else {
    copy = no_memory;
  }
  cambium_free(*errptr);
  *errptr = copy;
}

void SaveError(char** errptr, const Status& status) noexcept {
  if (status.ok() || errptr == nullptr) return;
  try {
    SaveText(errptr, status.ToString().c_str());
  } catch (const std::exception&) {
    SaveText(errptr, no_memory);
  }
}

}  // namespace cambium::c

void cambium_free(void* pointer) {
  if (pointer != cambium::c::no_memory) std::free(pointer);
}

void cambium_string_list_destroy(char** list, size_t length) {
  if (list == nullptr) return;
  for (size_t i = 0; i < length; ++i) std::free(list[i]);
  std::free(list);
}
