#include "test_family.h"

#include <algorithm>

#include "index/tree_check.h"
#include "index/tree_cursor.h"
#include "manifest/file_names.h"
#include "testing/lookups_agree.h"
#include "testing/merged_layers.h"

namespace cambium::testing {
namespace {

constexpr char kDirectory[] = "/db";

class MapCursor final : public EntryCursor {
 public:
  explicit MapCursor(const EntryMap* map) : map_(map), at_(map->end()) {}
  void SeekToFirst() override { at_ = map_->begin(); }
  void SeekToLast() override { at_ = map_->empty() ? map_->end() : std::prev(map_->end()); }
  void Seek(Slice target) override { at_ = map_->lower_bound(target.ToString()); }
  void SeekForPrev(Slice target) override {
    at_ = map_->upper_bound(target.ToString());
    at_ = at_ == map_->begin() ? map_->end() : std::prev(at_);
  }
  void Next() override { ++at_; }
  void Prev() override { at_ = at_ == map_->begin() ? map_->end() : std::prev(at_); }
  [[nodiscard]] bool Valid() const override { return at_ != map_->end(); }
  [[nodiscard]] Slice key() const override { return at_->second.key; }
  [[nodiscard]] Entry entry() const override { return at_->second.entry(); }
  [[nodiscard]] Status status() const override { return Status::OK(); }

