#include "trace/text.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <vector>

#include "cambium/db.h"
#include "util/result.h"

namespace cambium::bench {
namespace {

Status Wrong(const std::string& what, std::string_view word) {
  return Status::Corruption(what + " \"" + std::string(word.substr(0, 100)) + "\"");
}

std::vector<std::string_view> WordsOf(std::string_view line) {
  std::vector<std::string_view> words;
  while (!line.empty()) {
    const std::size_t begin = line.find_first_not_of(" \t\r");
    if (begin == std::string_view::npos) break;
    const std::size_t end = std::min(line.find_first_of(" \t\r", begin), line.size());
    words.push_back(line.substr(begin, end - begin));
    line.remove_prefix(end);
  }
  return words;
}

template <typename Number>
bool ParseNumber(std::string_view word, Number* number) {
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), *number);
  return error == std::errc() && end == word.data() + word.size();
}

// Parses a number; -1 stands for nothing.
bool ParseCount(std::string_view word, std::optional<std::uint64_t>* count) {
  if (word == "-1") {
    count->reset();
    return true;
  }
  std::uint64_t number = 0;
  if (!ParseNumber(word, &number)) return false;
  *count = number;
  return true;
}

bool UnescapeKey(std::string_view word, std::string* key) {
  key->clear();
  if (word == "-") return true;
  while (!word.empty()) {
    if (word[0] != '\\') {
      *key += word[0];
      word.remove_prefix(1);
      continue;
    }
    unsigned char byte = 0;
    if (word.size() < 4 || word[1] != 'x') return false;
    const auto [end, error] = std::from_chars(word.data() + 2, word.data() + 4, byte, 16);
    if (error != std::errc() || end != word.data() + 4) return false;
    *key += static_cast<char>(byte);
    word.remove_prefix(4);
  }
  return key->size() <= kMaxKeyBytes;
}

Status ParseExtra(std::string_view word, TracedOp* op) {
  if (word == "sync" && op->IsWrite()) {
    op->sync = true;
  } else if (word == "more" && !op->IsScan()) {
    op->more = true;
  } else if (word.starts_with("family=")) {
    if (!ParseNumber(word.substr(7), &op->family)) return Wrong("no family:", word);
  } else if (word.starts_with("end=") && op->kind == TracedKind::kDeleteRange) {
    if (!UnescapeKey(word.substr(4), &op->end_key)) return Wrong("no key:", word);
  } else {
    return Wrong("unknown word", word);
  }
  return {};
}

}  // namespace

std::string EscapedKey(std::string_view key) {
  if (key.empty()) return "-";
  if (key == "-") return "\\x2d";
  std::string text;
  for (const char c : key) {
    if (c >= '!' && c <= '~' && c != '\\') {
      text += c;
      continue;
    }
    char hex[5];
    std::snprintf(hex, sizeof(hex), "\\x%02x", static_cast<unsigned>(static_cast<unsigned char>(c)));
    text += hex;
  }
  return text;
}

std::string ToTraceLine(const TracedOp& op) {
  const bool has_value = op.IsLookup() || op.kind == TracedKind::kPut;
  const auto count = [](bool has_one, const std::optional<std::uint64_t>& value) -> std::string {
    return !has_one ? "0" : value.has_value() ? std::to_string(*value) : "-1";
  };
  std::string line = std::to_string(op.micros) + " " + std::string(op.Name()) + " " + EscapedKey(op.key) + " " +
                     count(has_value, op.value_size) + " " + count(op.IsScan(), op.scan_length);
  if (op.family != 0) line += " family=" + std::to_string(op.family);
  if (op.kind == TracedKind::kDeleteRange) line += " end=" + EscapedKey(op.end_key);
  if (op.sync) line += " sync";
  if (op.more) line += " more";
  return line;
}

Status ParseTraceLine(std::string_view line, TracedOp* op) {
  *op = TracedOp();
  const std::vector<std::string_view> words = WordsOf(line);
  if (words.size() < 5) return Wrong("fewer than five words:", line);
  if (!ParseNumber(words[0], &op->micros)) return Wrong("no time:", words[0]);
  const auto kind = std::find(kTracedKinds.begin(), kTracedKinds.end(), words[1]);
  if (kind == kTracedKinds.end()) return Wrong("unknown operation", words[1]);
  op->kind = static_cast<TracedKind>(kind - kTracedKinds.begin());
  if (!UnescapeKey(words[2], &op->key)) return Wrong("no key:", words[2]);
  std::optional<std::uint64_t> value_size;
  std::optional<std::uint64_t> scan_length;
  if (!ParseCount(words[3], &value_size)) return Wrong("no length of a value:", words[3]);
  if (!ParseCount(words[4], &scan_length)) return Wrong("no length of a scan:", words[4]);
  if (value_size.value_or(0) > kMaxValueBytes) return Wrong("too long a value:", words[3]);
  if (op->kind == TracedKind::kPut && !value_size.has_value()) return Wrong("a put without a length:", words[3]);
  if (op->IsLookup() || op->kind == TracedKind::kPut) op->value_size = value_size;
  if (op->IsScan()) op->scan_length = scan_length;
  for (std::size_t i = 5; i < words.size(); ++i) CAMBIUM_RETURN_IF_ERROR(ParseExtra(words[i], op));
  return {};
}

}  // namespace cambium::bench
