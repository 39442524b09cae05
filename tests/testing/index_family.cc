#include "testing/index_family.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

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

std::string Show(Slice key) { return key.ToString(true); }

}  // namespace

Entry ModelEntry::entry() const {
  if (kind == EntryKind::kTombstone) return Entry::Tombstone();
  return kind == EntryKind::kInline ? Entry::Inline(inline_value, address.word()) : Entry::At(address);
}

bool ModelEntry::Equals(const Entry& other) const {
  return other.kind == kind && other.address.word() == address.word() &&
         other.inline_value == Slice(inline_value);
}

std::unique_ptr<EntryCursor> NewMapCursor(const EntryMap* map) { return std::make_unique<MapCursor>(map); }

std::string NumberKey(std::uint64_t n) {
  char text[24];
  std::snprintf(text, sizeof text, "%08llu", static_cast<unsigned long long>(n));
  return text;
}

IndexFamily::IndexFamily(const IndexFamilyOptions& options, IndexType type)
    : options_(options),
      pool_(options.pool_bytes),
      memtable_(KeyLess{options.comparator}),
      durable_(KeyLess{options.comparator}) {
  ClearMemtable();
  if (!fs_.CreateDirectory(kDirectory).ok()) std::abort();
  FamilyState& family = state_.families[1];
  family.id = 1;
  family.name = "default";
  family.index_type = type;
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
}

IndexFamily::~IndexFamily() = default;

void IndexFamily::Start() {
  if (!Reopen().ok()) std::abort();
}

std::string IndexFamily::PathOf(FileKind kind, std::uint64_t number) { return FilePath(kDirectory, kind, number); }

Result<NewIndexFile> IndexFamily::CreateFile(FileKind kind) {
  NewIndexFile result;
  result.header.kind = kind;
  result.header.number = next_file_++;
  result.header.file_id[3] = static_cast<unsigned char>(result.header.number);
  result.header.file_id[4] = static_cast<unsigned char>(result.header.number >> 8);
  result.header.page_size = options_.page_size;
  std::unique_ptr<File> file;
  CAMBIUM_RETURN_IF_ERROR(fs_.Open(PathOf(kind, result.header.number), OpenMode::kCreateNew, {}, &file));
  result.file = std::move(file);
  ++files_created_;
  return result;
}

ModelEntry IndexFamily::NewSeparated(const std::string& key, std::uint64_t value_bytes) {
  ModelEntry entry;
  entry.key = key;
  entry.kind = EntryKind::kValue;
  const std::uint64_t offset = (next_offset_++ % (kLogOffsetMax / 8)) * 8;
  entry.address = ValueAddress::InLog(static_cast<Slot>(next_offset_ % kSlots), offset, value_bytes);
  return entry;
}

void IndexFamily::Put(const std::string& key, std::uint64_t value_bytes) {
  memtable_.insert_or_assign(key, NewSeparated(key, value_bytes));
}

void IndexFamily::PutInline(const std::string& key, const std::string& value) {
  ModelEntry entry;
  entry.key = key;
  entry.kind = EntryKind::kInline;
  entry.inline_value = value;
  if (++inline_puts_ % 3 != 0) entry.address = ValueAddress(inline_puts_);  // a version
  memtable_.insert_or_assign(key, entry);
}

void IndexFamily::Delete(const std::string& key) {
  ModelEntry entry;
  entry.key = key;
  memtable_.insert_or_assign(key, entry);
}

// A flush does not see the keys that the range covers; later keys win over the range.
void IndexFamily::DeleteRange(const std::string& begin, const std::string& end) {
  if (comparator()->Compare(begin, end) >= 0) return;
  const RangeDeletes range(comparator(), {{begin, end}});
  std::erase_if(memtable_, [&range](const auto& item) { return range.Covers(item.first); });
  const RangeDeletes* const parts[] = {memtable_ranges_.get(), &range};
  memtable_ranges_ = std::make_shared<const RangeDeletes>(RangeDeletes::Union(comparator(), parts));
}

void IndexFamily::ClearMemtable() {
  memtable_.clear();
  memtable_ranges_ = std::make_shared<const RangeDeletes>(comparator());
}

