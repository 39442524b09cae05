// An export of the tool, which `cambium import` reads.
#include <sys/mman.h>
#include <unistd.h>

#include <memory>

#include "../../tools/entry_source.h"
#include "../../tools/key_text.h"
#include "fuzz/target.h"

namespace cambium::fuzz {
namespace {

// A file that has no name, in memory: the importer opens a path of the operating system.
class UnnamedFile {
 public:
  explicit UnnamedFile(Slice bytes) : descriptor_(::memfd_create("jsonl", MFD_CLOEXEC)) {
    Promise(descriptor_ >= 0, "no file can be made in memory");
    std::size_t done = 0;
    while (done < bytes.size()) {
      const ::ssize_t n = ::write(descriptor_, bytes.data() + done, bytes.size() - done);
      Promise(n > 0, "a file in memory cannot be written");
      done += static_cast<std::size_t>(n);
    }
  }
  ~UnnamedFile() { ::close(descriptor_); }
  UnnamedFile(const UnnamedFile&) = delete;
  UnnamedFile& operator=(const UnnamedFile&) = delete;
  [[nodiscard]] std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

 private:
  const int descriptor_;
};

void FuzzJsonl(Slice input) {
  const UnnamedFile file(input);
  std::unique_ptr<tool::EntrySource> source;
  const Status opened = tool::OpenJsonl(file.path(), &source);
  if (!opened.ok()) return PromiseDamage(opened, file.path(), "opening an export");
  std::size_t entries = 0;
  while (true) {
    tool::ImportedEntry entry;
    bool has_one = false;
    const Status s = source->Next(&entry, &has_one);
    if (!s.ok()) return PromiseDamage(s, file.path(), "reading an export");
    if (!has_one) return;
    Promise(++entries <= input.size(), "an export has more entries than bytes");
    for (const std::string& bytes : {entry.family, entry.key, entry.value}) {
      std::string again;
      Promise(tool::Unescape(tool::Escape(bytes), &again) && again == bytes,
              "text is not the same after it was escaped");
    }
  }
}

std::string JsonText(Slice bytes) {
  std::string text;
  for (const char c : tool::Escape(bytes)) text += c == '\\' || c == '"' ? std::string("\\") + c : std::string(1, c);
  return text;
}

void AddJsonlSeeds(const GoldenFiles& files, std::vector<std::string>* seeds) {
  std::string text = "{\"cambium_export\":2}\n{\"family\":\"default\",\"comparator\":\"cambium.BytewiseComparator\"}\n";
  for (const auto& [name, bytes] : files) {
    text += "{\"family\":\"default\",\"key\":\"" + JsonText(name) + "\",\"value\":\"" +
            JsonText(Slice(bytes).substr(0, std::min<std::size_t>(bytes.size(), 100))) + "\"}\n";
  }
  seeds->push_back(text + "{\"end\":true,\"entries\":" + std::to_string(files.size()) + "}\n");
}

}  // namespace

const Target kJsonlTarget = {"jsonl", false, FuzzJsonl, AddJsonlSeeds};

}  // namespace cambium::fuzz
