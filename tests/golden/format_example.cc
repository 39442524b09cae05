#include "golden/format_example.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <vector>

#include "testing/test_store.h"
#include "index/filter.h"
#include "index/page_format.h"
#include "index/run_footer.h"
#include "io/file_header.h"
#include "manifest/edit.h"
#include "manifest/file_names.h"
#include "manifest/manifest_reader.h"
#include "manifest/manifest_record.h"
#include "util/coding.h"
#include "vlog/record_format.h"
#include "vlog/segment_footer.h"
#include "vlog/segment_scanner.h"

namespace cambium::testing {
namespace {

std::string Number(std::uint64_t n) { return std::to_string(n); }
std::string Quoted(Slice text) { return "\"" + text.ToString() + "\""; }
std::string PageIdText(PageId id) {
  if (id == PageId::kNone) return "none";
  return "file " + Number(FileNumberOf(id)) + ", unit " + Number(UnitOffsetOf(id)) + ", " + Number(UnitsOf(id)) + " unit";
}

// A Dump writes the lines of one file. Each call takes the next bytes of the file.
class Dump {
 public:
  explicit Dump(Slice file) : file_(file) {}

  void Section(const std::string& text) { lines_ += (lines_.empty() ? "" : "\n") + text + "\n"; }

  Slice Field(std::uint64_t size, const std::string& text) {
    EXPECT_LE(size, file_.size() - at_) << text;
    const Slice bytes = file_.substr(at_, size);
    for (std::size_t row = 0; row < bytes.size(); row += kRow) {
      const Slice part = bytes.substr(row, std::min(kRow, bytes.size() - row));
      Line(at_ + row, Hex(part), row == 0 ? text : "");
    }
    at_ += size;
    return bytes;
  }

  void ZerosTo(std::uint64_t end, const std::string& text) {
    if (end == at_) return;
    const Slice bytes = file_.substr(at_, end - at_);
    EXPECT_TRUE(std::ranges::all_of(bytes, [](char c) { return c == '\0'; })) << text;
    Line(at_, Number(bytes.size()) + (bytes.size() == 1 ? " zero" : " zeros"), text);
    at_ = end;
  }

  [[nodiscard]] std::uint64_t at() const { return at_; }
  [[nodiscard]] Slice rest() const { return file_.substr(at_, file_.size() - at_); }
  // Returns all lines. Fails the test if not every byte was taken.
  [[nodiscard]] std::string Finish() const {
    EXPECT_EQ(at_, file_.size()) << "bytes without a name";
    return lines_;
  }

 private:
  static constexpr std::size_t kRow = 16;

  static std::string Hex(Slice bytes) {
    std::string text;
    for (const char c : bytes) {
      char digits[4];
      std::snprintf(digits, sizeof(digits), "%s%02x", text.empty() ? "" : " ", static_cast<unsigned char>(c));
      text += digits;
    }
    return text;
  }
  void Line(std::uint64_t offset, const std::string& bytes, const std::string& text) {
    char start[96];
    std::snprintf(start, sizeof(start), "%5llu  %-47s  ", static_cast<unsigned long long>(offset), bytes.c_str());
    std::string line = start + text;
    line.erase(line.find_last_not_of(' ') + 1);
    lines_ += line + "\n";
  }

