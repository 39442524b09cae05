#include "html/escape.h"

#include <cstddef>

namespace cambium::bench {
namespace {

constexpr std::size_t kSlugMax = 80;
constexpr const char* kReplacement = "\xEF\xBF\xBD";

// Returns the length of the UTF-8 sequence that begins at `at`, or 0 if there is none that XML allows.
std::size_t SequenceAt(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[at + i]); };
  const unsigned first = byte(0);
  if (first < 0x80) return first >= 0x20 || first == '\n' || first == '\t' || first == '\r' ? 1 : 0;
  const std::size_t size = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || at + size > text.size()) return 0;
  for (std::size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  const unsigned second = byte(1);
  const bool overlong = (first == 0xE0 && second < 0xA0) || (first == 0xF0 && second < 0x90);
  const bool no_character = (first == 0xED && second >= 0xA0) || (first == 0xF4 && second >= 0x90) ||
                            (first == 0xEF && second == 0xBF && byte(2) >= 0xBE);
  return overlong || no_character ? 0 : size;
}

bool IsWordByte(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'); }

}  // namespace

std::string Escape(std::string_view text) {
  std::string safe;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t size = SequenceAt(text, i);
    if (size == 0) {
      safe += kReplacement;
      ++i;
      continue;
    }
    switch (text[i]) {
      case '&':
        safe += "&amp;";
        break;
      case '<':
        safe += "&lt;";
        break;
      case '>':
        safe += "&gt;";
        break;
      case '"':
        safe += "&quot;";
        break;
      case '\'':
        safe += "&#39;";
        break;
      default:
        safe += text.substr(i, size);
    }
    i += size;
  }
  return safe;
}

std::string ToSlug(std::string_view text) {
  std::string slug;
  for (const char c : text) {
    if (IsWordByte(c)) {
      slug += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    } else if (!slug.empty() && slug.back() != '-') {
      slug += '-';
    }
    if (slug.size() == kSlugMax) break;
  }
  while (!slug.empty() && slug.back() == '-') slug.pop_back();
  return slug.empty() ? "x" : slug;
}

}  // namespace cambium::bench
