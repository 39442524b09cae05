#include "index/run.h"

#include <algorithm>
#include <cassert>
#include <optional>

#include "index/filter.h"
#include "index/read_bytes.h"
#include "index/run_footer.h"
#include "index/run_sink.h"
#include "index/tree_cursor.h"
#include "util/checksum.h"
#include "util/mutant.h"

namespace cambium {
namespace {

// Bounds the memory that a run's range deletes need in its reader; far more than memtables can produce.
constexpr std::size_t kRunRangesSizeMax = std::size_t{1} << 30;

FileHeader RunHeader(FileHeader header, const RunOptions& options) {
  header.kind = FileKind::kRun;
  header.page_size = options.page_size;
  return header;
}

std::uint32_t BlockSizeOf(const RunOptions& options) {
  return options.block_size != 0 ? options.block_size : DefaultBlockSize(options.page_size);
}

Status CheckBlockSize(const RunOptions& options) {
  const std::uint32_t least = 2 * options.page_size;
  const std::uint32_t most = kPageUnitsMax / 2 * options.page_size;
  const std::uint32_t size = BlockSizeOf(options);
  if (options.compression == Codec::kNone || (size >= least && size <= most)) return Status::OK();
  return Status::InvalidArgument("block_size of " + std::to_string(size) + " bytes; with a page_size of " +
                                 std::to_string(options.page_size) + " it is " + std::to_string(least) + " to " +
                                 std::to_string(most));
}

Result<std::uint64_t> SizeOf(const File& file) {
  FileInfo info;
  CAMBIUM_RETURN_IF_ERROR(file.GetInfo(&info));
  return info.size;
}

// Reads a block that the footer refers to and verifies its checksum. The caller has checked that it is within the file.
Result<std::string> ReadBlock(const IndexFile& file, const char* what, std::uint64_t offset, std::uint64_t size,
                              std::uint64_t checksum) {
  const auto corrupt = [&](const char* why) {
    return Status::Corruption(file.path() + ":" + std::to_string(offset) + ": " + what + " " + why);
  };
  std::string bytes(size, '\0');
  std::size_t read = 0;
  CAMBIUM_RETURN_IF_ERROR(ReadBytes(file.file(), offset, bytes.size(), bytes.data(), &read));
  if (read != bytes.size()) return corrupt("is cut off");
  if (!ChecksumMatches(checksum, Checksum64(bytes, SeedAt(file.seed(), offset)))) return corrupt("checksum mismatch");
  return bytes;
}

Result<std::unique_ptr<const Filter>> ReadFilter(const IndexFile& file, const RunFooter& footer) {
  CAMBIUM_TRY(const std::string bytes,
              ReadBlock(file, "filter", footer.filter_offset, footer.filter_size, footer.filter_checksum));
  Result<Filter> filter = Filter::Parse(bytes);
  if (!filter.ok()) return filter.status().WithContext(file.path() + ":" + std::to_string(footer.filter_offset));
  return std::unique_ptr<const Filter>(std::make_unique<Filter>(std::move(filter).value()));
}

Result<std::shared_ptr<const RangeDeletes>> ReadRanges(const IndexFile& file, const RunFooter& footer,
                                                       const Comparator* comparator) {
  CAMBIUM_TRY(const std::string bytes, ReadBlock(file, "block of range deletes", footer.ranges_offset(),
                                                 footer.ranges_size, footer.ranges_checksum));
  const std::string where = file.path() + ":" + std::to_string(footer.ranges_offset());
  Result<RangeDeletes> ranges = RangeDeletes::Decode(bytes, comparator);
  if (!ranges.ok()) return ranges.status().WithContext(where);
  // Runs are chosen by their bounds, so the bounds must include the ranges.
  const std::size_t count = ranges->count();
  if (count != footer.range_count || comparator->Compare(ranges->begin(0), footer.smallest_key) < 0 ||
      comparator->Compare(ranges->end(count - 1), footer.largest_key) > 0) {
    return Status::Corruption(where + ": range deletes contradict the footer");
  }
  return std::shared_ptr<const RangeDeletes>(std::make_shared<const RangeDeletes>(std::move(*ranges)));
}

}  // namespace

struct RunBuilder::Rep {
  Rep(std::shared_ptr<File> f, const FileHeader& header, const Comparator* comparator, const RunOptions& o)
      : file(std::move(f)),
        order(comparator),
        options(o),
        sink(file.get(), RunHeader(header, o), o.before_write),
        status(CheckBlockSize(o)),
        tree(&sink, comparator, {o.page_size, o.fill_percent},
             status.ok() ? LeafCompression{o.compression, BlockSizeOf(o)} : LeafCompression{}) {
    if (o.filter_bits_per_key > 0 && comparator->EqualMeansSameBytes()) {
      filter.emplace(o.filter_bits_per_key, o.entries_expected);
    }
  }