// Applies the edit as it is and as the MANIFEST would return it; both must lead to the same state.
Status IndexFamily::Apply(const FamilyEdit& family) {
  Edit edit;
  edit.families.push_back(family);
  ManifestState next = state_;
  CAMBIUM_RETURN_IF_ERROR(ApplyEdit(edit, &next));
  CAMBIUM_RETURN_IF_ERROR(next.Check());
  CAMBIUM_TRY(const Edit decoded, DecodeEdit(EncodeEdit(edit)));
  ManifestState again = state_;
  CAMBIUM_RETURN_IF_ERROR(ApplyEdit(decoded, &again));
  if (!(again == next)) return Wrong("encoding changes an edit");
  state_ = std::move(next);
  last_edit_ = family;
  return Status::OK();
}

void IndexFamily::MakeDurable(const EntryMap& entries, const RangeDeletes& ranges) {
  std::erase_if(durable_, [&ranges](const auto& item) { return ranges.Covers(item.first); });
  for (const auto& [key, entry] : entries) {
    durable_.erase(key);
    if (entry.kind != EntryKind::kTombstone) durable_.emplace(key, entry);
  }
}

void IndexFamily::Filtered(const std::string& key, const ModelEntry& of, const std::optional<ModelEntry>& now) {
  const auto found = durable_.find(key);
  if (found == durable_.end() || !found->second.Equals(of.entry())) return;
  durable_.erase(found);
  if (now.has_value()) durable_.emplace(key, *now);
}

Status IndexFamily::WriteRun(const EntryMap& entries, const RangeDeletes& ranges, FamilyEdit* edit,
                             std::shared_ptr<const Run>* run) {
  CAMBIUM_TRY(NewIndexFile created, CreateFile(FileKind::kRun));
  RunOptions run_options;
  run_options.page_size = options_.page_size;
  RunBuilder builder(created.file, created.header, comparator(), run_options);
  for (const auto& [key, entry] : entries) {
    CAMBIUM_RETURN_IF_ERROR(builder.Add(entry.key, entry.entry()));
    edit->accounts.Add(entry.entry());
  }
  CAMBIUM_RETURN_IF_ERROR(builder.AddRanges(ranges));
  CAMBIUM_TRY(const RunInfo info, builder.Finish());
  CAMBIUM_RETURN_IF_ERROR(created.file->SyncData());
  edit->add_runs.push_back(info);
  CAMBIUM_TRY(*run, Run::Open(created.file, info, comparator(), &pool_));
  return Status::OK();
}

Status IndexFamily::CommitRun(const EntryMap& entries, const RangeDeletes& ranges) {
  FamilyEdit edit;
  edit.id = 1;
  std::shared_ptr<const Run> run;
  CAMBIUM_RETURN_IF_ERROR(WriteRun(entries, ranges, &edit, &run));
  const std::shared_ptr<const Layers> next = layers_->WithNewestRun(run);
  edit.layers.emplace();
  for (const auto& layer : next->runs()) edit.layers->push_back(layer->number());
  CAMBIUM_RETURN_IF_ERROR(Apply(edit));
  layers_ = next;
  MakeDurable(entries, ranges);
  return Status::OK();
}

Status IndexFamily::FlushRun() {
  CAMBIUM_RETURN_IF_ERROR(CommitRun(memtable_, *memtable_ranges_));
  ClearMemtable();
  return Status::OK();
}

Status IndexFamily::AddRun(const EntryMap& entries) { return CommitRun(entries, RangeDeletes(comparator())); }

Result<std::unique_ptr<CompactionOutcome>> IndexFamily::Compact(std::uint64_t step_bytes, CompactionRequest* request,
                                                                ValueFilter* filter) {
  CompactionInput input;
  input.layers = layers_;
  input.max_output_bytes = step_bytes;
  input.file_percent_max = options_.file_percent_max;
  input.bounds = options_.bounds;
  input.request = request;
  input.filter = filter;
  input.filtered = filtered_;
  if (request != nullptr) request->filtered = filtered_;
  return index_->Compact(input);
}

Status IndexFamily::Commit(CompactionOutcome* outcome, bool with_memtable) {
  FamilyEdit edit;
  edit.id = 1;
  CAMBIUM_TRY(const std::shared_ptr<const Layers> next, outcome->Stage(*layers_, &edit));
  CAMBIUM_RETURN_IF_ERROR(Apply(edit));
  layers_ = next;
  outcome->Committed();
  if (filtered_ != nullptr) {
    const auto part = std::make_shared<FilteredPart>(*filtered_);
    outcome->NoteFiltered(part.get());
    filtered_ = part;
  }
  last_stats_ = outcome->stats();
  if (with_memtable) {
    MakeDurable(memtable_, *memtable_ranges_);
    ClearMemtable();
  }
  return Status::OK();
}