  const Slice file_;
  std::uint64_t at_ = 0;
  std::string lines_;
};

// ---- File header ----

const char* NameOf(FileKind kind) {
  switch (kind) {
    case FileKind::kManifest: return "MANIFEST";
    case FileKind::kLog: return "log";
    case FileKind::kRun: return "run";
    default: return "?";
  }
}

FileHeader DumpFileHeader(Slice file, Dump* dump) {
  const Slice bytes = file.substr(0, kFileHeaderSize);
  Result<FileHeader> decoded = DecodeFileHeader(bytes, "example");
  EXPECT_TRUE(decoded.ok()) << decoded.status().ToString();
  const FileHeader header = *decoded;
  EXPECT_EQ(EncodeFileHeader(header), bytes);
  dump->Section("file header");
  dump->Field(8, "magic \"CAMBIUM1\"");
  dump->Field(4, "format version " + Number(kFormatVersion));
  dump->Field(4, "kind " + Number(static_cast<std::uint32_t>(header.kind)) + ": " + NameOf(header.kind));
  dump->Field(4, "required features: none");
  dump->Field(4, "optional features: none");
  dump->Field(16, "database id");
  dump->Field(16, "file id");
  dump->Field(8, "number " + Number(header.number));
  dump->Field(8, "epoch " + Number(header.epoch));
  dump->Field(8, "created " + Number(header.created_seconds) + " seconds after 1970");
  dump->Field(8, header.page_size == 0 ? "page size: no pages" : "page size " + Number(header.page_size));
  dump->ZerosTo(kFileHeaderSize - 8, "reserved");
  dump->Field(8, "checksum of the 120 bytes above");
  return header;
}

// ---- Log segment ----

const char* NameOf(RecordOp op) { return op == RecordOp::kLink ? "link" : op == RecordOp::kPut ? "put" : "?"; }

void DumpRecord(const ScannedRecord& record, std::uint64_t seed, Dump* dump) {
  const RecordHeader& header = record.header;
  char encoded[kRecordHeaderSize];
  EncodeRecordHeader(header, seed, record.offset, encoded);
  EXPECT_EQ(Slice(encoded, kRecordHeaderSize), dump->rest().substr(0, kRecordHeaderSize));
  dump->Section(std::string("record: ") + NameOf(header.op));
  dump->Field(8, "header checksum");
  dump->Field(8, "body checksum");
  dump->Field(8, "sequence " + Number(header.sequence));
  dump->Field(8, "value size " + Number(header.value_size));
  dump->Field(4, "write time " + Number(header.write_time));
  dump->Field(4, "durable lag " + (header.durable_lag == kNothingDurable ? "unknown" : Number(header.durable_lag)));
  dump->Field(4, "family " + Number(header.family));
  dump->Field(4, "key size " + Number(header.key_size));
  dump->Field(4, "batch index " + Number(header.batch_index));
  dump->Field(1, "operation " + Number(static_cast<std::uint8_t>(header.op)) + ": " + NameOf(header.op));
  dump->Field(1, "codec " + Number(static_cast<std::uint8_t>(header.codec)));
  dump->Field(1, std::string("marks") + ((header.marks & kLastOfBatch) != 0 ? ": last operation of its batch" : ""));
  dump->Field(1, "zero");
  if (header.op == RecordOp::kLink) {
    SegmentLink link;
    EXPECT_TRUE(DecodeSegmentLink(record.stored_value, &link));
    dump->Field(8, "segment before this one: " + (link.number == 0 ? "none" : Number(link.number)));
    dump->Field(8, "where its log ends: " + Number(link.length));
    dump->Field(8, "its last sequence: " + Number(link.last_sequence));
  } else {
    EXPECT_EQ(dump->Field(header.key_size, "key " + Quoted(record.key)), record.key);
    EXPECT_EQ(dump->Field(header.value_size, "value " + Quoted(record.stored_value)), record.stored_value);
  }
  dump->ZerosTo(record.end(), "up to a multiple of 8");
}

std::string DumpLog(const File& file, Slice bytes) {
  Dump dump(bytes);
  const std::uint64_t seed = DumpFileHeader(bytes, &dump).Seed();
  SegmentScanner scanner(file, seed, kFileHeaderSize, bytes.size(), nullptr);
  ScannedRecord record;
  for (Result<ScanResult> next = scanner.Next(&record); next.ok() && *next == ScanResult::kRecord;
       next = scanner.Next(&record)) {
    DumpRecord(record, seed, &dump);
  }
  return dump.Finish();  // fails for a segment with a footer
}

// ---- Run ----

void DumpLeaf(Slice page, PageId id, Dump* dump) {
  const Result<PageView> parsed = PageView::Parse(page, "example", dump->at());
  ASSERT_TRUE(parsed.ok()) << parsed.status().ToString();
  const PageView& view = *parsed;
  ASSERT_TRUE(view.is_leaf() && view.count() == 1 && view.has_fixed_stride());  // the only kind of leaf dumped here
  const std::uint64_t page_end = dump->at() + page.size();
  dump->Section("page: a leaf, and the root");
  dump->Field(8, "checksum of the page");
  dump->Field(8, "page id: " + PageIdText(id));
  dump->Field(1, "type 1: leaf");
  dump->Field(1, "level " + Number(view.level()));
  dump->Field(1, "flags: heads ascend");
  dump->Field(1, "filter probes: no filter in this page");
  dump->Field(4, "count " + Number(view.count()));
  std::string scratch;
  const std::string key = view.key(0, &scratch).ToString();  // the whole key is the prefix
  dump->Field(4, "prefix length " + Number(view.prefix_size()));
  EXPECT_EQ(DecodeFixed<std::uint32_t>(dump->Field(4, "suffix length 0").data()), 0u);
  EXPECT_EQ(DecodeFixed<std::uint32_t>(dump->Field(4, "key stride 0: a single key is all prefix").data()), 0u);
  const std::uint32_t heap = DecodeFixed<std::uint32_t>(dump->rest().data());
  dump->Field(4, "heap offset " + Number(heap));
  dump->Field(8, "value bytes " + Number(view.value_bytes()));
  EXPECT_EQ(dump->Field(view.prefix_size(), "prefix " + Quoted(key)), key);
  dump->ZerosTo(AlignUp(dump->at(), 8), "up to a multiple of 8");
  const ValueAddress address = view.entry(0).address;
  EXPECT_EQ(DecodeFixed<std::uint64_t>(dump->rest().data()), address.word());
  dump->Field(8, "word: value address: kind " + Number(static_cast<unsigned>(address.kind())) + ", size " +
                     Number(address.size()) + ", slot " + Number(static_cast<std::uint32_t>(address.slot())) +
                     ", offset " + Number(address.offset()));
  dump->Field(4, "head: nothing after the prefix");
  EXPECT_EQ(dump->at(), page_end - page.size() + heap);
  dump->ZerosTo(page_end, "up to the end of the unit");
}

std::string DumpRun(const File& file, Slice bytes) {
  Dump dump(bytes);
  const FileHeader header = DumpFileHeader(bytes, &dump);
  const auto page_size = static_cast<std::uint32_t>(header.page_size);
  Result<RunFooter> read = ReadRunFooter(file, bytes.size(), header);
  EXPECT_TRUE(read.ok()) << read.status().ToString();
  RunFooter footer = *read;
  EXPECT_EQ(EncodeRunFooter(&footer, header.Seed()), bytes.substr(footer.offset, bytes.size() - footer.offset));

  const PageId root = footer.root.page.id;
  EXPECT_EQ(footer.root.height, 1u);
  EXPECT_EQ(UnitOffsetOf(root), 1u);
  dump.ZerosTo(page_size, "up to the end of the unit");
  const Slice page = bytes.substr(page_size, std::size_t{UnitsOf(root)} * page_size);
  EXPECT_TRUE(VerifyPage(page, root, page_size, header.Seed(), "example").ok());
  DumpLeaf(page, root, &dump);

  EXPECT_EQ(dump.at(), footer.filter_offset);
  EXPECT_TRUE(Filter::Parse(bytes.substr(footer.filter_offset, footer.filter_size)).ok());
  const std::uint64_t blocks = (footer.filter_size - kFilterTrailerSize) / kFilterBlockSize;
  dump.Section("filter");
  dump.Field(blocks * kFilterBlockSize, "block: the bits of the key");
  dump.Field(4, "blocks " + Number(blocks));
  dump.Field(1, "probes " + Number(static_cast<unsigned char>(dump.rest()[0])));
  dump.Field(3, "zeros");

  EXPECT_EQ(dump.at(), footer.offset);
  EXPECT_EQ(footer.ranges_size, 0u);
  dump.Section("footer");
  dump.Field(footer.smallest_key.size(), "smallest key " + Quoted(footer.smallest_key));
  dump.Field(footer.largest_key.size(), "largest key " + Quoted(footer.largest_key));
  dump.Field(8, "root page id");
  dump.Field(8, "root checksum, as in the page");
  dump.Field(4, "height " + Number(footer.root.height));
  dump.Field(4, "flags: none");
  dump.Field(8, "entry count " + Number(footer.root.entry_count));
  dump.Field(8, "tombstone count " + Number(footer.tombstone_count));
  dump.Field(8, "value bytes " + Number(footer.root.value_bytes));
  dump.Field(8, "filter offset " + Number(footer.filter_offset));
  dump.Field(8, "filter size " + Number(footer.filter_size));
  dump.Field(8, "filter checksum");
  dump.Field(4, "smallest key size " + Number(footer.smallest_key.size()));
  dump.Field(4, "largest key size " + Number(footer.largest_key.size()));
  dump.Field(8, "footer offset " + Number(footer.offset));
  dump.Field(4, "ranges size " + Number(footer.ranges_size));
  dump.Field(4, "range count " + Number(footer.range_count));
  dump.Field(8, "ranges checksum: no ranges");
  dump.Field(8, "footer checksum");
  return dump.Finish();
}

// ---- MANIFEST ----

enum class Form { kNumber, kPageId, kId, kSum, kText, kList, kAccounts, kMessage };
struct FieldName {
  std::uint64_t tag;
  const char* name;
  Form form;
  const std::vector<FieldName>* parts = nullptr;  // of a message
};
using Schema = std::vector<FieldName>;

// The fields of manifest/edit.h. A tag without a row fails the test.
const Schema kCreation = {{1, "name", Form::kText}, {2, "index type", Form::kNumber}, {3, "comparator", Form::kText},
                          {4, "page size", Form::kNumber}};
const Schema kRoot = {{1, "page id", Form::kPageId}, {2, "page checksum", Form::kSum}, {3, "height", Form::kNumber},
                      {4, "entries", Form::kNumber}, {5, "value bytes", Form::kNumber}};
const Schema kRunFields = {{1, "number", Form::kNumber},        {2, "kind", Form::kNumber},
                           {3, "file id", Form::kId},           {4, "root", Form::kMessage, &kRoot},
                           {5, "tombstones", Form::kNumber},    {6, "file size", Form::kNumber},
                           {7, "footer checksum", Form::kSum},  {8, "smallest key", Form::kText},
                           {9, "largest key", Form::kText},     {10, "range deletes", Form::kNumber},
                           {11, "largest is open", Form::kNumber}};
const Schema kFamily = {{1, "id", Form::kNumber},
                        {2, "creation", Form::kMessage, &kCreation},
                        {3, "flushed sequence", Form::kNumber},
                        {4, "added run", Form::kMessage, &kRunFields},
                        {5, "layers", Form::kList},
                        {6, "root of the tree", Form::kMessage, &kRoot},
                        {11, "account (slot, references, bytes)", Form::kAccounts}};
const Schema kSegment = {{1, "number", Form::kNumber},        {2, "slot", Form::kNumber},
                         {3, "kind", Form::kNumber},          {4, "file id", Form::kId},
                         {5, "epoch", Form::kNumber},         {6, "sealed", Form::kNumber},
                         {7, "has footer", Form::kNumber},    {8, "sealed length", Form::kNumber},
                         {9, "file size", Form::kNumber},     {10, "last sequence", Form::kNumber}};
const Schema kEdit = {{1, "database id", Form::kId},
                      {2, "epoch", Form::kNumber},
                      {3, "next file number", Form::kNumber},
                      {4, "last sequence in a layer", Form::kNumber},
                      {5, "durable sequence", Form::kNumber},
                      {6, "replay position (segment, offset, sequence)", Form::kList},
                      {7, "clean shutdown", Form::kNumber},
                      {8, "family", Form::kMessage, &kFamily},
                      {9, "segment", Form::kMessage, &kSegment},
                      {10, "dropped segments", Form::kList},
                      {11, "next family id", Form::kNumber}};

std::vector<std::uint64_t> NumbersOf(const FieldName& field, Slice bytes) {
  std::vector<std::uint64_t> numbers;
  std::uint64_t number = 0;
  while (!bytes.empty()) {
    if (!GetVarint64(&bytes, &number)) {
      ADD_FAILURE() << field.name;
      break;
    }
    numbers.push_back(number);
  }
  return numbers;
}

// Returns " = 12", or "" for ids, checksums and messages.
std::string ValueText(const FieldName& field, Slice value) {
  if (field.form == Form::kText) return " = " + Quoted(value);
  if (field.form == Form::kId || field.form == Form::kSum || field.form == Form::kMessage) return "";
  const std::vector<std::uint64_t> numbers = NumbersOf(field, value);
  if (field.form == Form::kPageId) return " = " + PageIdText(static_cast<PageId>(numbers.at(0)));
  std::string text;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const bool is_signed = field.form == Form::kAccounts && i % 3 != 0;
    text += (i == 0 ? " = " : ", ") + (is_signed ? std::to_string(UnZigZag(numbers[i])) : Number(numbers[i]));
  }
  return text.empty() ? " = none" : text;
}

// Dumps a message. The line of a field has its tag, length and value; a message has a line of its own before its
// fields.
void DumpMessage(std::uint64_t size, const Schema& schema, const std::string& indent, Dump* dump) {
  const std::uint64_t end = dump->at() + size;
  while (dump->at() < end) {
    Slice rest = dump->rest();
    const std::size_t before = rest.size();
    std::uint64_t tag = 0;
    std::uint64_t length = 0;
    ASSERT_TRUE(GetVarint64(&rest, &tag) && GetVarint64(&rest, &length) && length <= rest.size());
    const std::size_t head = before - rest.size();
    const auto field = std::ranges::find(schema, tag, &FieldName::tag);
    ASSERT_NE(field, schema.end()) << "tag " << tag << " has no name here";
    const std::string text = indent + Number(tag) + " " + field->name + ValueText(*field, rest.substr(0, length));
    if (field->form == Form::kMessage) {
      dump->Field(head, text + ", " + Number(length) + " bytes:");
      DumpMessage(length, *field->parts, indent + "  ", dump);
    } else {
      dump->Field(head + length, text);
    }
  }
  ASSERT_EQ(dump->at(), end);
}

std::string DumpManifest(FileSystem& fs, const std::string& path, Slice bytes) {
  Dump dump(bytes);
  const std::uint64_t seed = DumpFileHeader(bytes, &dump).Seed();
  ManifestRead read;
  const auto on_record = [&](const ManifestRecordSeen& record) {
    EXPECT_EQ(dump.at(), record.offset);
    const auto header = ParseManifestRecordHeader(dump.rest(), seed, record.offset);
    ASSERT_TRUE(header.has_value());
    const Slice payload = dump.rest().substr(kManifestRecordHeaderSize, header->size);
    EXPECT_EQ(EncodeEdit(*record.edit), payload);
    dump.Section(std::string("record: ") + (record.is_snapshot ? "snapshot" : "edit"));
    dump.Field(8, "header checksum");
    dump.Field(8, "payload checksum");
    dump.Field(8, std::string("previous: checksum of the ") + (record.is_snapshot ? "file header" : "header above"));
    dump.Field(8, "size of the payload " + Number(header->size));
    dump.Field(4, "type " + Number(header->type) + (record.is_snapshot ? ": snapshot" : ": edit"));
    dump.Field(4, "reserved");
    DumpMessage(header->size, kEdit, "", &dump);
    dump.ZerosTo(record.offset + record.size, "up to a multiple of 8");
  };
  const Status s = ReadManifestFile(fs, path, on_record, &read);
  EXPECT_TRUE(s.ok()) << s.ToString();
  return dump.Finish();
}

}  // namespace

