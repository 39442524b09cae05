// A whole run: footer, filter, range deletes and pages. It is walked in both directions, and searched for its keys.
#include <memory>

#include "fuzz/target.h"
#include "index/filter.h"
#include "index/page_pool.h"
#include "index/run.h"
#include "index/run_footer.h"
#include "index/tree_check.h"
#include "io/file_header.h"
#include "io/sim/sim_file_system.h"
#include "manifest/file_names.h"
#include "util/coding.h"
#include "util/result.h"

namespace cambium::fuzz {
namespace {

// A valid footer is encoded as the bytes that were read, except for its checksum.
void PromiseSameRunFooter(const File& file, Slice bytes, const FileHeader& header, const std::string& path) {
  Result<RunFooter> footer = ReadRunFooter(file, bytes.size(), header);
  if (!footer.ok()) return PromiseDamage(footer.status(), path, "reading the footer of a run");
  Promise(footer->offset < bytes.size(), "the footer of a run lies outside of the file");
  const std::string again = EncodeRunFooter(&*footer, header.Seed());
  const Slice read = bytes.substr(footer->offset, bytes.size() - footer->offset);
  Promise(Slice(again).substr(0, again.size() - 8) == read.substr(0, read.size() - 8),
          "the footer of a run is written as other bytes");
}

// Walks the run. Returns how many keys it has, if the walk reached the end.
std::uint64_t Walk(const Run& run, bool forward, bool is_checked, const std::string& path) {
  const std::unique_ptr<EntryCursor> cursor = run.NewCursor();
  std::uint64_t count = 0;
  std::string last;
  for (forward ? cursor->SeekToFirst() : cursor->SeekToLast(); cursor->Valid();
       forward ? cursor->Next() : cursor->Prev()) {
    const std::string key = cursor->key().ToString();
    Promise(!is_checked || count == 0 || (forward ? last < key : key < last), "a checked run is not in order");
    const Entry entry = cursor->entry();
    std::string value = entry.inline_value.ToString();  // reads it
    // CheckTree does not read the filter of a run, and a forged one may deny any key.
    if (is_checked && run.MayContain(key)) {
      PageRef keep;
      Entry found;
      const Result<bool> has = run.Find(key, &keep, &found);
      Promise(has.ok(), "a key of a checked run cannot be looked up: " + has.status().ToString());
      Promise(*has && found.kind == entry.kind && found.address == entry.address &&
                  found.inline_value == entry.inline_value,
              "a lookup does not find an entry of a checked run");
    }
    last = key;
    ++count;
  }
  if (!cursor->status().ok()) {
    PromiseDamage(cursor->status(), path, "walking a run");
    Promise(!is_checked, "a checked run cannot be walked: " + cursor->status().ToString());
  }
  return count;
}

void FuzzRun(Slice input) {
  if (input.size() < kFileHeaderSize) return;
  std::uint64_t number = DecodeFixed<std::uint64_t>(input.data() + 56);
  if (number == 0 || number > kFileNumberMax) number = 1;
  const std::string path = FilePath(kDirectory, FileKind::kRun, number);
  SimFileSystem fs;
  if (!fs.tampering().WriteContents(path, input).ok()) return;
  std::unique_ptr<File> opened;
  if (!fs.Open(path, OpenMode::kReadOnly, {}, &opened).ok()) return;
  const std::shared_ptr<File> file = std::move(opened);
  const Result<FileHeader> header = ReadFileHeader(*file, FileKind::kRun, number);
  if (!header.ok()) return PromiseDamage(header.status(), path, "reading the header of a run");
  const Result<RunInfo> info = Run::ReadFooter(file, number);
  if (!info.ok()) return PromiseDamage(info.status(), path, "reading the footer of a run");
  PromiseSameRunFooter(*file, input, *header, path);

  PagePool pool(1u << 20);
  const Result<std::shared_ptr<const Run>> run = Run::Open(file, *info, BytewiseComparator(), &pool);
  if (!run.ok()) return PromiseDamage(run.status(), path, "opening a run");
  TreeCheckStats stats;
  const Status checked = CheckTree(info->root, (*run)->files(), BytewiseComparator(), {}, &stats);
  if (!checked.ok()) PromiseDamage(checked, path, "checking a run");
  const std::uint64_t forward = Walk(**run, true, checked.ok(), path);
  const std::uint64_t backward = Walk(**run, false, checked.ok(), path);
  Promise(!checked.ok() || (forward == backward && forward == stats.entries), "walks over a checked run differ");
  for (const char* const key : {"", "key0100", "zzz"}) {
    PageRef keep;
    Entry entry;
    const Result<bool> found = (*run)->Find(key, &keep, &entry);
    if (!found.ok()) PromiseDamage(found.status(), path, "looking up a key in a run");
    const Result<TreePart> part = (*run)->Measure("key0050", key);
    if (!part.ok()) {
      PromiseDamage(part.status(), path, "measuring a run");
      continue;
    }
    Promise(part->page_bytes <= input.size(), "a part of a run has more bytes than its file");
    (void)part->Bytes();
  }
}

void AddRunSeeds(const GoldenFiles& files, std::vector<std::string>* seeds) {
  for (const std::string& bytes : FilesWith(files, ".run")) seeds->push_back(bytes);
}

}  // namespace

const Target kRunTarget = {"run", false, FuzzRun, AddRunSeeds};

}  // namespace cambium::fuzz