Status IndexFamily::Step(std::uint64_t step_bytes, CompactionRequest* request, ValueFilter* filter) {
  CAMBIUM_TRY(const std::unique_ptr<CompactionOutcome> outcome, Compact(step_bytes, request, filter));
  return Commit(outcome.get());
}

void IndexFamily::NoteFiltered() {
  index_->SealFiles();
  filtered_ = std::make_shared<const FilteredPart>(comparator());
}

CompactionRequest IndexFamily::NewRequest() const {
  CompactionRequest request;
  for (const auto& run : layers_->runs()) request.runs.push_back(run->number());
  return request;
}

Status IndexFamily::Reopen() {
  CAMBIUM_RETURN_IF_ERROR(state_.Check());
  layers_.reset();
  index_ = MakeIndex();
  CAMBIUM_TRY(layers_, OpenLayers([this](FileKind kind, std::uint64_t number) -> Result<std::shared_ptr<File>> {
                std::unique_ptr<File> file;
                CAMBIUM_RETURN_IF_ERROR(fs_.Open(PathOf(kind, number), OpenMode::kReadWrite, {}, &file));
                return std::shared_ptr<File>(std::move(file));
              }));
  return Status::OK();
}

Status IndexFamily::Check() {
  CAMBIUM_RETURN_IF_ERROR(state_.Check());
  CAMBIUM_RETURN_IF_ERROR(CheckFiles());
  CAMBIUM_RETURN_IF_ERROR(CheckReads());
  return CheckEntries();
}

Status IndexFamily::CheckReads() const {
  PageRef keep;
  Entry entry;
  std::vector<std::string> keys;
  for (const auto& [key, expected] : durable_) {
    CAMBIUM_TRY(const bool found, layers_->Find(key, &keep, &entry));
    if (!found || !expected.Equals(entry)) return Wrong("Find " + Show(key));
    keys.push_back(key);
  }
  CAMBIUM_RETURN_IF_ERROR(LookupsAgree(*layers_, keys));
  // For the bounds of range deletes, Find may return tombstones, but no deleted entry.
  for (const auto& run : layers_->runs()) {
    for (std::size_t i = 0; run->ranges() != nullptr && i < run->ranges()->count(); ++i) {
      for (const std::string& bound : {run->ranges()->begin(i), run->ranges()->end(i)}) {
        CAMBIUM_TRY(const bool found, layers_->Find(bound, &keep, &entry));
        const bool is_shown = found && entry.kind != EntryKind::kTombstone;
        if (is_shown && !durable_.contains(bound)) return Wrong("Find " + Show(bound));
      }
    }
  }
  const std::unique_ptr<EntryCursor> cursor = MergedLayers(*layers_, comparator());
  auto expected = durable_.begin();
  for (cursor->SeekToFirst(); cursor->Valid(); cursor->Next()) {
    if (cursor->entry().kind == EntryKind::kTombstone) {
      if (durable_.contains(cursor->key().ToString())) return Wrong("tombstone over " + Show(cursor->key()));
      continue;
    }
    if (expected == durable_.end() || cursor->key() != Slice(expected->second.key) ||
        !expected->second.Equals(cursor->entry())) {
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

// Each entry of a layer is a reference, hidden by newer layers or not. Entries of deleted keys must be hidden.
Status IndexFamily::CheckEntries() const {
  AccountDelta counted;
  CAMBIUM_RETURN_IF_ERROR(VisitEntries([&](Slice key, const Entry& visited) -> Status {
    counted.Add(visited);
    if (durable_.contains(key.ToString())) return Status::OK();
    PageRef keep;
    Entry entry;
    CAMBIUM_TRY(const bool found, layers_->Find(key, &keep, &entry));
    if (found && entry.kind != EntryKind::kTombstone) return Wrong("Find shows the deleted key " + Show(key));
    return Status::OK();
  }));
  Accounts accounts;
  for (const auto& [slot, account] : counted.by_slot()) {
    if (account != Account{}) accounts.Set({slot, account});
  }
  return accounts == state().accounts ? Status::OK() : Wrong("accounts");
}

}  // namespace cambium::testing