std::map<std::string, std::string> FormatExampleBlocks() {
  TestStore store;
  store.options.index_type = IndexKind::kLsm;  // a flush makes a run
  store.options.min_blob_size = 16;
  store.MustOpen();
  store.Put("apple", "a value of 24 characters", true);
  store.Flush();
  store.MustClose();

  std::map<std::string, std::string> blocks;
  std::string& directory = blocks["directory"];
  for (const auto& [path, bytes] : store.Files()) {
    const std::string name = path.substr(path.rfind('/') + 1);
    if (name.starts_with("OPTIONS-")) continue;  // text that changes with new options
    char line[64];
    std::snprintf(line, sizeof(line), "%-16s %5zu bytes\n", name.c_str(), bytes.size());
    directory += line;
    const std::optional<NumberedFile> parsed = ParseFileName(name);
    if (!parsed.has_value()) continue;
    std::unique_ptr<File> file;
    EXPECT_TRUE(store.fs->Open(path, OpenMode::kReadOnly, FileOptions(), &file).ok());
    switch (parsed->kind) {
      case FileKind::kLog: blocks["log"] = DumpLog(*file, bytes); break;
      case FileKind::kRun: blocks["run"] = DumpRun(*file, bytes); break;
      case FileKind::kManifest: blocks["MANIFEST"] = DumpManifest(*store.fs, path, bytes); break;
      default: ADD_FAILURE() << name << " has no dump";
    }
  }
  return blocks;
}

std::string WithBlocks(const std::string& document, const std::map<std::string, std::string>& blocks) {
  const std::string mark = "<!-- generated: ";
  std::string text;
  std::size_t at = 0;
  std::size_t found = 0;
  for (std::size_t start = document.find(mark); start != std::string::npos; start = document.find(mark, at)) {
    const std::size_t name_end = document.find(" -->", start);
    const std::string name = document.substr(start + mark.size(), name_end - start - mark.size());
    const std::size_t body = document.find("```\n", start) + 4;
    const std::size_t body_end = document.find("```\n", body);
    const auto block = blocks.find(name);
    if (body_end == std::string::npos || block == blocks.end()) {
      ADD_FAILURE() << "no block \"" << name << "\"";
      return text;
    }
    text += document.substr(at, body - at) + block->second;
    at = body_end;
    ++found;
  }
  EXPECT_EQ(found, blocks.size());
  return text + document.substr(at);
}

}  // namespace cambium::testing
