// Tests hostile files: their checksums are right, and their contents are not. The tests change fields of MANIFEST
// records, log records, footers, pages, runs and OPTIONS files, and make every checksum above them fit, so that only
// the meaning of a field can show the change. Opening, reading, verifying, dumping and salvaging such a directory must
// end with a result, and must not use more memory than the sizes of the files justify.
//
// In each copy one field or a few are changed. CAMBIUM_SEED repeats a failure.
#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <functional>
#include <new>
#include <optional>

#include "cambium/repair.h"
#include "index/compressed_page.h"
#include "index/page_format.h"
#include "index/run_footer.h"
#include "inspect/database.h"
#include "inspect/page_walk.h"
#include "inspect/segment_walk.h"
#include "inspect/space_report.h"
#include "manifest/edit.h"
#include "manifest/file_names.h"
#include "manifest/manifest_reader.h"
#include "manifest/manifest_record.h"
#include "testing/damage_subject.h"
#include "testing/scale.h"
#include "testing/seed.h"
#include "util/checksum.h"
#include "util/coding.h"
#include "util/prng.h"
#include "util/sealed_text.h"

#include "vlog/segment_footer.h"
#include "vlog/value_reader.h"

namespace {

std::atomic<std::size_t> taken{0};
std::atomic<std::size_t> taken_max{0};

}  // namespace

void* operator new(std::size_t size) {
  void* const memory = std::malloc(size == 0 ? 1 : size);
  if (memory == nullptr) throw std::bad_alloc();
  const std::size_t now = taken += ::malloc_usable_size(memory);
  std::size_t most = taken_max;
  while (now > most && !taken_max.compare_exchange_weak(most, now)) {
  }
  return memory;
}
void* operator new[](std::size_t size) { return operator new(size); }
// std::stable_sort allocates with this operator. Our operator delete frees the memory, so our operator new must
// allocate it.
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  try {
    return operator new(size);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}
