#include "manifest/edit.h"

#include <cstring>
#include <utility>

#include "manifest/fields.h"
#include "util/coding.h"

namespace cambium {
namespace {

// The largest tag of each message that this version knows.
constexpr std::uint64_t kEditTags = 13;
constexpr std::uint64_t kFamilyTags = 14;
constexpr std::uint64_t kCreationTags = 4;
constexpr std::uint64_t kRunTags = 12;
constexpr std::uint64_t kRootTags = 5;
constexpr std::uint64_t kSweepTags = 2;
constexpr std::uint64_t kSegmentTags = 13;
constexpr std::uint64_t kIndexSegmentTags = 4;

std::string EncodeRoot(const TreeRoot& root) {
  std::string out;
  FieldWriter fields(&out);
  fields.Number(1, static_cast<std::uint64_t>(root.page.id));
  fields.Checksum(2, root.page.checksum);
  fields.Number(3, root.height);
  fields.Number(4, root.entry_count);
  fields.Number(5, root.value_bytes);
  return out;
}

Status DecodeRoot(Slice bytes, TreeRoot* root) {
  FieldReader fields(bytes, "root");
  std::uint64_t id = 0;
  std::uint64_t height = 0;
  fields.Number(1, &id);
  fields.Checksum(2, &root->page.checksum);
  fields.NumberUpTo(3, 0xffffffffu, &height);
  fields.Number(4, &root->entry_count);
  fields.Number(5, &root->value_bytes);
  root->page.id = static_cast<PageId>(id);
  root->height = static_cast<std::uint32_t>(height);
  return fields.Finish(kRootTags);
}

std::string EncodeRun(const RunInfo& run) {
  std::string out;
  FieldWriter fields(&out);
  fields.Number(1, run.number);
  fields.Number(2, static_cast<std::uint64_t>(run.kind));
  fields.Id(3, run.file_id);
  fields.Bytes(4, EncodeRoot(run.root));
  fields.Number(5, run.tombstone_count);
  fields.Number(6, run.file_size);
  fields.Checksum(7, run.footer_checksum);
  fields.Bytes(8, run.smallest_key);
  fields.Bytes(9, run.largest_key);
  fields.Number(10, run.range_delete_count);
  fields.Number(11, run.largest_is_open ? 1 : 0);
  if (run.page_size != 0) fields.Number(12, run.page_size);
  return out;
}

Status DecodeRun(Slice bytes, RunInfo* run) {
  FieldReader fields(bytes, "run");
  std::uint64_t kind = 0;
  Slice root;
  Slice smallest;
  Slice largest;
  fields.Number(1, &run->number);
  fields.NumberUpTo(2, 0xff, &kind);
  fields.Id(3, &run->file_id);
  fields.Bytes(4, &root);
  fields.Number(5, &run->tombstone_count);
  fields.Number(6, &run->file_size);
  fields.Checksum(7, &run->footer_checksum);
  fields.Bytes(8, &smallest);
  fields.Bytes(9, &largest);
  fields.Number(10, &run->range_delete_count);
  fields.Flag(11, &run->largest_is_open);
  if (fields.TakeNumber(12, &run->page_size) && run->page_size == 0) fields.Fail(12, "is 0");
  CAMBIUM_RETURN_IF_ERROR(fields.Finish(kRunTags));
  run->kind = static_cast<RunKind>(kind);
  run->smallest_key = smallest.ToString();
  run->largest_key = largest.ToString();
  return DecodeRoot(root, &run->root);
}

// Returns the distances between ascending offsets, the first from 0: these are smaller numbers, with shorter varints.
std::vector<std::uint64_t> Distances(const std::vector<std::uint64_t>& offsets) {
  std::vector<std::uint64_t> distances;
  std::uint64_t before = 0;
  for (const std::uint64_t offset : offsets) distances.push_back(offset - std::exchange(before, offset));
  return distances;
}
// The largest distance accepted. No segment is that large. The sum of all distances that fit into one record cannot
// overflow.
constexpr std::uint64_t kDistanceMax = std::uint64_t{1} << 32;

std::string EncodeSegment(const SegmentInfo& segment) {
  std::string out;
  FieldWriter fields(&out);
  fields.Number(1, segment.number);
  fields.Number(2, static_cast<std::uint64_t>(segment.slot));
  fields.Number(3, static_cast<std::uint64_t>(segment.kind));
  fields.Id(4, segment.file_id);
  fields.Number(5, segment.epoch);
  fields.Number(6, segment.sealed ? 1 : 0);
  fields.Number(7, segment.has_footer ? 1 : 0);
  fields.Number(8, segment.sealed_length);
  fields.Number(9, segment.file_size);
  fields.Number(10, segment.last_sequence);
  if (segment.generation != 0) fields.Number(11, segment.generation);
  if (!segment.punched.empty()) fields.Numbers(12, Distances(segment.punched));
  if (segment.cut != 0) fields.Number(13, segment.cut);
  return out;
}

Status DecodeSegment(Slice bytes, SegmentInfo* segment) {
  FieldReader fields(bytes, "segment");
  std::uint64_t slot = 0;
  std::uint64_t kind = 0;
  fields.Number(1, &segment->number);
  fields.NumberUpTo(2, kSlotCountMax - 1, &slot);
  fields.NumberUpTo(3, 0xff, &kind);
  fields.Id(4, &segment->file_id);
  fields.Number(5, &segment->epoch);
  fields.Flag(6, &segment->sealed);
  fields.Flag(7, &segment->has_footer);
  fields.Number(8, &segment->sealed_length);
  fields.Number(9, &segment->file_size);
  fields.Number(10, &segment->last_sequence);
  std::uint64_t generation = 0;
  if (fields.TakeNumber(11, &generation) && (generation == 0 || generation > kGenerationMax)) {
    fields.Fail(11, "is out of range");
  }
  segment->generation = static_cast<std::uint32_t>(generation);
  std::vector<std::uint64_t> distances;
  if (fields.TakeNumbers(12, &distances)) {
    if (distances.empty()) fields.Fail(12, "is empty");
    std::uint64_t offset = 0;
    for (const std::uint64_t distance : distances) {
      if (distance == 0 || distance > kDistanceMax) fields.Fail(12, "has a distance out of range");
      segment->punched.push_back(offset += distance);
    }
  }
  if (fields.TakeNumber(13, &segment->cut) && segment->cut == 0) fields.Fail(13, "is out of range");
  segment->slot = static_cast<Slot>(slot);
  segment->kind = static_cast<SegmentKind>(kind);
  return fields.Finish(kSegmentTags);
}

std::string EncodeIndexSegment(const IndexSegmentInfo& segment) {
  std::string out;
  FieldWriter fields(&out);
  fields.Number(1, segment.number);
  fields.Id(2, segment.file_id);
  fields.Number(3, segment.length);
  fields.Number(4, segment.live_units);
  return out;
}

Status DecodeIndexSegment(Slice bytes, IndexSegmentInfo* segment) {
  FieldReader fields(bytes, "index segment");
  fields.Number(1, &segment->number);
  fields.Id(2, &segment->file_id);
  fields.Number(3, &segment->length);
  fields.Number(4, &segment->live_units);
  return fields.Finish(kIndexSegmentTags);
}

std::string EncodeCreation(const FamilyEdit::Creation& creation) {
  std::string out;
  FieldWriter fields(&out);
  fields.Bytes(1, creation.name);
  fields.Number(2, static_cast<std::uint64_t>(creation.index_type));
  fields.Bytes(3, creation.comparator);
  fields.Number(4, creation.page_size);
  return out;
}

Status DecodeCreation(Slice bytes, FamilyEdit::Creation* creation) {
  FieldReader fields(bytes, "family creation");
  Slice name;
  Slice comparator;
  std::uint64_t index_type = 0;
  fields.Bytes(1, &name);
  fields.NumberUpTo(2, 0xff, &index_type);
  fields.Bytes(3, &comparator);
  fields.Number(4, &creation->page_size);
  creation->name = name.ToString();
  creation->index_type = static_cast<IndexType>(index_type);
  creation->comparator = comparator.ToString();
  return fields.Finish(kCreationTags);
}

std::string EncodeSweep(const SweepState& sweep) {
  std::string out;
  FieldWriter fields(&out);
  fields.Numbers(1, sweep.runs);
  fields.Bytes(2, sweep.cursor);
  return out;
}

Status DecodeSweep(Slice bytes, SweepState* sweep) {
  FieldReader fields(bytes, "sweep");
  Slice cursor;
  fields.Numbers(1, &sweep->runs);
  fields.Bytes(2, &cursor);
  sweep->cursor = cursor.ToString();
  return fields.Finish(kSweepTags);
}

// Returns an empty string if nothing changes.
std::string EncodeAccounts(const AccountDelta& accounts) {
  std::string out;
  for (const auto& [slot, account] : accounts.by_slot()) {
    if (account == Account{}) continue;
    PutVarint64(&out, static_cast<std::uint64_t>(slot));
    PutVarint64(&out, ZigZag(account.references));
    PutVarint64(&out, ZigZag(account.bytes));
  }
  return out;
}

Status DecodeAccounts(Slice bytes, AccountDelta* accounts) {
  std::uint64_t least_slot = 0;
  while (!bytes.empty()) {
    std::uint64_t slot = 0;
    std::uint64_t references = 0;
    std::uint64_t value_bytes = 0;
    if (!GetVarint64(&bytes, &slot) || !GetVarint64(&bytes, &references) || !GetVarint64(&bytes, &value_bytes)) {
      return Status::Corruption("accounts: cut off");
    }
    if (slot < least_slot || slot >= kSlotCountMax) return Status::Corruption("accounts: slot out of order or range");
    least_slot = slot + 1;
    accounts->Add(static_cast<Slot>(slot), {UnZigZag(references), UnZigZag(value_bytes)});
  }
  return Status::OK();
}

std::vector<std::uint64_t> EncodePlacements(const std::vector<FamilyEdit::Placement>& placements) {
  std::vector<std::uint64_t> numbers;
  numbers.reserve(placements.size() * 3);
  for (const auto& [number, level, tier] : placements) numbers.insert(numbers.end(), {number, level, tier});
  return numbers;
}

Status DecodePlacements(const std::vector<std::uint64_t>& numbers, std::vector<FamilyEdit::Placement>* placements) {
  if (numbers.size() % 3 != 0) return Status::Corruption("family: placed runs are cut off");
  for (std::size_t i = 0; i < numbers.size(); i += 3) {
    if (numbers[i + 1] == 0 || numbers[i + 1] > kLevelMax) return Status::Corruption("family: level out of range");
    placements->push_back({numbers[i], static_cast<std::uint32_t>(numbers[i + 1]), numbers[i + 2]});
  }
  return Status::OK();
}

std::string EncodeFamily(const FamilyEdit& family) {
  std::string out;
  FieldWriter fields(&out);
  fields.Number(1, family.id);
  if (family.create.has_value()) fields.Bytes(2, EncodeCreation(*family.create));
  if (family.flushed_sequence.has_value()) fields.Number(3, *family.flushed_sequence);
  for (const RunInfo& run : family.add_runs) fields.Bytes(4, EncodeRun(run));
  if (family.layers.has_value()) fields.Numbers(5, *family.layers);
  if (family.root.has_value()) fields.Bytes(6, EncodeRoot(*family.root));
  if (family.end_sweep) fields.Number(7, 1);
  if (family.sweep.has_value()) fields.Bytes(8, EncodeSweep(*family.sweep));
  for (const IndexSegmentInfo& segment : family.set_index_segments) fields.Bytes(9, EncodeIndexSegment(segment));
  if (!family.drop_index_segments.empty()) fields.Numbers(10, family.drop_index_segments);
  if (const std::string accounts = EncodeAccounts(family.accounts); !accounts.empty()) fields.Bytes(11, accounts);
  if (!family.place_runs.empty()) fields.Numbers(12, EncodePlacements(family.place_runs));
  if (!family.drop_level_runs.empty()) fields.Numbers(13, family.drop_level_runs);
  if (family.versions_since.has_value()) fields.Number(14, *family.versions_since);
  return out;
}

// Takes all fields with this tag, and appends each, decoded, to *out.
template <typename T>
Status TakeAll(FieldReader* fields, std::uint64_t tag, Status (*decode)(Slice, T*), std::vector<T>* out) {
  Slice bytes;
  while (fields->Take(tag, &bytes)) {
    CAMBIUM_RETURN_IF_ERROR(decode(bytes, &out->emplace_back()));
  }
  return Status::OK();
}

Status DecodeFamily(Slice bytes, FamilyEdit* family) {
  FieldReader fields(bytes, "family");
  Slice message;
  std::uint64_t number = 0;
  fields.NumberUpTo(1, 0xffffffffu, &number);
  family->id = static_cast<std::uint32_t>(number);
  if (fields.Take(2, &message)) {
    CAMBIUM_RETURN_IF_ERROR(DecodeCreation(message, &family->create.emplace(FamilyEdit::Creation())));
  }
  if (fields.TakeNumber(3, &number)) family->flushed_sequence = number;
  CAMBIUM_RETURN_IF_ERROR(TakeAll(&fields, 4, DecodeRun, &family->add_runs));
  if (std::vector<std::uint64_t> layers; fields.TakeNumbers(5, &layers)) family->layers = std::move(layers);
  if (fields.Take(6, &message)) CAMBIUM_RETURN_IF_ERROR(DecodeRoot(message, &family->root.emplace()));
  if (fields.TakeNumber(7, &number)) {
    if (number != 1) return Status::Corruption("family: field 7 is out of range");
    family->end_sweep = true;
  }
  if (fields.Take(8, &message)) CAMBIUM_RETURN_IF_ERROR(DecodeSweep(message, &family->sweep.emplace()));
  CAMBIUM_RETURN_IF_ERROR(TakeAll(&fields, 9, DecodeIndexSegment, &family->set_index_segments));
  (void)fields.TakeNumbers(10, &family->drop_index_segments);
  if (fields.Take(11, &message)) CAMBIUM_RETURN_IF_ERROR(DecodeAccounts(message, &family->accounts));
  if (std::vector<std::uint64_t> numbers; fields.TakeNumbers(12, &numbers)) {
    CAMBIUM_RETURN_IF_ERROR(DecodePlacements(numbers, &family->place_runs));
  }
  (void)fields.TakeNumbers(13, &family->drop_level_runs);
  if (fields.TakeNumber(14, &number)) family->versions_since = number;
  return fields.Finish(kFamilyTags);
}

}  // namespace

std::string EncodeEdit(const Edit& edit) {
  std::string out;
  FieldWriter fields(&out);
  if (edit.database_id.has_value()) fields.Id(1, *edit.database_id);
  if (edit.epoch.has_value()) fields.Number(2, *edit.epoch);
  if (edit.next_file_number.has_value()) fields.Number(3, *edit.next_file_number);
  if (edit.last_sequence.has_value()) fields.Number(4, *edit.last_sequence);
  if (edit.durable_sequence.has_value()) fields.Number(5, *edit.durable_sequence);
  if (edit.replay.has_value()) {
    fields.Numbers(6, {edit.replay->segment, edit.replay->offset, edit.replay_sequence.value_or(0)});
  }
  if (edit.clean_shutdown.has_value()) fields.Number(7, *edit.clean_shutdown ? 1 : 0);
  for (const FamilyEdit& family : edit.families) fields.Bytes(8, EncodeFamily(family));
  for (const SegmentInfo& segment : edit.set_segments) fields.Bytes(9, EncodeSegment(segment));
  if (!edit.drop_segments.empty()) fields.Numbers(10, edit.drop_segments);
  if (edit.next_family_id.has_value()) fields.Number(11, *edit.next_family_id);
  if (!edit.drop_families.empty()) fields.Numbers(12, edit.drop_families);
  if (!edit.shadow_slots.empty()) {
    std::vector<std::uint64_t> slots;
    for (const Slot slot : edit.shadow_slots) slots.push_back(static_cast<std::uint64_t>(slot));
    fields.Numbers(13, slots);
  }
  return out;
}

Result<Edit> DecodeEdit(Slice bytes) {
  Edit edit;
  FieldReader fields(bytes, "edit");
  Slice message;
  std::uint64_t number = 0;
  if (fields.Take(1, &message)) {
    Id128 id;
    if (message.size() != id.size()) return Status::Corruption("edit: field 1 is not an id");
    std::memcpy(id.data(), message.data(), id.size());
    edit.database_id = id;
  }
  if (fields.TakeNumber(2, &number)) edit.epoch = number;
  if (fields.TakeNumber(3, &number)) edit.next_file_number = number;
  if (fields.TakeNumber(4, &number)) edit.last_sequence = number;
  if (fields.TakeNumber(5, &number)) edit.durable_sequence = number;
  if (std::vector<std::uint64_t> position; fields.TakeNumbers(6, &position)) {
    if (position.size() != 3) return Status::Corruption("edit: field 6 is not a log position");
    edit.replay = LogPosition{position[0], position[1]};
    edit.replay_sequence = position[2];
  }
  if (fields.TakeNumber(7, &number)) {
    if (number > 1) return Status::Corruption("edit: field 7 is out of range");
    edit.clean_shutdown = number == 1;
  }
  // A FamilyEdit may be far larger in memory than on disk, so their number is bounded separately.
  while (fields.Take(8, &message)) {
    if (edit.families.size() == kMaxFamilies) return Status::Corruption("edit: too many families");
    CAMBIUM_RETURN_IF_ERROR(DecodeFamily(message, &edit.families.emplace_back()));
  }
  CAMBIUM_RETURN_IF_ERROR(TakeAll(&fields, 9, DecodeSegment, &edit.set_segments));
  (void)fields.TakeNumbers(10, &edit.drop_segments);
  if (fields.TakeNumber(11, &number)) {
    if (number > 0xffffffffu) return Status::Corruption("edit: field 11 is out of range");
    edit.next_family_id = static_cast<std::uint32_t>(number);
  }
  (void)fields.TakeNumbers(12, &edit.drop_families);
  if (std::vector<std::uint64_t> slots; fields.TakeNumbers(13, &slots)) {
    for (const std::uint64_t slot : slots) {
      if (slot >= kSlotCountMax) return Status::Corruption("edit: a shadowed slot is out of range");
      edit.shadow_slots.push_back(static_cast<Slot>(slot));
    }
  }
  CAMBIUM_RETURN_IF_ERROR(fields.Finish(kEditTags));
  return edit;
}

Edit SnapshotEdit(const ManifestState& state) {
  Edit edit;
  edit.database_id = state.database_id;
  edit.epoch = state.epoch;
  edit.next_file_number = state.next_file_number;
  edit.last_sequence = state.last_sequence;
  edit.durable_sequence = state.durable_sequence;
  edit.replay = state.replay;
  edit.replay_sequence = state.replay_sequence;
  edit.clean_shutdown = state.clean_shutdown;
  edit.next_family_id = state.next_family_id;
  for (const auto& [id, family] : state.families) {
    FamilyEdit& out = edit.families.emplace_back();
    out.id = id;
    out.create = {family.name, family.index_type, family.comparator, family.page_size};
    out.flushed_sequence = family.flushed_sequence;
    out.add_runs = family.runs;
    out.layers.emplace();
    for (const RunInfo& run : family.runs) out.layers->push_back(run.number);
    for (const auto& [number, run] : family.level_runs) {
      out.add_runs.push_back(run.info);
      out.place_runs.push_back({number, run.level, run.tier});
    }
    out.root = family.root;
    out.sweep = family.sweep;
    for (const auto& [number, segment] : family.index_segments) out.set_index_segments.push_back(segment);
    for (const auto& [slot, account] : family.accounts) out.accounts.Add(slot, account);
    out.versions_since = family.versions_since;
  }
  for (const auto& [number, segment] : state.segments) edit.set_segments.push_back(segment);
  edit.shadow_slots.assign(state.shadowed_slots.begin(), state.shadowed_slots.end());
  return edit;
}

}  // namespace cambium
