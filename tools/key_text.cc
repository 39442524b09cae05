#include "key_text.h"

#include <array>
#include <cstdint>
#include <cstdio>
#include <string_view>

namespace cambium::tool {
namespace {

int Digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

std::string Escape(Slice bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  const std::string_view view = bytes.ToStringView();
  std::size_t written = 0;  // bytes before it are in `text`; those from it to i need no escape
  for (std::size_t i = 0; i < view.size(); ++i) {
    const auto byte = static_cast<unsigned char>(view[i]);
    if (byte >= 0x20 && byte <= 0x7e && byte != '\\') continue;
    text += view.substr(written, i - written);
    written = i + 1;
    if (byte == '\\') {
      text += "\\\\";
    } else {
      text.append("\\x").append(1, kDigits[byte >> 4]).append(1, kDigits[byte & 15]);
    }
  }
  text += view.substr(written);
  return text;
}

bool Unescape(const std::string& text, std::string* bytes) {
  bytes->clear();
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\') {
      *bytes += text[i];
    } else if (i + 1 < text.size() && text[i + 1] == '\\') {
      *bytes += '\\';
      ++i;
    } else {
      if (i + 3 >= text.size() || text[i + 1] != 'x') return false;
      const int high = Digit(text[i + 2]);
      const int low = Digit(text[i + 3]);
      if (high < 0 || low < 0) return false;
      *bytes += static_cast<char>(high * 16 + low);
      i += 3;
    }
  }
  return true;
}

bool FromHex(const std::string& text, std::string* bytes) {
  bytes->clear();
  if (text.size() % 2 != 0) return false;
  for (std::size_t i = 0; i < text.size(); i += 2) {
    const int high = Digit(text[i]);
    const int low = Digit(text[i + 1]);
    if (high < 0 || low < 0) return false;
    *bytes += static_cast<char>(high * 16 + low);
  }
  return true;
}

std::string FormatInJson(Slice bytes, bool hex) {
  std::string json;
  for (const char c : Format(bytes, hex)) {  // printable ASCII
    if (c == '"' || c == '\\') json += '\\';
    json += c;
  }
  return json;
}

std::string Abbreviate(Slice bytes, bool hex, std::size_t width) {
  std::string text;
  std::size_t shown = 0;
  while (shown < bytes.size()) {
    const std::string next = Format(bytes.substr(shown, 1), hex);
    if (text.size() + next.size() > width) break;
    text += next;
    ++shown;
  }
  return shown == bytes.size() ? text : text + "... (" + std::to_string(bytes.size()) + " bytes)";
}

std::string ShortBytes(double n) {
  static constexpr std::array<const char*, 7> kUnits = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  std::size_t unit = 0;
  for (; n >= 1024 && unit + 1 < kUnits.size(); ++unit) n /= 1024;
  char text[32];
  std::snprintf(text, sizeof(text), unit == 0 ? "%.0f %s" : "%.1f %s", n, kUnits[unit]);
  return text;
}

std::string Bytes(std::uint64_t n) {
  const std::string text = std::to_string(n);
  return n < 1024 ? text : text + " (" + ShortBytes(static_cast<double>(n)) + ")";
}

}  // namespace cambium::tool
