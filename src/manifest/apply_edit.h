// Applying an edit in two halves: everything that can be refused, then everything that changes. Between them lies the
// commit: an edit is checked before it is written, and takes effect when it is durable.
//
// Refused is, beside what ManifestState::Check says of the outcome:
//  - counters, sequence numbers, the epoch, the replay position or a family's flushed_sequence going back;
//  - a file number at or above next_file_number, or a new file under a number that another one has;
//  - a stack of layers that is not the known runs and the added ones, less the dropped, or one in which runs that
//    stay change places;
//  - a sweep over other runs than it began with; a cursor that goes back, as far as the order of keys is known here
//    (the two built-in orders; under a user's comparator it may not become empty again); the end of a sweep whose
//    runs stay, or runs that go while their sweep lives;
//  - a segment that changes its identity, or opens again, or changes its length after it was sealed;
//  - a run that is placed in a level above the one it is in;
//  - a new family whose id was drawn before or not yet; an edit of a family that it drops; dropping the default one;
//  - dropping a segment that any family has references to, unless its slot is shadowed in the same edit, that is not sealed (a large value need not be), or that
//    holds log at or above the replay position;
//  - a shadowed slot that has a segment, or no references; one that gets references;
//  - accounts below zero, or with references and no bytes, or the reverse.
#pragma once

#include "manifest/edit.h"
#include "manifest/state.h"
#include "util/result.h"

namespace cambium {

// What is different after an edit. Cheap where the state is large: families and segments that the edit does not name
// are not copied.
struct StagedEdit {
  ManifestState globals;                          // everything but what is below
  std::map<std::uint32_t, FamilyState> families;  // the edited ones, whole
  std::map<std::uint64_t, SegmentInfo> segments;  // set
  std::vector<std::uint64_t> dropped_segments;
  std::vector<std::uint32_t> dropped_families;
  std::vector<Slot> shadowed_slots;
  std::vector<Slot> freed_slots;  // shadowed ones that nothing refers to any more
};

// All checks. Corruption if the edit does not fit.
Result<StagedEdit> StageEdit(const Edit& edit, const ManifestState& state);

// Cannot fail. `state` must be what the edit was staged against.
void Install(StagedEdit staged, ManifestState* state);

}  // namespace cambium
