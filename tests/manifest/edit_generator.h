// EditGenerator: makes random but legal edits of a database, one after the other. The same seed gives the same edits.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "manifest/edit.h"
#include "manifest/state.h"
#include "util/prng.h"

namespace cambium::testing {

class EditGenerator {
 public:
  explicit EditGenerator(std::uint64_t seed) : prng_(seed) {}

  // Returns the state of a new database.
  ManifestState Start() {
    ManifestState state;
    state.database_id = DrawId();
    state.epoch = 1;
    state.next_file_number = 2;
    return state;
  }

  // Returns a number that was not drawn before, above all numbers of `state`.
  std::uint64_t DrawNumber(const ManifestState& state) {
    next_number_ = std::max(next_number_, state.next_file_number);
    return next_number_++;
  }

  // Returns an edit with some changes that a database makes; it fits `state`.
  Edit Next(const ManifestState& state) {
    Edit edit;
    ManifestState after = state;  // changed below, so that the parts of the edit fit each other
    if (state.families.empty() || (state.families.size() < 5 && prng_.OneIn(8))) CreateFamily(after, &edit);
    if (prng_.OneIn(3)) AddSegment(after, &edit);
    if (prng_.OneIn(3)) SealSegment(after, &edit);
    if (!state.families.empty()) EditFamily(after, &edit);
    if (state.families.size() > 3 && prng_.OneIn(8)) DropFamily(state, &edit);
    if (prng_.OneIn(2)) DropSegments(after, edit);
    if (prng_.OneIn(4)) ShadowSegment(after, &edit);
    edit.drop_segments.insert(edit.drop_segments.end(), dropped_.begin(), dropped_.end());
    dropped_.clear();
    if (prng_.OneIn(4)) edit.durable_sequence = state.durable_sequence + prng_.Uniform(100);
    if (prng_.OneIn(8)) edit.clean_shutdown = prng_.OneIn(2);
    edit.next_file_number = std::max(next_number_, state.next_file_number);
    return edit;
  }

  Id128 DrawId() {
    Id128 id;
    for (unsigned char& byte : id) byte = static_cast<unsigned char>(prng_.Next() >> 56);
    return id;
  }
  Prng& prng() { return prng_; }

 private:
  void CreateFamily(const ManifestState& state, Edit* edit) {
    FamilyEdit& family = edit->families.emplace_back();
    family.id = state.families.empty() ? 0 : state.next_family_id;
    edit->next_family_id = family.id + 1;
    family.create = {"family " + std::to_string(family.id) + prng_.Bytes(prng_.Uniform(5)),
                     prng_.OneIn(4) ? IndexType::kLsm : IndexType::kBTree,
                     prng_.OneIn(3) ? "user order" : "cambium.BytewiseComparator", std::uint64_t{512}
                                                                                       << prng_.Uniform(6)};
  }

  // Drops a family that the edit does not change.
  void DropFamily(const ManifestState& state, Edit* edit) {
    for (const auto& known : state.families) {
      const std::uint64_t id = known.first;
      if (id == 0 || std::ranges::any_of(edit->families, [id](const FamilyEdit& f) { return f.id == id; })) continue;
      edit->drop_families.push_back(id);
      return;
    }
  }