void* operator new[](std::size_t size, const std::nothrow_t& tag) noexcept { return operator new(size, tag); }
void operator delete(void* memory) noexcept {
  if (memory != nullptr) taken -= ::malloc_usable_size(memory);
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept { operator delete(memory); }
void operator delete[](void* memory) noexcept { operator delete(memory); }
void operator delete[](void* memory, std::size_t) noexcept { operator delete(memory); }

namespace cambium::testing::hostile_files_test {
namespace {

// All files together have less than 1 MiB.
constexpr std::size_t kMemoryMax = 256u << 20;
constexpr unsigned kSecondsMax = 120;

using Files = std::map<std::string, std::string>;

template <typename Number>
Number NumberAt(const std::string& bytes, std::size_t at) {
  return DecodeFixed<Number>(bytes.data() + at);
}
template <typename Number>
void SetNumber(std::string* bytes, std::size_t at, Number number) {
  EncodeFixed<Number>(bytes->data() + at, number);
}

// Returns a number that is likely to be mishandled: 0, all ones, or a little or much larger or smaller than `number`.
std::uint64_t Another(std::uint64_t number, Prng* prng) {
  switch (prng->Uniform(12)) {
    case 0: return 0;
    case 1: return 1;
    case 2: return number + 1;
    case 3: return number - 1;
    case 4: return number * 2;
    case 5: return number + 8;
    case 6: return std::uint64_t{1} << prng->Uniform(64);
    case 7: return ~std::uint64_t{0};
    case 8: return (std::uint64_t{1} << 63) - prng->Uniform(2);
    case 9: return (std::uint64_t{1} << 32) - prng->Uniform(3);
    case 10: return number ^ (std::uint64_t{1} << prng->Uniform(64));
    default: return prng->Skewed(63);
  }
}
template <typename Number>
void Change(Number* number, Prng* prng) {
  *number = static_cast<Number>(Another(static_cast<std::uint64_t>(*number), prng));
}

void ChangeBytes(std::string* bytes, std::size_t from, std::size_t to, Prng* prng) {
  if (from >= to) return;
  for (std::uint64_t i = 1 + prng->Skewed(2); i > 0; --i) {
    const std::size_t at = from + prng->Uniform(to - from);
    (*bytes)[at] = static_cast<char>(prng->OneIn(2) ? prng->Next() : (*bytes)[at] ^ (1 << prng->Uniform(8)));
  }
}

// ---- The MANIFEST ----

// EditChanges collects the possible changes of an edit, one for each field, and applies one or two of them.
class EditChanges {
 public:
  explicit EditChanges(Prng* prng) : prng_(*prng) {}

  void AddEdit(Edit* edit) {
    Optional(&edit->epoch);
    Optional(&edit->next_file_number);
    Optional(&edit->last_sequence);
    Optional(&edit->durable_sequence);
    Optional(&edit->replay_sequence);
    Optional(&edit->next_family_id);
    if (edit->replay.has_value()) {
      Number(&edit->replay->segment);
      Number(&edit->replay->offset);
    }
    if (edit->clean_shutdown.has_value()) Truth(&*edit->clean_shutdown);
    List(&edit->drop_segments);
    List(&edit->shadow_slots);
    List(&edit->drop_families);
    for (SegmentInfo& segment : edit->set_segments) AddSegment(&segment);
    for (FamilyEdit& family : edit->families) AddFamily(&family);
  }
  void Apply() {
    for (std::uint64_t i = 1 + prng_.Uniform(2); i > 0 && !changes_.empty(); --i) {
      changes_[prng_.Uniform(changes_.size())]();
    }
  }

 private:
  template <typename T>
  void Number(T* field) {
    changes_.emplace_back([this, field] { Change(field, &prng_); });
  }
  template <typename T>
  void Optional(std::optional<T>* field) {
    if (field->has_value()) Number(&**field);
  }
  void Truth(bool* field) {
    changes_.emplace_back([field] { *field = !*field; });
  }
  void Text(std::string* field) {
    changes_.emplace_back([this, field] {
      *field = prng_.OneIn(3) ? prng_.Bytes(prng_.Skewed(6)) : *field;
      ChangeBytes(field, 0, field->size(), &prng_);
    });
  }
  template <typename T>
  void List(T* field) {
    for (auto& each : *field) Number(&each);
    changes_.emplace_back([this, field] {
      if (!field->empty() && prng_.OneIn(2)) field->pop_back();
      if (prng_.OneIn(2)) field->push_back({}), Change(&field->back(), &prng_);
      if (field->size() > 1 && prng_.OneIn(3)) std::swap(field->front(), field->back());
    });
  }

  void AddRoot(TreeRoot* root) {
    Number(&root->page.id);
    Number(&root->page.checksum);
    Number(&root->height);
    Number(&root->entry_count);
    Number(&root->value_bytes);
  }
  void AddSegment(SegmentInfo* segment) {
    Number(&segment->number);
    Number(&segment->slot);
    changes_.emplace_back([this, segment] { segment->kind = static_cast<SegmentKind>(prng_.Between(1, 3)); });
    Number(&segment->epoch);
    Truth(&segment->sealed);
    Truth(&segment->has_footer);
    Number(&segment->sealed_length);
    Number(&segment->file_size);
    Number(&segment->last_sequence);
    Number(&segment->generation);
    List(&segment->punched);
    Number(&segment->cut);
  }
  void AddRun(RunInfo* run) {
    Number(&run->number);
    AddRoot(&run->root);
    Number(&run->tombstone_count);
    Number(&run->file_size);
    Number(&run->footer_checksum);
    Number(&run->range_delete_count);
    Text(&run->smallest_key);
    Text(&run->largest_key);
    Truth(&run->largest_is_open);
  }
  void AddCreation(FamilyEdit* family) {
    Text(&family->create->name);
    Text(&family->create->comparator);
    Number(&family->create->page_size);
    changes_.emplace_back([family] {
      const bool is_lsm = family->create->index_type == IndexType::kLsm;
      family->create->index_type = is_lsm ? IndexType::kBTree : IndexType::kLsm;
    });
  }
  void AddFamily(FamilyEdit* family) {
    Number(&family->id);
    if (family->create.has_value()) AddCreation(family);
    Optional(&family->flushed_sequence);
    for (RunInfo& run : family->add_runs) AddRun(&run);
    if (family->layers.has_value()) List(&*family->layers);
    for (FamilyEdit::Placement& place : family->place_runs) {
      Number(&place.number);
      Number(&place.level);
      Number(&place.tier);
    }
    List(&family->drop_level_runs);
    List(&family->drop_index_segments);
    if (family->root.has_value()) AddRoot(&*family->root);
    Truth(&family->end_sweep);
    if (family->sweep.has_value()) {
      List(&family->sweep->runs);
      Text(&family->sweep->cursor);
    }
    for (IndexSegmentInfo& segment : family->set_index_segments) {
      Number(&segment.number);
      Number(&segment.length);
      Number(&segment.live_units);
    }
    changes_.emplace_back([this, family] {
      const auto& accounts = family->accounts.by_slot();
      const Slot slot = accounts.empty() ? Slot{} : accounts.begin()->first;
      family->accounts.Add(slot, {static_cast<std::int64_t>(Another(0, &prng_)),
                                  static_cast<std::int64_t>(Another(0, &prng_))});
    });
  }

  Prng& prng_;
  std::vector<std::function<void()>> changes_;
};

struct ManifestRecord {
  ManifestRecordType type;
  std::string payload;
};

class Forger {
 public:
  Forger(Files* files, std::uint64_t seed) : files_(*files), prng_(seed) {}

  // Changes a field of a file. Returns what was changed, for messages, or "" if nothing could be.
  std::string ChangeSomething() {
    std::vector<std::string> paths;
    for (const auto& [path, bytes] : files_) {
      if (bytes.size() > kFileHeaderSize && !path.ends_with("/LOCK") && !path.ends_with("/LOG")) paths.push_back(path);
    }
    // The MANIFEST is only one of many files, but has the most fields, so choose it more often.
    const std::string path = prng_.OneIn(3) ? ManifestPath() : paths[prng_.Uniform(paths.size())];
    const std::string before = files_.at(path);
    const std::optional<NumberedFile> name = ParseFileName(path.substr(path.rfind('/') + 1));
    if (!name.has_value()) return "";
    const char* what = "";
    if (name->kind == FileKind::kOptions) {
      what = ChangeOptions(path);
    } else if (prng_.OneIn(16)) {
      what = ChangeHeader(path);
    } else if (name->kind == FileKind::kManifest) {
      what = ChangeManifest();
    } else if (name->kind == FileKind::kLog || name->kind == FileKind::kRelocation) {
      what = prng_.OneIn(4) ? ChangeSegmentFooter(path) : ChangeRecord(path);
    } else if (name->kind == FileKind::kLargeValue) {
      what = ChangeRecord(path);
    } else if (name->kind == FileKind::kRun && prng_.OneIn(3)) {
      what = ChangeRunFooter(path);
    } else if (name->kind == FileKind::kRun || name->kind == FileKind::kIndex) {
      what = ChangePage(path);
    }
    return *what == '\0' ? "" : path + ": " + what;
  }

 private:
  std::string ManifestPath() const {
    std::string last;
    for (const auto& [path, bytes] : files_) {
      if (path.find("/MANIFEST-") != std::string::npos) last = path;
    }
    return last;
  }
  FileHeader HeaderOf(const std::string& path) const {
    const Result<FileHeader> header = DecodeFileHeader(Slice(files_.at(path).data(), kFileHeaderSize), path);
    EXPECT_TRUE(header.ok());
    return header.ok() ? *header : FileHeader();
  }

  // Changes a header field that is not part of the seed. Any other field would invalidate all checksums of the file.
  const char* ChangeHeader(const std::string& path) {
    FileHeader header = HeaderOf(path);
    switch (prng_.Uniform(5)) {
      case 0: Change(&header.page_size, &prng_); break;
      case 1: Change(&header.required_features, &prng_); break;
      case 2: Change(&header.optional_features, &prng_); break;
      case 3: Change(&header.created_seconds, &prng_); break;
      default: header.database_id[prng_.Uniform(16)] ^= 1;
    }
    files_.at(path).replace(0, kFileHeaderSize, EncodeFileHeader(header));
    return "header";
  }

  std::vector<ManifestRecord> ManifestRecords() const {
    const std::string& bytes = files_.at(ManifestPath());
    const std::uint64_t seed = HeaderOf(ManifestPath()).Seed();
    std::vector<ManifestRecord> records;
    for (std::size_t at = kFileHeaderSize; at + kManifestRecordHeaderSize <= bytes.size();) {
      const auto header = ParseManifestRecordHeader(Slice(bytes.data() + at, bytes.size() - at), seed, at);
      if (!header.has_value()) break;
      const std::string payload = bytes.substr(at + kManifestRecordHeaderSize, header->size);
      records.push_back({static_cast<ManifestRecordType>(header->type), payload});
      at += kManifestRecordHeaderSize + (header->size + 7) / 8 * 8;
    }
    return records;
  }
  void WriteManifest(const std::vector<ManifestRecord>& records) {
    std::string& bytes = files_.at(ManifestPath());
    const std::uint64_t seed = HeaderOf(ManifestPath()).Seed();
    bytes.resize(kFileHeaderSize);
    std::uint64_t previous = NumberAt<std::uint64_t>(bytes, 120);
    for (const ManifestRecord& record : records) {
      previous = AppendManifestRecord(record.type, record.payload, seed, bytes.size(), previous, &bytes);
    }
  }

  const char* ChangeManifest() {
    std::vector<ManifestRecord> records = ManifestRecords();
    if (records.empty()) return "";
    ManifestRecord& record = records[prng_.Uniform(records.size())];
    const char* what = "a field of an edit";
    switch (prng_.Uniform(8)) {
      case 0:
        ChangeBytes(&record.payload, 0, record.payload.size(), &prng_);
        what = "bytes of a record";
        break;
      case 1:
        record.payload.resize(prng_.Uniform(record.payload.size() + 1));
        what = "a shorter record";
        break;
      case 2: {
        const ManifestRecord again = records[prng_.Uniform(records.size())];
        records.insert(records.begin() + static_cast<std::ptrdiff_t>(prng_.Uniform(records.size() + 1)), again);
        what = "a record twice";
        break;
      }
      default: {
        Result<Edit> edit = DecodeEdit(record.payload);
        if (!edit.ok()) return "";
        EditChanges changes(&prng_);
        changes.AddEdit(&*edit);
        changes.Apply();
        record.payload = EncodeEdit(*edit);
      }
    }
    WriteManifest(records);
    return what;
  }

  // ---- The log ----

  struct Record {
    std::uint64_t offset;
    RecordHeader header;
  };
  std::vector<Record> RecordsOf(const std::string& path) const {
    const std::string& bytes = files_.at(path);
    const std::uint64_t seed = HeaderOf(path).Seed();
    std::vector<Record> records;
    const bool is_large = path.ends_with(".val");
    for (std::uint64_t at = is_large ? kLargeRecordOffset : kFileHeaderSize; at + kRecordHeaderSize <= bytes.size();) {
      Record record{at, {}};
      if (DecodeRecordHeader(bytes.data() + at, seed, at, &record.header) != HeaderCheck::kValid) break;
      records.push_back(record);
      at += record.header.RecordSize();
    }
    return records;
  }

  const char* ChangeRecord(const std::string& path) {
    const std::vector<Record> records = RecordsOf(path);
    if (records.empty()) return "";
    Record record = records[prng_.Uniform(records.size())];
    RecordHeader& header = record.header;
    std::string& bytes = files_.at(path);
    const std::uint64_t body = record.offset + kRecordHeaderSize;
    switch (prng_.Uniform(10)) {
      case 0: Change(&header.sequence, &prng_); break;
      case 1: Change(&header.value_size, &prng_); break;
      case 2: Change(&header.durable_lag, &prng_); break;
      case 3: Change(&header.family, &prng_); break;
      case 4: Change(&header.key_size, &prng_); break;
      case 5: Change(&header.batch_index, &prng_); break;
      case 6: {
        constexpr RecordOp kOps[] = {RecordOp::kPut,   RecordOp::kDelete,   RecordOp::kSingleDelete,
                                     RecordOp::kMerge, RecordOp::kDeleteRange, RecordOp::kPutLarge,
                                     RecordOp::kLink,  RecordOp::kAbort,    RecordOp::kMark};
        header.op = kOps[prng_.Uniform(std::size(kOps))];
        break;
      }
      case 7: header.codec = static_cast<Codec>(prng_.Uniform(4)); break;
      case 8: header.marks ^= 1; break;
      default:
        ChangeBytes(&bytes, body, std::min<std::size_t>(bytes.size(), record.offset + header.RecordSize()), &prng_);
    }
    // Take the body from the present bytes, up to the end of the file.
    const std::size_t there = bytes.size() - body;
    const std::size_t key = std::min<std::size_t>(header.key_size, there);
    const std::size_t value = std::min<std::uint64_t>(header.value_size, there - key);
    header.body_checksum = BodyChecksum(Slice(bytes.data() + body, key), Slice(bytes.data() + body + key, value));
    EncodeRecordHeader(header, HeaderOf(path).Seed(), record.offset, bytes.data() + record.offset);
    return "a record of the log";
  }

  const char* ChangeSegmentFooter(const std::string& path) {
    const std::vector<Record> records = RecordsOf(path);
    std::string& bytes = files_.at(path);
    if (records.empty()) return "";
    const std::uint64_t at = records.back().offset + records.back().header.RecordSize();
    if (at + kFooterTrailerSize > bytes.size()) return "";
    const std::size_t trailer = bytes.size() - kFooterTrailerSize;
    if (NumberAt<std::uint64_t>(bytes, trailer) != trailer - at) return "";
    if (prng_.OneIn(3)) {
      const std::size_t field = trailer + 8 * prng_.Uniform(3);
      SetNumber(&bytes, field, Another(NumberAt<std::uint64_t>(bytes, field), &prng_));
    } else {
      ChangeBytes(&bytes, at, trailer, &prng_);
    }
    const Slice sealed(bytes.data() + at, bytes.size() - 8 - at);
    SetNumber(&bytes, bytes.size() - 8, Checksum64(sealed, SeedAt(HeaderOf(path).Seed(), at)));
    return "the footer of a segment";
  }

  // ---- The index ----

  struct Page {
    std::size_t offset;
    std::size_t size;
    PageId id;
  };
  std::vector<Page> PagesOf(const std::string& path) const {
    const std::string& bytes = files_.at(path);
    const FileHeader header = HeaderOf(path);
    std::vector<Page> pages;
    const std::size_t unit = header.page_size;
    for (std::size_t at = unit; unit >= kPageSizeMin && at + unit <= bytes.size();) {
      const auto id = static_cast<PageId>(NumberAt<std::uint64_t>(bytes, at + 8));
      const std::size_t size = UnitsOf(id) * unit;
      const bool is_here = FileNumberOf(id) == header.number && UnitOffsetOf(id) * unit == at;
      const bool is_page = is_here && at + size <= bytes.size();
      if (is_page) pages.push_back({at, size, id});
      at += is_page ? size : unit;
    }
    return pages;
  }

  const char* ChangePage(const std::string& path) {
    const std::vector<Page> pages = PagesOf(path);
    if (pages.empty()) return "";
    const Page page = pages[prng_.Uniform(pages.size())];
    std::string& bytes = files_.at(path);
    if (prng_.OneIn(2)) {  // the page header: counts and sizes
      static constexpr std::pair<std::size_t, int> kFields[] = {{16, 1}, {17, 1}, {18, 1}, {19, 1}, {20, 4}, {24, 4},
                                                                {28, 4}, {32, 4}, {36, 4}, {40, 8}, {48, 4}, {52, 4}};
      const auto [at, width] = kFields[prng_.Uniform(std::size(kFields))];
      const std::size_t field = page.offset + at;
      if (width == 1) {
        bytes[field] = static_cast<char>(Another(static_cast<unsigned char>(bytes[field]), &prng_));
      } else if (width == 4) {
        SetNumber(&bytes, field,
                  static_cast<std::uint32_t>(Another(NumberAt<std::uint32_t>(bytes, field), &prng_)));
      } else {
        SetNumber(&bytes, field, Another(NumberAt<std::uint64_t>(bytes, field), &prng_));
      }
    } else if (prng_.OneIn(2)) {  // a field of 8 bytes: the entry of a key, or a child
      const std::size_t field = page.offset + 48 + 8 * prng_.Uniform((page.size - 48) / 8);
      SetNumber(&bytes, field, Another(NumberAt<std::uint64_t>(bytes, field), &prng_));
    } else {
      ChangeBytes(&bytes, page.offset + 16, page.offset + page.size, &prng_);
    }
    SealPage(path, page);
    return "a page";
  }

  // Updates the page's checksum, and those in all references to it, up to the MANIFEST.
  void SealPage(const std::string& path, const Page& page) {
    std::string& bytes = files_.at(path);
    const auto before = NumberAt<std::uint64_t>(bytes, page.offset);
    const FileHeader header = HeaderOf(path);
    const std::uint64_t after = PageChecksum(Slice(bytes.data() + page.offset, page.size), page.id,
                                             static_cast<std::uint32_t>(header.page_size), header.Seed());
    SetNumber(&bytes, page.offset, after);
    ReplaceChecksum(before, after, path, page.offset);
  }

  void ReplaceChecksum(std::uint64_t before, std::uint64_t after, const std::string& path, std::size_t changed) {
    if (before == after) return;
    std::string old_bytes(8, '\0');
    std::string new_bytes(8, '\0');
    SetNumber(&old_bytes, 0, before);
    SetNumber(&new_bytes, 0, after);
    std::vector<std::pair<std::string, Page>> above;
    for (const auto& [its_path, bytes] : files_) {
      if (!its_path.ends_with(".run") && !its_path.ends_with(".idx")) continue;
      for (const Page& page : PagesOf(its_path)) {
        if (its_path == path && page.offset == changed) continue;
        const std::size_t at = bytes.find(old_bytes, page.offset + 16);
        if (at != std::string::npos && at + 8 <= page.offset + page.size) above.emplace_back(its_path, page);
      }
      if (its_path != path || !its_path.ends_with(".run")) continue;
      const RunFooter footer = FooterOf(its_path);
      if (footer.root.page.checksum != before) continue;
      RunFooter another = footer;
      another.root.page.checksum = after;
      WriteFooter(its_path, another);
    }
    for (const auto& [its_path, page] : above) {
      std::string& bytes = files_.at(its_path);
      const std::size_t at = bytes.find(old_bytes, page.offset + 16);
      if (at == std::string::npos || at + 8 > page.offset + page.size) continue;
      bytes.replace(at, 8, new_bytes);
      SealPage(its_path, page);
    }
    std::vector<ManifestRecord> records = ManifestRecords();
    bool is_named = false;
    for (ManifestRecord& record : records) {
      for (std::size_t at = 0; (at = record.payload.find(old_bytes, at)) != std::string::npos; at += 8) {
        record.payload.replace(at, 8, new_bytes);
        is_named = true;
      }
    }
    if (is_named) WriteManifest(records);
  }

  RunFooter FooterOf(const std::string& path) const {
    const std::string& bytes = files_.at(path);
    SimFileSystem fs;
    EXPECT_TRUE(fs.tampering().WriteContents("/run", bytes).ok());
    std::unique_ptr<File> file;
    EXPECT_TRUE(fs.Open("/run", OpenMode::kReadOnly, {}, &file).ok());
    const Result<RunFooter> footer = ReadRunFooter(*file, bytes.size(), HeaderOf(path));
    return footer.ok() ? *footer : RunFooter();
  }
  void WriteFooter(const std::string& path, RunFooter footer) {
    const std::uint64_t before = FooterOf(path).checksum;
    std::string& bytes = files_.at(path);
    bytes.resize(footer.offset);
    bytes += EncodeRunFooter(&footer, HeaderOf(path).Seed());
    ReplaceChecksum(before, footer.checksum, "", 0);
  }

  const char* ChangeRunFooter(const std::string& path) {
    RunFooter footer = FooterOf(path);
    if (footer.offset == 0) return "";
    switch (prng_.Uniform(13)) {
      case 0: Change(&footer.root.page.id, &prng_); break;
      case 1: Change(&footer.root.page.checksum, &prng_); break;
      case 2: Change(&footer.root.height, &prng_); break;
      case 3: Change(&footer.root.entry_count, &prng_); break;
      case 4: Change(&footer.root.value_bytes, &prng_); break;
      case 5: Change(&footer.tombstone_count, &prng_); break;
      case 6: Change(&footer.filter_offset, &prng_); break;
      case 7: Change(&footer.filter_size, &prng_); break;
      case 8: Change(&footer.ranges_size, &prng_); break;
      case 9: Change(&footer.range_count, &prng_); break;
      case 10: ChangeBytes(&footer.smallest_key, 0, footer.smallest_key.size(), &prng_); break;
      case 11: ChangeBytes(&footer.largest_key, 0, footer.largest_key.size(), &prng_); break;
      default: footer.largest_is_open = !footer.largest_is_open;
    }
    WriteFooter(path, footer);
    return "the footer of a run";
  }

  const char* ChangeOptions(const std::string& path) {
    const std::optional<Slice> text = UnsealText(files_.at(path));
    if (!text.has_value()) return "";
    std::string changed = text->ToString();
    ChangeBytes(&changed, 0, changed.size() - 1, &prng_);
    changed.back() = '\n';
    files_.at(path) = SealText(std::move(changed));
    return "OPTIONS";
  }

  Files& files_;
  Prng prng_;
};

// ---- Readers ----

class Victim {
 public:
  explicit Victim(const Files& files, const Options& options) : files_(files), options_(options) {}

  // Returns a copy of the files, since Open changes files.
  std::shared_ptr<SimFileSystem> Disk() const {
    auto fs = std::make_shared<SimFileSystem>();
    for (const auto& [path, bytes] : files_) EXPECT_TRUE(fs->tampering().WriteContents(path, bytes).ok());
    return fs;
  }

  VerifyReport Verify(Status* s) const {
    Options options = options_;
    options.file_system = Disk();
    VerifyReport report;
    *s = VerifyDB(kStorePath, options, {.deep = true}, &report);
    return report;
  }

  // Salvages the database; the result must be without damage.
  void Salvage() const {
    Options options = options_;
    options.file_system = Disk();
    for (const bool unproven : {false, true}) {
      const std::string out = unproven ? "/all" : "/sure";
      RepairOptions how;
      how.include_unproven = unproven;
      RepairReport report;
      const Status s =
          RepairDB(kStorePath, out, options, {{kDefaultColumnFamilyName, options}}, how, &report);
      if (!s.ok()) continue;
      VerifyReport verified;
      const Status checked = VerifyDB(out, options, {.deep = true}, &verified);
      EXPECT_TRUE(checked.ok()) << checked.ToString();
      EXPECT_TRUE(verified.problems.empty()) << verified.problems.front();
    }
  }

  // Inspects each file by itself and all together, as the commands dump and stats do.
  void Inspect() const {
    const std::shared_ptr<SimFileSystem> fs = Disk();
    for (const auto& [path, bytes] : files_) WalkFile(*fs, path);
    ManifestRead read;
    static_cast<void>(ReadManifestFile(*fs, NewestManifest(), [](const ManifestRecordSeen&) {}, &read));
    Result<std::unique_ptr<InspectedDatabase>> opened = InspectedDatabase::Open(fs, kStorePath);
    if (!opened.ok() || !(*opened)->OpenFiles().ok()) return;
    ValueSample sample;
    static_cast<void>(ReportSpace(opened->get(), &sample, nullptr));
  }

  Status OpenAndRead() const {
    TestStore store(Disk());
    Options options = options_;
    options.file_system = store.fs;
    options.executor = store.executor;
    options.clock = store.clock;
    store.options = options;
    CAMBIUM_RETURN_IF_ERROR(store.Open());
    Status first;
    const auto note = [&first](const Status& s) {
      if (first.ok()) first = s;
    };
    for (const bool forward : {true, false}) {
      const std::unique_ptr<Iterator> it(store.db->NewIterator({}));
      std::uint64_t met = 0;
      for (forward ? it->SeekToFirst() : it->SeekToLast(); it->Valid(); forward ? it->Next() : it->Prev()) {
        if (it->key().size() > kMaxKeySize || it->value().size() > kMaxValueBytes || ++met > 1'000'000) {
          ADD_FAILURE() << "a key of " << it->key().size() << " bytes, a value of " << it->value().size() << ", entry "
                        << met;
          break;
        }
      }
      note(it->status());
    }
    std::string value;
    for (const std::string key : {"t100", "t120", "t139", "large", "late", "u1", ""}) {
      const Status s = store.db->Get({}, key, &value);
      if (!s.IsNotFound()) note(s);
    }
    note(store.db->Put({}, "new", std::string(100, 'n')));
    note(store.db->Flush({}));
    CompactRangeOptions compact;
    compact.blob_garbage_collection_policy = BlobGarbageCollectionPolicy::kForce;
    note(store.db->CompactRange(compact, nullptr, nullptr));
    store.executor->RunAll();
    note(store.db->Close());
    return first;
  }

 private:
  std::string NewestManifest() const {
    std::string last;
    for (const auto& [path, bytes] : files_) {
      if (path.find("/MANIFEST-") != std::string::npos) last = path;
    }
    return last;
  }

  static void WalkFile(SimFileSystem& fs, const std::string& path) {
    const std::optional<NumberedFile> name = ParseFileName(path.substr(path.rfind('/') + 1));
    std::unique_ptr<File> file;
    FileInfo info;
    if (!name.has_value() || !fs.Open(path, OpenMode::kReadOnly, {}, &file).ok() || !file->GetInfo(&info).ok()) return;
    const Result<FileHeader> header = ReadFileHeader(*file, name->kind, name->number);
    if (!header.ok()) return;
    if (name->kind == FileKind::kLog || name->kind == FileKind::kRelocation) {
      const Result<std::uint64_t> footer = FindFooter(*file, header->Seed(), info.size);
      std::uint64_t end = footer.ok() && *footer != 0 ? *footer : info.size;
      SegmentWalkCallbacks callbacks;
      callbacks.on_record = [](const ScannedRecord&) { return Status::OK(); };
      callbacks.on_damage = [](const DamagedStretch&) { return Status::OK(); };
      static_cast<void>(WalkSegment(*file, header->Seed(), kFileHeaderSize, end, {}, callbacks, &end));
    }
    if (name->kind != FileKind::kRun && name->kind != FileKind::kIndex) return;
    if (name->kind == FileKind::kRun) static_cast<void>(ReadRunFooter(*file, info.size, *header));
    if (header->page_size < kPageSizeMin || !IsLegalPageSize(header->page_size)) return;
    const IndexFile pages(std::shared_ptr<File>(std::move(file)), *header, nullptr);
    PageWalkCallbacks callbacks;
    callbacks.on_page = [](const WalkedPage& page) {
      std::string scratch;
      for (std::uint32_t i = 0; i < page.view->key_count(); ++i) {
        EXPECT_LE(page.view->key(i, &scratch).size(), kMaxKeySize);
      }
      for (std::uint32_t i = 0; page.view->is_leaf() && i < page.view->count(); ++i) {
        const Entry entry = page.view->entry(i);
        if (entry.kind == EntryKind::kInline) static_cast<void>(entry.inline_value.ToString());
      }
      return Status::OK();
    };
    callbacks.on_damage = [](const DamagedStretch&) { return Status::OK(); };
    static_cast<void>(WalkPages(pages, info.size, callbacks));
  }

  const Files& files_;
  const Options options_;
};

class HostileFilesTest : public ::testing::Test {
 protected:
  // Changes and reads `copies` copies of the subject, each changed at another place.
  void Forge(End end, CompressionType compression, std::uint64_t copies) {
    const Subject subject = MakeSubject(7, end, false, compression);
    TestStore settings;
    UseSubjectOptions(&settings.options);
    settings.options.compression = compression;
    const SimFileSystem disk(subject.image);
    Files original;
    for (const auto& file : disk.probe().ListFiles()) {
      ASSERT_TRUE(disk.probe().ReadContents(file.path, &original[file.path]).ok());
    }
    const std::uint64_t seed = SeedFromEnvironment(20'261);
    std::uint64_t changed = 0;
    std::uint64_t seen = 0;
    std::uint64_t unseen_failures = 0;
    for (std::uint64_t copy = 0; copy < ScaledCount(copies); ++copy) {
      Files files = original;
      const std::string what = Forger(&files, seed + copy).ChangeSomething();
      if (what.empty() || files == original) continue;
      ++changed;
      SCOPED_TRACE("copy " + std::to_string(copy) + ": " + what);
      ::alarm(kSecondsMax);  // kills a copy that hangs
      taken_max = taken.load();
      const std::size_t before = taken_max;
      const Victim victim(files, settings.options);
      Status verified;
      const VerifyReport report = victim.Verify(&verified);
      EXPECT_FALSE(verified.IsIOError()) << verified.ToString();
      victim.Salvage();
      victim.Inspect();
      const Status read = victim.OpenAndRead();
      seen += report.problems.empty() ? 0 : 1;
      unseen_failures += verified.ok() && report.problems.empty() && read.IsCorruption() ? 1 : 0;
      EXPECT_LT(taken_max - before, kMemoryMax);
      if (HasFailure()) break;
    }
    ::alarm(0);
    std::printf("%llu copies, %llu with a problem that verify names; %llu that it does not and reads fail on\n",
                static_cast<unsigned long long>(changed), static_cast<unsigned long long>(seen),
                static_cast<unsigned long long>(unseen_failures));
    EXPECT_GT(changed, ScaledCount(copies) / 2) << "few copies could be changed";
    EXPECT_GT(seen, changed / 4);
  }
};

TEST_F(HostileFilesTest, ClosedDatabase) { Forge(End::kClean, CompressionType::kNoCompression, 400); }
TEST_F(HostileFilesTest, CrashedDatabase) { Forge(End::kCrash, CompressionType::kNoCompression, 400); }
TEST_F(HostileFilesTest, CompressedDatabase) { Forge(End::kClean, CompressionType::kLZ4Compression, 300); }

}  // namespace
}  // namespace cambium::testing::hostile_files_test
