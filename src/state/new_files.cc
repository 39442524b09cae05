// New files of the database: their numbers, and slots of new segments.
#include <algorithm>
#include <cassert>
#include <new>
#include <utility>

#include "io/new_file_guard.h"
#include "state/commit_point.h"
#include "util/mutant.h"

namespace cambium {

std::uint64_t CommitPoint::NewFileNumber() {
  const CommitLock lock(*this);
  return next_file_number_++;
}

Result<NewIndexFile> CommitPoint::MakeIndexFile(FileKind kind, std::uint64_t page_size, TableFiles* files) {
  assert(kind == FileKind::kRun || kind == FileKind::kIndex);
  NewIndexFile made;
  const std::uint64_t number = NewFileNumber();
  made.header = db_.HeaderFor(kind, number, page_size);
  NewFileGuard guard(db_.fs.get(), db_.PathOf(kind, number));
  std::unique_ptr<File> file;
  CAMBIUM_RETURN_IF_ERROR(guard.Create(&file));
  if (files != nullptr) files->Begin(file->path(), number);
  made.file = obsolete_.Track(number, std::move(file), false);
  guard.Keep();
  db_.events.Deliver();
  return made;
}

Result<NewRelocationFile> CommitPoint::MakeValueFile(FileKind kind, SequenceNumber published) {
  assert(kind == FileKind::kRelocation || kind == FileKind::kLargeValue);
  NewRelocationFile made;
  {
    const CommitLock lock(*this);
    CAMBIUM_TRY(made.slot, FreeSlot());
    made.header = db_.HeaderFor(kind, next_file_number_++);
    assert(!reserved_slots_.contains(made.slot));
    reserved_slots_.insert(made.slot);
  }
  if (!MutantIs(Mutant::kAgeSegmentsByValues)) made.made_at = published;
  Status created;
  try {
    NewFileGuard guard(db_.fs.get(), db_.PathOf(kind, made.header.number));
    created = guard.Create(&made.file);
    guard.Keep();
  } catch (const std::bad_alloc&) {
    ReleaseSlot(made.slot);
    throw;
  }
  if (created.ok()) return made;
  ReleaseSlot(made.slot);
  return created;
}

void CommitPoint::ReleaseSlot(Slot slot) {
  const CommitLock lock(*this);
  [[maybe_unused]] const std::size_t released = reserved_slots_.erase(slot);
  assert(released == 1 && "only a slot that was reserved is released");
}

Result<Slot> CommitPoint::FreeSlot() const {
  if (MutantIs(Mutant::kNeverReuseSlots)) return static_cast<Slot>(next_file_number_);
  const std::optional<Slot> free = index().FreeSlot([this](Slot slot) CAMBIUM_REQUIRES(commit_lock) {
    return reserved_slots_.contains(slot) || (held_slots_.contains(slot) && !MutantIs(Mutant::kGcReleasesSlots));
  });
  if (free.has_value()) return *free;
  return Status::NoSpace(db_.path + ": all " + std::to_string(kSlotCountMax) + " segment slots are in use");
}

std::shared_ptr<const void> CommitPoint::HoldSlots(std::vector<Slot> slots) {
  held_slots_.insert(slots.begin(), slots.end());
  return {static_cast<const void*>(this), [this, its = std::move(slots)](const void*) {
            const CommitLock lock(*this);
            for (const Slot slot : its) {
              assert(held_slots_.contains(slot));
              held_slots_.erase(held_slots_.find(slot));
            }
          }};
}

std::shared_ptr<Segment> CommitPoint::MakeSegment(const FileHeader& header, Slot slot, std::unique_ptr<File> file,
                                                  std::uint64_t sealed_length) {
  auto segment = std::make_shared<Segment>(header.number, slot, db_.PathOf(header.kind, header.number), std::move(file),
                                           header, WhenReleased());
  if (db_.options.allow_mmap_reads && header.kind == FileKind::kRelocation) {
    segment->AllowMap(sealed_length);
    segment->map()->Complete(sealed_length);
  }
  return segment;
}

}  // namespace cambium
