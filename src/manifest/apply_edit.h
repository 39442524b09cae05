// Applies an edit in two halves: StageEdit does all checks, Install all changes. The commit happens between them: an
// edit is checked before it is written, and takes effect when it is durable.
//
// An edit is rejected if its outcome fails ManifestState::Check, and also if:
//  - a counter, sequence number, epoch, replay position or a family's flushed_sequence decreases;
//  - a file number is at or above next_file_number, or a new file has the number of another one;
//  - the new stack has a run that is neither known nor added, or remaining runs change their order;
//  - a sweep continues over other runs than it began with; its cursor moves back, as far as the order of keys is known
//    here (the two built-in orders; under a user's comparator the cursor may not become empty again); its runs remain
//    after its end, or are dropped before it;
//  - a segment changes its identity, is unsealed, or changes its length after it was sealed;
//  - a run moves to a level above its own;
//  - a family begins to keep versions that keeps them already;
//  - a new family has an id that is used, was used before or is not drawn yet; a dropped family is also edited; the
//    default family is dropped;
//  - a dropped segment has references from any family and its slot is not shadowed in the same edit, or is not sealed
//    (a large value need not be), or holds log at or above the replay position;
//  - a shadowed slot has a segment, or no references, or gains references;
//  - an account falls below zero, or has references and no bytes, or the reverse.
#pragma once

#include "manifest/edit.h"
#include "manifest/state.h"
#include "manifest/state_index.h"
#include "util/result.h"

namespace cambium {

// The changes of an edit. Families and segments that the edit does not name are not copied. Of an edited family, only
// the nodes of tables are copied that the edit changes (util/shared_table.h). So it is cheap even if the state is
// large.
struct StagedEdit {
  ManifestState globals;                          // all fields except families, segments and shadowed_slots
  std::map<std::uint32_t, FamilyState> families;  // the edited ones, whole
  std::map<std::uint64_t, SegmentInfo> segments;  // the new and changed ones
  std::vector<std::uint64_t> dropped_segments;
  std::vector<std::uint32_t> dropped_families;
  std::set<Slot> shadowed_slots;
  std::vector<Slot> freed_slots;  // shadowed slots without references now
  IndexChange index;
};

// Does all checks. Corruption if the edit does not fit the state. `index` is that of the state.
Result<StagedEdit> StageEdit(const Edit& edit, const ManifestState& state, const StateIndex& index);

// Makes the changes. `state` and `index` must be those that the edit was staged against. Changes the state without
// allocating memory; if memory runs out for the index, the state is right and the index is not.
void Install(StagedEdit staged, ManifestState* state, StateIndex* index);

// Both in one. An edit that is rejected changes nothing.
Status ApplyEdit(const Edit& edit, ManifestState* state, StateIndex* index);

}  // namespace cambium
