#include <sys/stat.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>

#include "entry_source.h"
#include "jsonl.h"
#include "key_text.h"

namespace cambium::tool {
namespace {

struct InputCloser {
  void operator()(std::FILE* file) const {
    if (file != stdin) std::fclose(file);
  }
};

std::uint64_t SizeOf(std::FILE* file) {
  struct stat facts {};
  const bool is_known = ::fstat(::fileno(file), &facts) == 0 && S_ISREG(facts.st_mode);
  return is_known ? static_cast<std::uint64_t>(facts.st_size) : 0;
}

class JsonlSource final : public EntrySource {
 public:
  JsonlSource(std::string path, std::FILE* file) : path_(std::move(path)), file_(file), size_(SizeOf(file)) {}
  ~JsonlSource() override { std::free(line_); }

  Status ReadHead() {
    nlohmann::json json;
    bool has_line = false;
    const Status s = ReadLine(&json, &has_line);
    if (!s.ok()) return s;
    if (!has_line || !json.contains(kExportName) || !json[kExportName].is_number_integer()) {
      return Wrong("is not an export of this tool: it does not begin with {\"" + std::string(kExportName) + "\":1}");
    }
    const std::int64_t version = json[kExportName].get<std::int64_t>();
    if (version < 1 || version > kExportVersion) {
      return Status::NotSupported(path_ + ": is an export of version " + json[kExportName].dump());
    }
    return Status::OK();
  }

  Status Next(ImportedEntry* entry, bool* has_one) override {
    nlohmann::json json;
    Status s = ReadLine(&json, has_one);
    if (!s.ok()) return s;
    if (!*has_one) return Wrong("is truncated: its last line is missing");
    if (json.contains("end")) {
      *has_one = false;
      if (!json.contains("entries") || !json["entries"].is_number_unsigned() || json["entries"] != entries_) {
        return Wrong("the last line has another number of entries");
      }
      nlohmann::json more;
      bool has_more = false;
      s = ReadLine(&more, &has_more);
      return s.ok() && has_more ? Wrong("there are lines after the end") : s;
    }
    entry->family = kDefaultColumnFamilyName;
    if (json.contains("family") && (!json["family"].is_string() || !Unescape(json["family"].get<std::string>(), &entry->family))) {
      return Wrong("has no family that is text with \\xNN");
    }
    entry->comparator.clear();
    if (json.contains("comparator")) {
      if (!json["comparator"].is_string() || json["comparator"].get_ref<const std::string&>().empty()) {
        return Wrong("has no comparator that is a name");
      }
      entry->comparator = json["comparator"].get<std::string>();
      return Status::OK();
    }
    for (const auto& [name, bytes] : {std::pair{"key", &entry->key}, {"value", &entry->value}}) {
      const bool is_text = json.contains(name) && json[name].is_string();
      if (!is_text || !Unescape(json[name].get_ref<const std::string&>(), bytes)) {
        return Wrong(std::string("has no ") + name + " that is text with \\xNN");
      }
    }
    ++entries_;
    return Status::OK();
  }

  [[nodiscard]] double Part() const override {
    return size_ == 0 ? 0 : static_cast<double>(read_) / static_cast<double>(size_);
  }

 private:
  Status Wrong(const std::string& what) const {
    return Status::Corruption(path_ + ":" + std::to_string(line_number_) + ": " + what);
  }
  Status ReadLine(nlohmann::json* json, bool* has_line) {
    errno = 0;
    const ssize_t size = ::getline(&line_, &capacity_, file_.get());
    *has_line = size >= 0;
    if (size < 0 && std::ferror(file_.get()) != 0) return Status::IOError(path_ + ": " + std::strerror(errno));
    if (size < 0) return Status::OK();
    ++line_number_;
    read_ += static_cast<std::uint64_t>(size);
    *json = nlohmann::json::parse(line_, line_ + size, nullptr, false);
    return json->is_object() ? Status::OK() : Wrong("is not a JSON object");
  }

  const std::string path_;
  const std::unique_ptr<std::FILE, InputCloser> file_;
  const std::uint64_t size_;  // 0 if it is not a regular file
  std::uint64_t read_ = 0;
  char* line_ = nullptr;
  std::size_t capacity_ = 0;
  std::uint64_t line_number_ = 0;
  std::uint64_t entries_ = 0;
};

}  // namespace

Status OpenJsonl(const std::string& path, std::unique_ptr<EntrySource>* source) {
  std::FILE* const file = path == "-" ? stdin : std::fopen(path.c_str(), "rb");
  if (file == nullptr) return Status::IOError(path + ": " + std::strerror(errno));
  auto opened = std::make_unique<JsonlSource>(path, file);
  const Status s = opened->ReadHead();
  if (s.ok()) *source = std::move(opened);
  return s;
}

}  // namespace cambium::tool