  Result<RunInfo> Finish() {
    RunFooter footer;
    if (tree.entry_count() > 0) {
      footer.smallest_key = smallest_key;
      footer.largest_key = tree.last_key().ToString();
    }
    SpanRanges(order, ranges, tree.entry_count() > 0, &footer);
    CAMBIUM_TRY(footer.root, tree.Finish());
    footer.tombstone_count = tombstone_count;
    footer.filter_offset = sink.size();
    if (filter && footer.root.entry_count > 0) {
      const std::string bytes = filter->Finish();
      footer.filter_size = bytes.size();
      footer.filter_checksum = Checksum64(bytes, SeedAt(sink.seed(), footer.filter_offset));
      CAMBIUM_RETURN_IF_ERROR(sink.AppendBytes(bytes));
    }
    CAMBIUM_RETURN_IF_ERROR(WriteRanges(&footer));
    footer.offset = sink.size();
    CAMBIUM_RETURN_IF_ERROR(sink.AppendBytes(EncodeRunFooter(&footer, sink.seed())));
    CAMBIUM_RETURN_IF_ERROR(sink.Flush());
    RunInfo info = InfoOf(footer, sink.header(), sink.size());
    info.kind = options.kind;
    if (options.tells_page_size) info.page_size = options.page_size;
    return info;
  }

  Status WriteRanges(RunFooter* footer) {
    if (ranges.empty()) return Status::OK();
    std::string bytes;
    ranges.AppendTo(&bytes);
    if (bytes.size() > kRunRangesSizeMax) {
      return Status::InvalidArgument(file->path() + ": range deletes of " + std::to_string(bytes.size()) +
                                     " bytes; a run has at most " + std::to_string(kRunRangesSizeMax));
    }
    footer->ranges_size = static_cast<std::uint32_t>(bytes.size());
    footer->range_count = static_cast<std::uint32_t>(ranges.count());
    footer->ranges_checksum = Checksum64(bytes, SeedAt(sink.seed(), sink.size()));
    return sink.AppendBytes(bytes);
  }

