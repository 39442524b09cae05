// A sealed segment: its file header, and its footer, which is found from the end of the file.
#include <string>
#include <vector>

#include "fuzz/target.h"
#include "io/file_header.h"
#include "io/sim/sim_file_system.h"
#include "util/result.h"
#include "vlog/segment_footer.h"

namespace cambium::fuzz {
namespace {

constexpr const char* kSegmentPath = "/db/000007.log";

struct SeenEntry {
  RecordOp op;
  std::uint32_t family;
  std::string key;
  std::uint64_t offset;
  std::uint64_t size;
  friend bool operator==(const SeenEntry&, const SeenEntry&) = default;
};

Status ReadEntries(const File& file, std::uint64_t sealed, std::uint64_t size, std::vector<SeenEntry>* entries) {
  return ReadSegmentFooter(file, 0, kFileHeaderSize, sealed, size, [&](const FooterEntry& entry) {
    entries->push_back({entry.op, entry.family, entry.key.ToString(), entry.offset, entry.size});
    return Status::OK();
  });
}

// The footer of the same records, written again, says the same.
void PromiseSameFooter(const std::vector<SeenEntry>& entries, std::uint64_t sealed) {
  SegmentFooterBuilder builder;
  std::uint64_t at = kFileHeaderSize;
  for (const SeenEntry& entry : entries) {
    Promise(entry.offset >= at && entry.size > 0 && entry.offset + entry.size <= sealed,
            "records of a footer overlap, or leave the segment");
    if (entry.offset > at) builder.AddRecord(RecordOp::kPut, 0, {}, entry.offset - at, false);
    builder.AddRecord(entry.op, entry.family, entry.key, entry.size, true);
    at = entry.offset + entry.size;
  }
  if (sealed > at) builder.AddRecord(RecordOp::kPut, 0, {}, sealed - at, false);
  const std::string footer = builder.Finish(0, sealed);
  SimFileSystem fs;
  if (!fs.tampering().WriteContents(kSegmentPath, std::string(sealed, '\0') + footer).ok()) return;
  std::unique_ptr<File> file;
  if (!fs.Open(kSegmentPath, OpenMode::kReadOnly, {}, &file).ok()) return;
  std::vector<SeenEntry> again;
  const Status s = ReadEntries(*file, sealed, sealed + footer.size(), &again);
  Promise(s.ok(), "a footer that was written cannot be read: " + s.ToString());
  Promise(again == entries, "a footer that was written has other entries");
}

void FuzzFooter(Slice input) {
  const Result<FileHeader> header =
      DecodeFileHeader(input.substr(0, std::min<std::size_t>(input.size(), kFileHeaderSize)), kSegmentPath);
  if (!header.ok()) {
    PromiseDamage(header.status(), kSegmentPath, "reading a header");
  } else {
    const std::string again = EncodeFileHeader(*header);
    const Result<FileHeader> decoded = DecodeFileHeader(again, kSegmentPath);
    Promise(decoded.ok() && EncodeFileHeader(*decoded) == again, "a header that was written is read as another one");
  }
  SimFileSystem fs;
  if (!fs.tampering().WriteContents(kSegmentPath, input).ok()) return;
  std::unique_ptr<File> file;
  if (!fs.Open(kSegmentPath, OpenMode::kReadOnly, {}, &file).ok()) return;
  const Result<std::uint64_t> found = FindFooter(*file, 0, input.size());
  if (!found.ok()) return PromiseDamage(found.status(), kSegmentPath, "finding a footer");
  // A segment may be sealed anywhere: the MANIFEST says where, and it may be forged.
  for (const std::uint64_t sealed : {*found, std::uint64_t{kFileHeaderSize}, input.size() / 2 / 8 * 8}) {
    if (sealed < kFileHeaderSize || sealed > input.size()) continue;
    std::vector<SeenEntry> entries;
    const Status s = ReadEntries(*file, sealed, input.size(), &entries);
    if (!s.ok()) {
      PromiseDamage(s, kSegmentPath, "reading a footer");
      continue;
    }
    PromiseSameFooter(entries, sealed);
  }
}

void AddFooterSeeds(const GoldenFiles& files, std::vector<std::string>* seeds) {
  for (const char* const suffix : {".log", ".gc"}) {
    for (const std::string& bytes : FilesWith(files, suffix)) seeds->push_back(bytes);
  }
  // A footer that begins where the header ends, so that most of the input is footer.
  SegmentFooterBuilder builder;
  builder.AddRecord(RecordOp::kPut, 0, "a key", 128, true);
  builder.AddRecord(RecordOp::kDelete, 3, "another", 64, false);
  builder.AddRecord(RecordOp::kPutLarge, 70000, std::string(300, 'k'), 4096, true);
  const std::uint64_t sealed = kFileHeaderSize + 128 + 64 + 4096;
  seeds->push_back(EncodeFileHeader({.kind = FileKind::kLog, .number = 7}) +
                   std::string(sealed - kFileHeaderSize, 'v') + builder.Finish(0, sealed));
}

}  // namespace

const Target kFooterTarget = {"footer", false, FuzzFooter, AddFooterSeeds};

}  // namespace cambium::fuzz