 private:
  const EntryMap* map_;
  EntryMap::const_iterator at_;
};

Status Wrong(const std::string& what) { return Status::Corruption("check: " + what); }

std::string Show(Slice key) { return key.ToString(true); }

}  // namespace

Entry ModelEntry::entry() const {
  if (kind == EntryKind::kTombstone) return Entry::Tombstone();
  return kind == EntryKind::kInline ? Entry::Inline(inline_value) : Entry::At(address);
}

bool ModelEntry::Says(const Entry& other) const {
  return other.kind == kind && (!other.HasAddress() || other.address.word() == address.word()) &&
         other.inline_value == Slice(inline_value);
}

std::unique_ptr<EntryCursor> NewMapCursor(const EntryMap* map) { return std::make_unique<MapCursor>(map); }

TestFamily::TestFamily(TestFamilyOptions options)
    : options_(options),
      pool_(options.pool_bytes),
      memtable_(KeyLess{options.comparator}),
      memtable_ranges_(std::make_shared<const RangeDeletes>(options.comparator)),
      durable_(KeyLess{options.comparator}) {
  if (!fs_.CreateDirectory(kDirectory).ok()) std::abort();
  FamilyState& family = state_.families[1];
  family.id = 1;
  family.name = "default";
  family.comparator = options.comparator->Name();
  family.page_size = options.page_size;
  for (std::uint32_t slot = 0; slot < kSlots; ++slot) {
    SegmentInfo segment;
    segment.number = next_file_++;
    segment.slot = static_cast<Slot>(slot);
    segment.file_id[0] = static_cast<unsigned char>(slot + 1);
    state_.segments[segment.number] = segment;
  }
  state_.next_file_number = std::uint64_t{1} << 30;
  state_.next_family_id = 2;
  MakeIndex();
  if (!Reopen().ok()) std::abort();
}

TestFamily::~TestFamily() = default;

void TestFamily::MakeIndex() {
  BTreeIndexOptions options;
  options.comparator = options_.comparator;
  options.pool = &pool_;
  options.segments = {options_.page_size, options_.segment_bytes_max, options_.write_bytes};
  options.merges = options_.merges;
  options.filter_bits_per_key = options_.filter_bits_per_key;
  options.evacuation = options_.evacuation;
  options.create_file = [this] { return CreateFile(FileKind::kIndex); };
  index_ = std::make_unique<BTreeIndex>(std::move(options));
}

Result<NewIndexFile> TestFamily::CreateFile(FileKind kind) {
  NewIndexFile result;
  result.header.kind = kind;
  result.header.number = next_file_++;
  result.header.file_id[3] = static_cast<unsigned char>(result.header.number);
  result.header.file_id[4] = static_cast<unsigned char>(result.header.number >> 8);
  result.header.page_size = options_.page_size;
  std::unique_ptr<File> file;
  CAMBIUM_RETURN_IF_ERROR(
      fs_.Open(FilePath(kDirectory, kind, result.header.number), OpenMode::kCreateNew, {}, &file));
  result.file = std::move(file);
  ++files_created_;
  return result;
}

ModelEntry TestFamily::NewSeparated(const std::string& key, std::uint64_t value_bytes) {
  ModelEntry entry;
  entry.key = key;
  entry.kind = EntryKind::kValue;
  const std::uint64_t offset = (next_offset_++ % (kLogOffsetMax / 8)) * 8;
  entry.address = ValueAddress::InLog(static_cast<Slot>(next_offset_ % kSlots), offset, value_bytes);
  return entry;
}

void TestFamily::Put(const std::string& key, std::uint64_t value_bytes) {
  memtable_.insert_or_assign(key, NewSeparated(key, value_bytes));
}

void TestFamily::PutInline(const std::string& key, const std::string& value) {
  ModelEntry entry;
  entry.key = key;
  entry.kind = EntryKind::kInline;
  entry.inline_value = value;
  memtable_.insert_or_assign(key, entry);
}

void TestFamily::Delete(const std::string& key) {
  ModelEntry entry;
  entry.key = key;
  memtable_.insert_or_assign(key, entry);
}

void TestFamily::DeleteRange(const std::string& begin, const std::string& end) {
  const RangeDeletes range(options_.comparator, {{begin, end}});
  std::erase_if(memtable_, [&range](const auto& item) { return range.Covers(item.first); });
  const RangeDeletes* const parts[] = {memtable_ranges_.get(), &range};
  memtable_ranges_ = std::make_shared<const RangeDeletes>(RangeDeletes::Union(options_.comparator, parts));
}

void TestFamily::EmptyMemtable() {
  memtable_.clear();
  memtable_ranges_ = std::make_shared<const RangeDeletes>(options_.comparator);
}

MemtableShape TestFamily::memtable_top() const {
  MemtableShape top;
  top.key_count = memtable_.size();
  if (!memtable_.empty()) {
    top.smallest_key = memtable_.begin()->second.key;
    top.largest_key = memtable_.rbegin()->second.key;
  }
  top.ranges = memtable_ranges_.get();
  return top;
}

Status TestFamily::Apply(const FamilyEdit& family) {
  Edit edit;
  edit.families.push_back(family);
  // What is refused leaves the state as it was; so the copy is applied to, and then taken.
  ManifestState next = state_;
  CAMBIUM_RETURN_IF_ERROR(ApplyEdit(edit, &next));
  // Through the bytes, as the MANIFEST would.
  CAMBIUM_TRY(const Edit decoded, DecodeEdit(EncodeEdit(edit)));
  ManifestState again = state_;
  CAMBIUM_RETURN_IF_ERROR(ApplyEdit(decoded, &again));
  if (!(again == next)) return Wrong("an edit changed on its way through bytes");
  state_ = std::move(next);
  return Status::OK();
}

void TestFamily::MakeDurable(const EntryMap& entries, const RangeDeletes& ranges) {
  std::erase_if(durable_, [&ranges](const auto& item) { return ranges.Covers(item.first); });
  for (const auto& [key, entry] : entries) {
    durable_.erase(key);
    if (entry.kind != EntryKind::kTombstone) durable_.emplace(key, entry);
  }
}

Result<RunInfo> TestFamily::WriteRun(const EntryMap& entries, const RangeDeletes& ranges, AccountDelta* accounts,
                                     std::shared_ptr<File>* file) {
  CAMBIUM_TRY(NewIndexFile created, CreateFile(FileKind::kRun));
  RunOptions run_options;
  run_options.page_size = options_.page_size;
  RunBuilder builder(created.file, created.header, options_.comparator, run_options);
  for (const auto& [key, entry] : entries) {
    CAMBIUM_RETURN_IF_ERROR(builder.Add(entry.key, entry.entry()));
    accounts->Add(entry.entry());
  }
  CAMBIUM_RETURN_IF_ERROR(builder.AddRanges(ranges));
  CAMBIUM_TRY(const RunInfo info, builder.Finish());
  CAMBIUM_RETURN_IF_ERROR(created.file->SyncData());
  *file = created.file;
  return info;
}

Status TestFamily::CommitRun(const EntryMap& entries, const RangeDeletes& ranges) {
  FamilyEdit edit;
  edit.id = 1;
  std::shared_ptr<File> file;
  CAMBIUM_TRY(const RunInfo info, WriteRun(entries, ranges, &edit.accounts, &file));
  CAMBIUM_TRY(std::shared_ptr<const Run> run, Run::Open(file, info, options_.comparator, &pool_));
  const std::shared_ptr<const Layers> next = layers_->WithNewestRun(run);
  edit.add_runs.push_back(info);
  edit.layers.emplace();
  for (const auto& layer : next->runs()) edit.layers->push_back(layer->number());
  CAMBIUM_RETURN_IF_ERROR(Apply(edit));
  layers_ = std::static_pointer_cast<const TreeLayers>(next);
  MakeDurable(entries, ranges);
  return Status::OK();
}

Status TestFamily::FlushRun() {
  CAMBIUM_RETURN_IF_ERROR(CommitRun(memtable_, *memtable_ranges_));
  EmptyMemtable();
  return Status::OK();
}

Status TestFamily::AddRun(const EntryMap& entries) { return CommitRun(entries, RangeDeletes(options_.comparator)); }

Result<std::unique_ptr<CompactionOutcome>> TestFamily::MergeMemtable() {
  const std::unique_ptr<EntryCursor> cursor = NewMapCursor(&memtable_);
  CompactionInput input{layers_, cursor.get()};
  input.memtable_ranges = memtable_ranges_;
  return index_->Compact(input);
}

Result<std::unique_ptr<CompactionOutcome>> TestFamily::MergeRuns(std::uint64_t max_output_bytes) {
  CompactionInput input;
  input.layers = layers_;
  input.max_output_bytes = max_output_bytes;
  input.file_percent_max = options_.file_percent_max;
  return index_->Compact(input);
}

Status TestFamily::Commit(CompactionOutcome* outcome, bool with_memtable) {
  FamilyEdit edit;
  edit.id = 1;
  CAMBIUM_TRY(const std::shared_ptr<const Layers> next, outcome->Stage(*layers_, &edit));
  CAMBIUM_RETURN_IF_ERROR(Apply(edit));
  layers_ = std::static_pointer_cast<const TreeLayers>(next);
  outcome->Committed();
  last_stats_ = outcome->stats();
  if (with_memtable) {
    MakeDurable(memtable_, *memtable_ranges_);
    EmptyMemtable();
  }
  return Status::OK();
}

Status TestFamily::FlushMerge() {
  CAMBIUM_TRY(const std::unique_ptr<CompactionOutcome> outcome, MergeMemtable());
  return Commit(outcome.get(), true);
}

Status TestFamily::Flush() {
  if (memtable_.empty() && memtable_ranges_->empty()) return Status::OK();
  return index_->PickFlush(*layers_, memtable_top()) == FlushChoice::kIntoTree ? FlushMerge() : FlushRun();
}

Status TestFamily::SweepStep(std::uint64_t max_output_bytes) {
  CAMBIUM_TRY(const std::unique_ptr<CompactionOutcome> outcome, MergeRuns(max_output_bytes));
  return Commit(outcome.get(), false);
}

Status TestFamily::FilterStep(CompactionRequest* request, ValueFilter* filter, std::uint64_t max_output_bytes) {
  CompactionInput input;
  input.layers = layers_;
  input.request = request;
  input.filter = filter;
  input.max_output_bytes = max_output_bytes;
  CAMBIUM_TRY(const std::unique_ptr<CompactionOutcome> outcome, index_->Compact(input));
  return Commit(outcome.get(), false);
}

Status TestFamily::SweepAll() {
  do {
    CAMBIUM_RETURN_IF_ERROR(SweepStep(~std::uint64_t{0}));
  } while (layers_->parts().sweep.has_value());
  return Status::OK();
}

Status TestFamily::Reopen() {
  CAMBIUM_RETURN_IF_ERROR(state_.Check());
  layers_.reset();
  MakeIndex();
  CAMBIUM_TRY(layers_, TreeLayers::Open(state(), options_.comparator, &pool_,
                                        [this](FileKind kind, std::uint64_t number) -> Result<std::shared_ptr<File>> {
                                          std::unique_ptr<File> file;
                                          CAMBIUM_RETURN_IF_ERROR(fs_.Open(FilePath(kDirectory, kind, number),
                                                                           OpenMode::kReadWrite, {}, &file));
                                          return std::shared_ptr<File>(std::move(file));
                                        }));
  return Status::OK();
}

std::uint64_t TestFamily::index_file_bytes() const {
  std::uint64_t bytes = 0;
  for (const auto& [number, info] : state().index_segments) {
    bytes += fs_.DurableSize(FilePath(kDirectory, FileKind::kIndex, number));
  }
  return bytes;
}

Status TestFamily::Check() {
  CAMBIUM_RETURN_IF_ERROR(state_.Check());
  CAMBIUM_RETURN_IF_ERROR(CheckReads());
  CAMBIUM_RETURN_IF_ERROR(CheckAccounts());
  return CheckSegments();
}

Status TestFamily::CheckReads() const {
  PageRef keep;
  Entry entry;
  std::vector<std::string> keys;
  for (const auto& [key, expected] : durable_) {
    CAMBIUM_TRY(const bool found, layers_->Find(key, &keep, &entry));
    if (!found || !expected.Says(entry)) return Wrong("Find " + Show(key));
    keys.push_back(key);
  }
  CAMBIUM_RETURN_IF_ERROR(LookupsAgree(*layers_, keys));
  // What a range has deleted may be known as deleted, and nothing more.
  for (const auto& run : layers_->runs()) {
    for (std::size_t i = 0; run->ranges() != nullptr && i < run->ranges()->count(); ++i) {
      for (const std::string& bound : {run->ranges()->begin(i), run->ranges()->end(i)}) {
        CAMBIUM_TRY(const bool found, layers_->Find(bound, &keep, &entry));
        if (found && entry.kind != EntryKind::kTombstone && !durable_.contains(bound)) return Wrong("Find " + Show(bound));
      }
    }
  }
  // Forward, then backward; tombstones are skipped, and every one of them is the answer of Find too.
  const std::unique_ptr<EntryCursor> cursor = MergedLayers(*layers_);
  auto expected = durable_.begin();
  for (cursor->SeekToFirst(); cursor->Valid(); cursor->Next()) {
    if (cursor->entry().kind == EntryKind::kTombstone) {
      if (durable_.contains(cursor->key().ToString())) return Wrong("tombstone over " + Show(cursor->key()));
      continue;
    }
    if (expected == durable_.end() || cursor->key() != Slice(expected->second.key) ||
        !expected->second.Says(cursor->entry())) {
      return Wrong("cursor shows " + Show(cursor->key()) + ", expected " +
                   (expected == durable_.end() ? "the end" : Show(expected->second.key)));
    }
    ++expected;
  }
  CAMBIUM_RETURN_IF_ERROR(cursor->status());
  if (expected != durable_.end()) return Wrong("cursor ends before " + Show(expected->second.key));
  auto backward = durable_.rbegin();
  for (cursor->SeekToLast(); cursor->Valid(); cursor->Prev()) {
    if (cursor->entry().kind == EntryKind::kTombstone) continue;
    if (backward == durable_.rend() || cursor->key() != Slice(backward->second.key)) {
      return Wrong("cursor backward shows " + Show(cursor->key()));
    }
    ++backward;
  }
  CAMBIUM_RETURN_IF_ERROR(cursor->status());
  return backward == durable_.rend() ? Status::OK() : Wrong("cursor backward ends early");
}

// Walks every entry that a layer shows, hidden by newer layers or not: each is a reference.
Status TestFamily::CheckAccounts() const {
  AccountDelta counted;
  for (MergeChild& child : layers_->RunCursors(0)) {
    if (child.first_visible.has_value()) {
      child.cursor->Seek(*child.first_visible);
    } else {
      child.cursor->SeekToFirst();
    }
    for (; child.cursor->Valid(); child.cursor->Next()) counted.Add(child.cursor->entry());
    CAMBIUM_RETURN_IF_ERROR(child.cursor->status());
  }
  TreeCheckCallbacks callbacks;
  callbacks.on_entry = [&counted](Slice key, const Entry& entry) {
    if (entry.kind == EntryKind::kTombstone) return Wrong("tombstone in the tree at " + Show(key));
    counted.Add(entry);
    return Status::OK();
  };
  TreeCheckStats stats;
  CAMBIUM_RETURN_IF_ERROR(
      CheckTree(layers_->parts().root, layers_->parts().files, options_.comparator, callbacks, &stats));
  if (stats.entries != state().root.entry_count) return Wrong("entry count of the tree");
  std::map<Slot, Account> accounts;
  for (const auto& [slot, account] : counted.by_slot()) {
    if (account != Account{}) accounts[slot] = account;
  }
  return accounts == state().accounts ? Status::OK() : Wrong("accounts");
}

Status TestFamily::CheckSegments() const {
  CAMBIUM_TRY(const TreeFacts facts, Walk());
  std::map<std::uint64_t, std::uint64_t> live;
  for (const auto& [number, info] : state().index_segments) live[number] = info.live_units;
  if (live != facts.units) return Wrong("live units of index segments");
  if (layers_->parts().segments != state().index_segments) return Wrong("segments of the layers");
  if (layers_->parts().root != state().root) return Wrong("root of the layers");
  if (layers_->parts().sweep != state().sweep) return Wrong("sweep of the layers");
  if (layers_->parts().files.size() != live.size()) return Wrong("files of the layers");
  return Status::OK();
}

Result<TreeFacts> TestFamily::Walk() const {
  TreeFacts facts;
  const TreeRoot& root = layers_->parts().root;
  if (root.height == 0) return facts;
  struct Visit {
    PagePointer page;
    unsigned level;
    bool on_right_edge;
  };
  std::vector<Visit> stack{{root.page, root.height - 1, true}};
  double fill_sum = 0;
  while (!stack.empty()) {
    const Visit visit = stack.back();
    stack.pop_back();
    PagePool& pool = *layers_->parts().pool;
    CAMBIUM_TRY(const PageRef page, GetTreePage(layers_->parts().files, &pool, visit.page, visit.level));
    facts.units[FileNumberOf(visit.page.id)] += UnitsOf(visit.page.id);
    facts.page_bytes += page->bytes().size();
    if (page->is_leaf()) {
      ++facts.leaves;
      facts.leaf_ids.push_back(visit.page.id);
      const double fill = 100.0 * static_cast<double>(page->used_bytes()) / static_cast<double>(page->bytes().size());
      fill_sum += fill;
      if (!visit.on_right_edge) facts.leaf_fill_min = std::min(facts.leaf_fill_min, static_cast<unsigned>(fill));
      continue;
    }
    ++facts.branches;
    if (visit.page.id == root.page.id) {
      facts.root_children = page->count();
    } else if (!visit.on_right_edge) {
      facts.children_min = std::min(facts.children_min, page->count());
    }
    for (std::uint32_t i = page->count(); i-- > 0;) {
      stack.push_back({page->child(i).page, visit.level - 1, visit.on_right_edge && i + 1 == page->count()});
    }
  }
  facts.leaf_fill = fill_sum / static_cast<double>(facts.leaves);
  return facts;
}

}  // namespace cambium::testing
