#include "lsm_family.h"

#include <algorithm>
#include <cstdlib>

#include "manifest/file_names.h"
#include "testing/lookups_agree.h"
#include "testing/merged_layers.h"

namespace cambium::testing {
namespace {

constexpr char kDirectory[] = "/db";

Status Wrong(const std::string& what) { return Status::Corruption("check: " + what); }

std::string Show(Slice key) { return key.ToString(true); }

}  // namespace

Entry KnownEntry::entry() const {
  if (kind == EntryKind::kTombstone) return Entry::Tombstone();
  return kind == EntryKind::kInline ? Entry::Inline(inline_value) : Entry::At(address);
}

bool KnownEntry::Says(const Entry& other) const {
  return other.kind == kind && (!other.HasAddress() || other.address.word() == address.word()) &&
         other.inline_value == Slice(inline_value);
}

CompactionPolicy TinyPolicy(CompactionStyle style) {
  CompactionPolicy policy;
  policy.style = style;
  policy.target_file_size_base = 4096;
  policy.max_bytes_for_level_base = 16 * 1024;
  policy.max_bytes_for_level_multiplier = 4;
  return policy;
}

LsmFamily::LsmFamily(LsmFamilyOptions options)
    : options_(options),
      pool_(options.pool_bytes),
      memtable_(KeyLess{options.comparator}),
      durable_(KeyLess{options.comparator}) {
  if (!fs_.CreateDirectory(kDirectory).ok()) std::abort();
  FamilyState& family = state_.families[1];
  family.id = 1;
  family.name = "default";
  family.index_type = IndexType::kLsm;
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

LsmFamily::~LsmFamily() = default;

void LsmFamily::MakeIndex() {
  LsmIndexOptions options;
  options.comparator = options_.comparator;
  options.pool = &pool_;
  options.page_size = options_.page_size;
  options.compression = options_.compression;
  options.policy = options_.policy;
  options.create_file = [this] { return CreateFile(); };
  index_ = std::make_unique<LsmIndex>(std::move(options));
}

Result<NewIndexFile> LsmFamily::CreateFile() {
  NewIndexFile result;
  result.header.kind = FileKind::kRun;
  result.header.number = next_file_++;
  result.header.file_id[3] = static_cast<unsigned char>(result.header.number);
  result.header.file_id[4] = static_cast<unsigned char>(result.header.number >> 8);
  result.header.page_size = options_.page_size;
  std::unique_ptr<File> file;
  CAMBIUM_RETURN_IF_ERROR(fs_.Open(PathOf(result.header.number), OpenMode::kCreateNew, {}, &file));
  result.file = std::move(file);
  ++files_created_;
  return result;
}

std::string LsmFamily::PathOf(std::uint64_t run) const { return FilePath(kDirectory, FileKind::kRun, run); }

void LsmFamily::Put(const std::string& key, std::uint64_t value_bytes) {
  KnownEntry entry;
  entry.key = key;
  entry.kind = EntryKind::kValue;
  const std::uint64_t offset = (next_offset_++ % (kLogOffsetMax / 8)) * 8;
  entry.address = ValueAddress::InLog(static_cast<Slot>(next_offset_ % kSlots), offset, value_bytes);
  memtable_.insert_or_assign(key, entry);
}

void LsmFamily::PutInline(const std::string& key, const std::string& value) {
  KnownEntry entry;
  entry.key = key;
  entry.kind = EntryKind::kInline;
  entry.inline_value = value;
  memtable_.insert_or_assign(key, entry);
}

void LsmFamily::Delete(const std::string& key) {
  KnownEntry entry;
  entry.key = key;
  memtable_.insert_or_assign(key, entry);
}

// As a flush sees it: keys that the range covers are gone, keys that come later win.
void LsmFamily::DeleteRange(const std::string& begin, const std::string& end) {
  if (options_.comparator->Compare(begin, end) >= 0) return;
  memtable_.erase(memtable_.lower_bound(begin), memtable_.lower_bound(end));
  memtable_ranges_.emplace_back(begin, end);
}

Status LsmFamily::Apply(const FamilyEdit& family) {
  Edit edit;
  edit.families.push_back(family);
  // Through the bytes, as the MANIFEST would.
  CAMBIUM_TRY(const Edit decoded, DecodeEdit(EncodeEdit(edit)));
  ManifestState next = state_;
  CAMBIUM_RETURN_IF_ERROR(ApplyEdit(decoded, &next));
  CAMBIUM_RETURN_IF_ERROR(next.Check());
  state_ = std::move(next);
  last_edit_ = family;
  return Status::OK();
}

Status LsmFamily::FlushRun() {
  FamilyEdit edit;
  edit.id = 1;
  CAMBIUM_TRY(NewIndexFile created, CreateFile());
  RunOptions run_options;
  run_options.page_size = options_.page_size;
  RunBuilder builder(created.file, created.header, options_.comparator, run_options);
  for (const auto& [key, entry] : memtable_) {
    CAMBIUM_RETURN_IF_ERROR(builder.Add(entry.key, entry.entry()));
    edit.accounts.Add(entry.entry());
  }
  std::vector<RangeDeletes::Range> ranges;
  for (const auto& [begin, end] : memtable_ranges_) ranges.push_back({begin, end});
  CAMBIUM_RETURN_IF_ERROR(builder.AddRanges(RangeDeletes(options_.comparator, ranges)));
  CAMBIUM_TRY(const RunInfo info, builder.Finish());
  CAMBIUM_RETURN_IF_ERROR(created.file->SyncData());
  CAMBIUM_TRY(std::shared_ptr<const Run> run, Run::Open(created.file, info, options_.comparator, &pool_));
  const std::shared_ptr<const Layers> next = layers_->WithNewestRun(run);
  edit.add_runs.push_back(info);
  edit.layers.emplace();
  for (const auto& layer : next->runs()) edit.layers->push_back(layer->number());
  CAMBIUM_RETURN_IF_ERROR(Apply(edit));
  layers_ = std::static_pointer_cast<const LsmLayers>(next);
  for (const auto& [begin, end] : memtable_ranges_) {
    durable_.erase(durable_.lower_bound(begin), durable_.lower_bound(end));
  }
  memtable_ranges_.clear();
  for (const auto& [key, entry] : memtable_) {
    durable_.erase(key);
    if (entry.kind != EntryKind::kTombstone) durable_.emplace(key, entry);
  }
  memtable_.clear();
  return Status::OK();
}

Result<std::unique_ptr<CompactionOutcome>> LsmFamily::Compact(std::uint64_t step_bytes, CompactionRequest* request) {
  CompactionInput input;
  input.layers = layers_;
  input.max_output_bytes = step_bytes;
  input.request = request;
  return index_->Compact(input);
}

Status LsmFamily::Commit(CompactionOutcome* outcome) {
  FamilyEdit edit;
  edit.id = 1;
  CAMBIUM_TRY(const std::shared_ptr<const Layers> next, outcome->Stage(*layers_, &edit));
  CAMBIUM_RETURN_IF_ERROR(Apply(edit));
  layers_ = std::static_pointer_cast<const LsmLayers>(next);
  outcome->Committed();
  last_stats_ = outcome->stats();
  return Status::OK();
}

Status LsmFamily::Step(std::uint64_t step_bytes) {
  CAMBIUM_TRY(const std::unique_ptr<CompactionOutcome> outcome, Compact(step_bytes));
  return Commit(outcome.get());
}

Status LsmFamily::CompactWhileDue(std::uint64_t step_bytes) {
  for (int steps = 0; index_->IsCompactionDue(*layers_, false); ++steps) {
    if (steps == 10'000) return Wrong("compactions do not come to an end");
    CAMBIUM_RETURN_IF_ERROR(Step(step_bytes));
  }
  return Status::OK();
}

CompactionRequest LsmFamily::NewRequest() const {
  CompactionRequest request;
  for (const auto& run : layers_->runs()) request.runs.push_back(run->number());
  return request;
}

Status LsmFamily::CompactRange(std::optional<std::string> begin, std::optional<std::string> end,
                               std::uint64_t step_bytes) {
  CompactionRequest request = NewRequest();
  request.begin = std::move(begin);
  request.end = std::move(end);
  for (int steps = 0; index_->IsCompactionDue(*layers_, &request); ++steps) {
    if (steps == 10'000) return Wrong("a request does not come to an end");
    CAMBIUM_TRY(const std::unique_ptr<CompactionOutcome> outcome, Compact(step_bytes, &request));
    CAMBIUM_RETURN_IF_ERROR(Commit(outcome.get()));
  }
  return Status::OK();
}

Status LsmFamily::Reopen() {
  CAMBIUM_RETURN_IF_ERROR(state_.Check());
  layers_.reset();
  MakeIndex();
  CAMBIUM_TRY(layers_, LsmLayers::Open(state(), options_.comparator, &pool_,
                                       [this](FileKind kind, std::uint64_t number) -> Result<std::shared_ptr<File>> {
                                         std::unique_ptr<File> file;
                                         CAMBIUM_RETURN_IF_ERROR(fs_.Open(FilePath(kDirectory, kind, number),
                                                                          OpenMode::kReadOnly, {}, &file));
                                         return std::shared_ptr<File>(std::move(file));
                                       }));
  return Status::OK();
}

std::uint64_t LsmFamily::entry_count() const {
  const LayersShape shape = layers_->shape();
  return shape.run_keys + shape.base_keys;
}

std::uint64_t LsmFamily::tombstone_count() const {
  const LayersShape shape = layers_->shape();
  std::uint64_t count = shape.run_tombstones;
  for (const LevelShape& level : shape.levels) count += level.tombstones;
  return count;
}

std::uint64_t LsmFamily::range_delete_count() const {
  const LayersShape shape = layers_->shape();
  std::uint64_t count = shape.run_range_deletes;
  for (const LevelShape& level : shape.levels) count += level.range_deletes;
  return count;
}

Status LsmFamily::Check() {
  CAMBIUM_RETURN_IF_ERROR(state_.Check());
  CAMBIUM_RETURN_IF_ERROR(CheckPlaces());
  CAMBIUM_RETURN_IF_ERROR(CheckReads());
  return CheckAccounts();
}

Status LsmFamily::CheckReads() const {
  PageRef keep;
  Entry entry;
  std::vector<std::string> keys;
  for (const auto& [key, expected] : durable_) {
    CAMBIUM_TRY(const bool found, layers_->Find(key, &keep, &entry));
    if (!found || !expected.Says(entry)) return Wrong("Find " + Show(key));
    keys.push_back(key);
  }
  CAMBIUM_RETURN_IF_ERROR(LookupsAgree(*layers_, keys));
  // What any file still says of other keys is hidden.
  const auto absent = [&](const Run& run) -> Status {
    const std::unique_ptr<EntryCursor> cursor = run.NewCursor();
    for (cursor->SeekToFirst(); cursor->Valid(); cursor->Next()) {
      if (durable_.contains(cursor->key().ToString())) continue;
      CAMBIUM_TRY(const bool found, layers_->Find(cursor->key(), &keep, &entry));
      if (found && entry.kind != EntryKind::kTombstone) return Wrong("Find shows a deleted " + Show(cursor->key()));
    }
    return cursor->status();
  };
  for (const auto& run : layers_->runs()) CAMBIUM_RETURN_IF_ERROR(absent(*run));
  for (const auto& tier : layers_->tiers()) {
    for (const auto& run : tier->runs()) CAMBIUM_RETURN_IF_ERROR(absent(*run));
  }
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

// Every entry of every file is a reference, hidden by newer layers or not.
Status LsmFamily::CheckAccounts() const {
  AccountDelta counted;
  const auto count = [&counted](const Run& run) {
    const std::unique_ptr<EntryCursor> cursor = run.NewCursor();
    for (cursor->SeekToFirst(); cursor->Valid(); cursor->Next()) counted.Add(cursor->entry());
    return cursor->status();
  };
  for (const auto& run : layers_->runs()) CAMBIUM_RETURN_IF_ERROR(count(*run));
  for (const auto& tier : layers_->tiers()) {
    for (const auto& run : tier->runs()) CAMBIUM_RETURN_IF_ERROR(count(*run));
  }
  std::map<Slot, Account> accounts;
  for (const auto& [slot, account] : counted.by_slot()) {
    if (account != Account{}) accounts[slot] = account;
  }
  return accounts == state().accounts ? Status::OK() : Wrong("accounts");
}

Status LsmFamily::CheckPlaces() const {
  const auto same = [](const std::shared_ptr<const Run>& run, const RunInfo& info) { return run->info() == info; };
  if (!std::ranges::equal(layers_->runs(), state().runs, same)) return Wrong("runs of the layers");
  std::map<std::uint64_t, LevelRun> placed;
  for (std::size_t i = 0; i < layers_->tiers().size(); ++i) {
    const Tier& tier = *layers_->tiers()[i];
    if (tier.runs().empty()) return Wrong("a tier without runs");
    for (const auto& run : tier.runs()) placed[run->number()] = {run->info(), tier.level(), tier.number()};
    if (i == 0) continue;
    const Tier& newer = *layers_->tiers()[i - 1];
    if (newer.level() > tier.level() || (newer.level() == tier.level() && newer.number() <= tier.number())) {
      return Wrong("order of tiers");
    }
  }
  return placed == state().level_runs ? Status::OK() : Wrong("levels of the layers");
}

}  // namespace cambium::testing