  void AddSegment(const ManifestState& state, Edit* edit) {
    SegmentInfo segment;
    segment.number = DrawNumber(state);
    segment.slot = FreeSlot(state);
    segment.kind = prng_.OneIn(4) ? SegmentKind::kLargeValue : SegmentKind::kLog;
    if (prng_.OneIn(4)) {
      segment.kind = SegmentKind::kRelocation;
      segment.generation = 1 + static_cast<std::uint32_t>(prng_.Uniform(3));
      segment.sealed = true;
      segment.sealed_length = segment.file_size = 128 + prng_.Uniform(10'000);
    }
    if (segment.sealed && prng_.OneIn(2)) {
      for (std::uint64_t at = 128; at < segment.sealed_length; at += 8 * prng_.Between(1, 500)) segment.punched.push_back(at);
    }
    if (segment.sealed && segment.sealed_length > 1000 && prng_.OneIn(3)) {
      segment.has_footer = true;
      segment.cut = kFileHeaderSize + 8 * prng_.Between(1, 100);
      std::erase_if(segment.punched, [&segment](std::uint64_t offset) { return offset < segment.cut; });
    }
    segment.file_id = DrawId();
    segment.epoch = state.epoch;
    edit->set_segments.push_back(segment);
  }

  static Slot FreeSlot(const ManifestState& state) {
    for (std::uint32_t slot = 0;; ++slot) {
      if (!state.shadowed_slots.contains(Slot{slot}) &&
          std::ranges::none_of(state.segments,
                               [slot](const auto& entry) { return entry.second.slot == Slot{slot}; })) {
        return Slot{slot};
      }
    }
  }

  void SealSegment(ManifestState& state, Edit* edit) {
    for (auto& [number, segment] : state.segments) {
      if (segment.sealed || segment.kind != SegmentKind::kLog || prng_.OneIn(2)) continue;
      segment.sealed = true;
      segment.sealed_length = std::max<std::uint64_t>(state.replay.segment == number ? state.replay.offset : 128, 128) +
                              prng_.Uniform(10'000);
      segment.has_footer = prng_.OneIn(2);
      segment.file_size = segment.sealed_length + prng_.Uniform(100);
      segment.last_sequence = state.last_sequence + prng_.Uniform(100);
      edit->set_segments.push_back(segment);
      return;
    }
  }

  RunInfo NewRun(const ManifestState& state, const FamilyState& family) {
    RunInfo run;
    run.number = DrawNumber(state);
    run.kind = prng_.OneIn(3) ? RunKind::kCompaction : RunKind::kFlush;
    run.file_id = DrawId();
    const std::uint64_t unit = 1 + prng_.Uniform(1000);
    const unsigned units = static_cast<unsigned>(prng_.Between(1, 64));
    run.root = {{MakePageId(run.number, unit, units), prng_.Next()}, 1 + static_cast<std::uint32_t>(prng_.Uniform(4)),
                1 + prng_.Skewed(40), prng_.Skewed(50)};
    run.tombstone_count = prng_.Skewed(10);
    if (family.page_size > 512 && prng_.OneIn(3)) run.page_size = 512;
    run.file_size = (unit + units) * family.PageSizeOf(run) + prng_.Uniform(5000);
    run.footer_checksum = prng_.Next();
    run.range_delete_count = prng_.OneIn(3) ? prng_.Uniform(10) : 0;
    run.largest_is_open = run.range_delete_count > 0 && prng_.OneIn(2);
    run.smallest_key = prng_.Bytes(prng_.Uniform(20));
    run.largest_key = prng_.Bytes(prng_.Uniform(20));
    return run;
  }

  void EditFamily(ManifestState& state, Edit* edit) {
    auto entry = state.families.begin();
    std::advance(entry, static_cast<std::ptrdiff_t>(prng_.Uniform(state.families.size())));
    FamilyState& family = entry->second;
    FamilyEdit out;
    out.id = family.id;
    switch (prng_.Uniform(5)) {
      case 0: Flush(state, &family, edit, &out); break;
      case 1: MergeRuns(state, &family, &out); break;
      case 2:
        if (family.index_type == IndexType::kLsm) {
          Compact(state, &family, &out);
        } else {
          Sweep(state, &family, &out);
        }
        break;
      case 3: Charge(state, family, &out); break;
      default: Discharge(&family, &out); break;
    }
    if (!family.versions_since.has_value() && prng_.OneIn(16)) {
      out.versions_since = out.flushed_sequence.value_or(family.flushed_sequence);
    }
    edit->families.push_back(std::move(out));
  }

  void Flush(ManifestState& state, FamilyState* family, Edit* edit, FamilyEdit* out) {
    out->add_runs.push_back(NewRun(state, *family));
    out->layers.emplace(1, out->add_runs[0].number);
    for (const RunInfo& run : family->runs) out->layers->push_back(run.number);
    edit->last_sequence = state.last_sequence + prng_.Uniform(1000);
    out->flushed_sequence = std::max(family->flushed_sequence, *edit->last_sequence);
    Charge(state, *family, out);
    for (const auto& [number, segment] : state.segments) {
      if (segment.kind != SegmentKind::kLog || number < state.replay.segment || prng_.OneIn(2)) continue;
      const std::uint64_t least = number == state.replay.segment ? state.replay.offset : 0;
      const std::uint64_t most = segment.sealed ? segment.sealed_length : least + 5000;
      state.replay = {number, segment.sealed && prng_.OneIn(2) ? most : prng_.Between(least, most)};
      edit->replay = state.replay;
      edit->replay_sequence = state.replay_sequence + prng_.Uniform(3);
    }
  }

  void MergeRuns(const ManifestState& state, FamilyState* family, FamilyEdit* out) {
    const std::size_t swept = family->sweep.has_value() ? family->sweep->runs.size() : 0;
    const std::size_t free = family->runs.size() - swept;
    if (free < 2) return;
    const std::size_t from = prng_.Uniform(free - 1);
    const std::size_t to = from + 2 + prng_.Uniform(free - from - 1);
    out->add_runs.push_back(NewRun(state, *family));
    out->layers.emplace();
    for (std::size_t i = 0; i < family->runs.size(); ++i) {
      if (i == from) out->layers->push_back(out->add_runs[0].number);
      if (i < from || i >= to) out->layers->push_back(family->runs[i].number);
    }
  }

  // Moves the oldest run, or one that replaces it, into a level; moves some runs of levels down, and drops some. Each
  // run is a tier of its own, because the keys are random.
  void Compact(const ManifestState& state, FamilyState* family, FamilyEdit* out) {
    if (!family->runs.empty()) {
      std::uint64_t number = family->runs.back().number;
      if (prng_.OneIn(2)) {
        out->add_runs.push_back(NewRun(state, *family));
        number = out->add_runs[0].number;
      }
      out->layers.emplace();
      for (std::size_t i = 0; i + 1 < family->runs.size(); ++i) out->layers->push_back(family->runs[i].number);
      out->place_runs.push_back({number, 1 + static_cast<std::uint32_t>(prng_.Uniform(3)), number});
    }
    for (const auto& [number, run] : family->level_runs) {
      if (prng_.OneIn(4) && run.level < kLevelMax) out->place_runs.push_back({number, run.level + 1, number});
      else if (prng_.OneIn(4)) out->drop_level_runs.push_back(number);
    }
  }

  void Sweep(const ManifestState& state, FamilyState* family, FamilyEdit* out) {
    if (family->runs.empty()) return;
    if (!family->sweep.has_value()) {
      const std::size_t size = 1 + prng_.Uniform(family->runs.size());
      out->sweep.emplace();
      for (std::size_t i = family->runs.size() - size; i < family->runs.size(); ++i) {
        out->sweep->runs.push_back(family->runs[i].number);
      }
      out->sweep->cursor = prng_.Bytes(prng_.Uniform(3));
    } else if (prng_.OneIn(2)) {
      out->sweep = family->sweep;
      out->sweep->cursor += prng_.Bytes(prng_.Uniform(3));
    } else {
      out->end_sweep = true;
      out->layers.emplace();
      for (std::size_t i = 0; i + family->sweep->runs.size() < family->runs.size(); ++i) {
        out->layers->push_back(family->runs[i].number);
      }
    }
    NewRoot(state, family, out);
  }

  // Adds a root to the newest index segment or to a new one; may drop the oldest one.
  void NewRoot(const ManifestState& state, FamilyState* family, FamilyEdit* out) {
    IndexSegmentInfo segment;
    if (family->index_segments.empty() || prng_.OneIn(3)) {
      segment.number = DrawNumber(state);
      segment.file_id = DrawId();
      segment.length = family->page_size;
    } else {
      segment = family->index_segments.back().second;
    }
    const std::uint64_t unit = segment.length / family->page_size;
    const unsigned units = static_cast<unsigned>(prng_.Between(1, 64));
    segment.length += units * family->page_size;
    segment.live_units = std::min<std::uint64_t>(segment.live_units + units, unit);
    out->set_index_segments.push_back(segment);
    const auto height = 1 + static_cast<std::uint32_t>(prng_.Uniform(4));
    out->root = {{MakePageId(segment.number, unit, units), prng_.Next()}, height, prng_.Skewed(40), prng_.Skewed(50)};
    if (family->index_segments.size() > 2 && family->index_segments.begin()->first != segment.number) {
      out->drop_index_segments.push_back(family->index_segments.begin()->first);
    }
  }

  void Charge(const ManifestState& state, const FamilyState& family, FamilyEdit* out) {
    (void)family;
    for (const auto& [number, segment] : state.segments) {
      if (prng_.OneIn(2)) continue;
      const auto references = static_cast<std::int64_t>(1 + prng_.Uniform(10));
      out->accounts.Add(segment.slot, {references, references * static_cast<std::int64_t>(8 + prng_.Uniform(5000))});
    }
  }

  // Removes all references of some accounts, and one of others.
  void Discharge(FamilyState* family, FamilyEdit* out) {
    const Accounts before = family->accounts;
    for (const auto& [slot, account] : before) {
      if (prng_.OneIn(2)) {
        out->accounts.Add(slot, {-account.references, -account.bytes});
        family->accounts.erase(slot);
      } else if (account.references > 1 && account.bytes > 1) {
        out->accounts.Add(slot, {-1, -1});
      }
    }
  }

  void DropSegments(const ManifestState& state, const Edit& edit) {
    for (const auto& [number, segment] : state.segments) {
      bool needed = segment.kind == SegmentKind::kLog &&
                    (!segment.sealed || state.replay < LogPosition{number, segment.sealed_length});
      for (const auto& [id, family] : state.families) needed = needed || family.accounts.contains(segment.slot);
      for (const FamilyEdit& family : edit.families) {
        const auto charge = family.accounts.by_slot().find(segment.slot);
        needed = needed || (charge != family.accounts.by_slot().end() && charge->second.references > 0);
      }
      if (!needed && prng_.OneIn(2)) dropped_.push_back(number);
    }
  }

  // As log GC does at its end: drops a segment to which layers still refer.
  static void ShadowSegment(const ManifestState& state, Edit* edit) {
    for (const auto& [number, segment] : state.segments) {
      if (!segment.sealed || segment.kind == SegmentKind::kLargeValue) continue;
      if (segment.kind == SegmentKind::kLog && state.replay < LogPosition{number, segment.sealed_length}) continue;
      // A family that the edit does not change must refer to it, so that the edit cannot remove the last reference.
      const Slot slot = segment.slot;
      const bool is_referred_to = std::ranges::any_of(state.families, [&](const auto& family) {
        return family.second.accounts.contains(slot) &&
               !std::ranges::count(edit->drop_families, std::uint64_t{family.first}) &&
               std::ranges::none_of(edit->families, [&](const FamilyEdit& f) { return f.id == family.first; });
      });
      if (!is_referred_to) continue;
      edit->drop_segments.push_back(number);
      edit->shadow_slots.push_back(segment.slot);
      return;
    }
  }

  Prng prng_;
  std::uint64_t next_number_ = 1;
  std::vector<std::uint64_t> dropped_;
};

}  // namespace cambium::testing