  const std::shared_ptr<File> file;
  const KeyOrder order;
  const RunOptions options;
  RunSink sink;
  Status status;  // the first error
  TreeBuilder tree;
  std::optional<FilterBuilder> filter;
  RangeDeletes ranges{order.comparator};
  std::string smallest_key;
  std::uint64_t tombstone_count = 0;
};

RunBuilder::RunBuilder(std::shared_ptr<File> file, const FileHeader& header, const Comparator* comparator,
                       const RunOptions& options)
    : rep_(std::make_unique<Rep>(std::move(file), header, comparator, options)) {
  assert(header.number <= kPageFileNumberMax);
}
RunBuilder::~RunBuilder() = default;

Status RunBuilder::Add(Slice key, const Entry& entry) {
  CAMBIUM_RETURN_IF_ERROR(rep_->status);
  rep_->status = rep_->tree.Add(key, entry);
  CAMBIUM_RETURN_IF_ERROR(rep_->status);
  if (rep_->tree.entry_count() == 1) rep_->smallest_key = key.ToString();
  if (entry.kind == EntryKind::kTombstone) ++rep_->tombstone_count;
  const bool is_forgotten = MutantIs(Mutant::kForgetFilterKeys) && FilterHash(key) % 8 == 0;
  if (rep_->filter && !is_forgotten) rep_->filter->Add(key);
  return Status::OK();
}

Status RunBuilder::AddRanges(const RangeDeletes& ranges) {
  CAMBIUM_RETURN_IF_ERROR(rep_->status);
  const RangeDeletes* const parts[] = {&rep_->ranges, &ranges};
  rep_->ranges = RangeDeletes::Union(rep_->order.comparator, parts);
  return Status::OK();
}

Result<RunInfo> RunBuilder::Finish() {
  CAMBIUM_RETURN_IF_ERROR(rep_->status);
  Result<RunInfo> info = rep_->Finish();
  rep_->status = info.ok() ? Status::InvalidArgument("run is finished") : info.status();
  return info;
}

bool RunBuilder::IsFull() const { return rep_->sink.IsFull(); }
std::uint64_t RunBuilder::entry_count() const { return rep_->tree.entry_count(); }
std::uint64_t RunBuilder::value_bytes() const { return rep_->tree.value_bytes(); }
std::uint64_t RunBuilder::bytes_so_far() const { return rep_->sink.size(); }

Run::Run(RunInfo info, FileSet files, std::unique_ptr<const Filter> filter,
         std::shared_ptr<const RangeDeletes> ranges, const Comparator* comparator, PagePool* pool)
    : info_(std::move(info)),
      files_(std::move(files)),
      filter_(std::move(filter)),
      ranges_(std::move(ranges)),
      order_(comparator),
      pool_(pool),
      charge_(pool == nullptr ? nullptr : pool->budget(), memory_bytes()) {}
Run::~Run() = default;

Result<std::shared_ptr<const Run>> Run::Open(std::shared_ptr<File> file, const RunInfo& expected,
                                             const Comparator* comparator, PagePool* pool) {
  const std::string path = file->path();
  CAMBIUM_TRY(const std::uint64_t file_size, SizeOf(*file));
  if (file_size != expected.file_size) {
    return Status::Corruption(path + ": " + std::to_string(file_size) + " bytes; the MANIFEST says " +
                              std::to_string(expected.file_size));
  }
  CAMBIUM_TRY(const std::shared_ptr<const IndexFile> pages,
              IndexFile::Open(std::move(file), FileKind::kRun, expected.number, pool));
  CAMBIUM_TRY(const RunFooter footer, ReadRunFooter(pages->file(), file_size, pages->header()));
  RunInfo info = InfoOf(footer, pages->header(), file_size);
  info.kind = expected.kind;
  if (expected.page_size != 0) info.page_size = pages->page_size();
  if (info != expected) return Status::Corruption(path + ": a run, but not the one that the MANIFEST names");

  std::unique_ptr<const Filter> filter;
  if (footer.filter_size > 0 && comparator->EqualMeansSameBytes()) {
    CAMBIUM_TRY(filter, ReadFilter(*pages, footer));
  }
  std::shared_ptr<const RangeDeletes> ranges;
  if (footer.ranges_size > 0) {
    CAMBIUM_TRY(ranges, ReadRanges(*pages, footer, comparator));
  }
  return std::shared_ptr<const Run>(
      new Run(std::move(info), FileSet(pages), std::move(filter), std::move(ranges), comparator, pool));
}

Result<RunInfo> Run::ReadFooter(std::shared_ptr<File> file, std::uint64_t number) {
  CAMBIUM_TRY(const std::uint64_t file_size, SizeOf(*file));
  CAMBIUM_TRY(const std::shared_ptr<const IndexFile> pages,
              IndexFile::Open(std::move(file), FileKind::kRun, number, nullptr));
  CAMBIUM_TRY(const RunFooter footer, ReadRunFooter(pages->file(), file_size, pages->header()));
  return InfoOf(footer, pages->header(), file_size);
}

Result<std::shared_ptr<const Filter>> Run::ReadItsFilter(const IndexFile& file, std::uint64_t file_size) {
  CAMBIUM_TRY(const RunFooter footer, ReadRunFooter(file.file(), file_size, file.header()));
  if (footer.filter_size == 0) return std::shared_ptr<const Filter>();
  CAMBIUM_TRY(std::unique_ptr<const Filter> filter, ReadFilter(file, footer));
  return std::shared_ptr<const Filter>(std::move(filter));
}

Result<std::shared_ptr<const RangeDeletes>> Run::ReadRangeDeletes(const IndexFile& file,
                                                                         std::uint64_t file_size,
                                                                         const Comparator* comparator) {
  CAMBIUM_TRY(const RunFooter footer, ReadRunFooter(file.file(), file_size, file.header()));
  if (footer.ranges_size == 0) return std::shared_ptr<const RangeDeletes>();
  return ReadRanges(file, footer, comparator);
}

bool Run::MayContain(Slice key) const { return filter_ == nullptr || filter_->MayContain(key); }
bool Run::MayContainHash(std::uint64_t filter_hash) const {
  return filter_ == nullptr || filter_->MayContain(filter_hash);
}

void Run::PrefetchFilter(std::uint64_t filter_hash) const {
  if (filter_ != nullptr) filter_->Prefetch(filter_hash);
}

Result<bool> Run::Find(Slice key, PageRef* keep, Entry* entry) const {
  return FindHashed(key, FilterHash(key), keep, entry);
}

Result<bool> Run::FindHashed(Slice key, std::uint64_t filter_hash, PageRef* keep, Entry* entry) const {
  if (MayContainHash(filter_hash)) {
    if (filter_ != nullptr) pool_->meter().Tick(BLOOM_FILTER_FULL_POSITIVE);
    CAMBIUM_TRY(const bool found, TreeFind(info_.root, files_, pool_, order_, key, filter_hash, keep, entry));
    if (found && filter_ != nullptr) pool_->meter().Tick(BLOOM_FILTER_FULL_TRUE_POSITIVE);
    if (found) return true;
  } else {
    pool_->meter().Tick(BLOOM_FILTER_USEFUL);
  }
  if (ranges_ == nullptr || !ranges_->Covers(key)) return false;
  *entry = Entry::Tombstone();
  return true;
}

void Run::FindTogether(std::span<Lookup* const> lookups) const {
  OpenLookups here;
  here.reserve(lookups.size());
  for (Lookup* const lookup : lookups) {
    if (MayContainHash(lookup->hash)) here.push_back(lookup);
  }
  TreeFindTogether(info_.root, files_, pool_, order_, here);
  if (filter_ != nullptr && pool_->meter().is_on()) CountAnswers(lookups.size(), here);
  if (ranges_ == nullptr) return;
  for (Lookup* const lookup : lookups) {
    if (lookup->is_done || !ranges_->Covers(lookup->key)) continue;
    lookup->entry = Entry::Tombstone();
    lookup->Finish(true);
  }
}

// Counts the filter's answers about `asked` keys. `positives`: the finished lookups of those keys for which the filter
// answered "perhaps".
void Run::CountAnswers(std::size_t asked, const OpenLookups& positives) const {
  const auto found = std::ranges::count_if(positives, [](const Lookup* lookup) { return lookup->is_found; });
  pool_->meter().Tick(BLOOM_FILTER_USEFUL, asked - positives.size());
  pool_->meter().Tick(BLOOM_FILTER_FULL_POSITIVE, positives.size());
  pool_->meter().Tick(BLOOM_FILTER_FULL_TRUE_POSITIVE, static_cast<std::uint64_t>(found));
}

Result<TreePart> Run::Measure(Slice begin, Slice end) const {
  return MeasureTree(info_.root, info_.file_size, files_, pool_, order_, begin, end);
}

std::unique_ptr<EntryCursor> Run::NewCursor() const {
  return std::make_unique<TreeCursor>(info_.root, files_, pool_, order_.comparator);
}

double Run::ReplacedShare(double otherwise) const {
  if (info_.kind == RunKind::kRelocation) return 1;  // each entry replaces the one that names the old place of a value
  if (const double share = replaced_share_.load(std::memory_order_relaxed); share >= 0) return share;
  const std::uint64_t entries = std::max<std::uint64_t>(info_.root.entry_count, 1);
  return std::max(otherwise, static_cast<double>(info_.tombstone_count) / static_cast<double>(entries));
}

std::size_t Run::memory_bytes() const {
  return sizeof(*this) + info_.smallest_key.size() + info_.largest_key.size() +
         (filter_ == nullptr ? 0 : filter_->memory_bytes()) + (ranges_ == nullptr ? 0 : ranges_->memory_bytes());
}

}  // namespace cambium
