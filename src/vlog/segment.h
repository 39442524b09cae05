// Segment: an open file of the commit log, of relocated values, or of one large value. SegmentTable: slot -> segment.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cassert>
#include <functional>
#include <list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cambium/file_system.h"
#include "io/file_header.h"
#include "util/mutant.h"
#include "vlog/segment_map.h"
#include "vlog/value_address.h"

namespace cambium {

// Every view, iterator and pinned value that may read a segment holds a reference to it. When the last reference is
// released, the file is closed, and removed if the segment was made obsolete. Reading needs no lock.
class Segment {
 public:
  // The destructor of an obsolete segment calls `on_release` with its path: the file can be removed.
  Segment(std::uint64_t number, Slot slot, const std::string& path, std::unique_ptr<File> file,
          const FileHeader& header, std::function<void(std::list<std::string>)> on_release)
      : number_(number),
        slot_(slot),
        path_(1, path),
        file_(std::move(file)),
        file_id_(header.file_id),
        epoch_(header.epoch),
        kind_(header.kind),
        seed_(header.Seed()),
        on_release_(std::move(on_release)) {
    // A read asks for exactly the bytes of a value, and a caller that wants several values in a row asks for each.
    // Without the hint the kernel would take such reads for the beginning of a stream and read megabytes ahead. Only a
    // large value is a stream.
    if (kind_ != FileKind::kLargeValue) static_cast<void>(file_->Advise(0, 0, AccessHint::kRandom));
  }
  ~Segment() {
    map_.reset();
    file_.reset();
    if (obsolete_.load(std::memory_order_acquire) && on_release_ != nullptr) on_release_(std::move(path_));
    if (when_released_ != nullptr) when_released_();
  }
  Segment(const Segment&) = delete;
  Segment& operator=(const Segment&) = delete;

  [[nodiscard]] std::uint64_t number() const { return number_; }
  [[nodiscard]] Slot slot() const { return slot_; }
  [[nodiscard]] const std::string& path() const { return path_.front(); }
  [[nodiscard]] File& file() const { return *file_; }
  [[nodiscard]] const Id128& file_id() const { return file_id_; }
  [[nodiscard]] std::uint64_t epoch() const { return epoch_; }
  [[nodiscard]] FileKind kind() const { return kind_; }
  [[nodiscard]] std::uint64_t seed() const { return seed_; }

  // Lets values be copied out of a mapping. `expected_size` is the file's final size. Call it before the segment is
  // shared.
  void AllowMap(std::uint64_t expected_size) { map_ = std::make_unique<SegmentMap>(*file_, expected_size); }
  // Null: values are read from the file.
  [[nodiscard]] SegmentMap* map() const { return map_.get(); }

  // Sets the offsets, ascending, of records whose values may be holes, and the offset before which all records may be
  // holes, or 0. Call it before the segment is shared.
  void SetHoles(std::vector<std::uint64_t> holes, std::uint64_t cut) {
    holes_ = std::move(holes);
    cut_ = cut;
  }
  // True if the value of the record at `offset` may be a hole.
  [[nodiscard]] bool HasHole(std::uint64_t offset) const {
    return IsCutOff(offset) || std::ranges::binary_search(holes_, offset);
  }
  // True if the whole record at `offset` may be a hole.
  [[nodiscard]] bool IsCutOff(std::uint64_t offset) const { return offset < cut_; }
  [[nodiscard]] const std::vector<std::uint64_t>& holes() const { return holes_; }
  // The offset of the first record that is whole.
  [[nodiscard]] std::uint64_t FirstRecord() const { return cut_ != 0 ? cut_ : kFileHeaderSize; }

  // For a segment that another Segment with the same file has replaced: the thread that releases the last reference
  // calls `then`, and may hold any lock that a reader may hold. Call it once, while holding a reference.
  void WhenReleased(std::function<void()> then) {
    assert(when_released_ == nullptr && "a segment is replaced once");
    when_released_ = std::move(then);
  }

  // For a log segment that takes no more appends: sets where its records end. Bytes after it are not log. Any thread.
  void SetLogEnd(std::uint64_t length) { log_end_.store(length, std::memory_order_release); }
  [[nodiscard]] std::uint64_t log_end() const { return log_end_.load(std::memory_order_acquire); }  // 0: not ended

  // Lets the file be removed with the last reference. The MANIFEST record that drops this segment must be durable.
  void MakeObsolete() { obsolete_.store(true, std::memory_order_release); }
  [[nodiscard]] bool is_obsolete() const { return obsolete_.load(std::memory_order_acquire); }

 private:
  const std::uint64_t number_;
  const Slot slot_;
  std::list<std::string> path_;  // one
  std::unique_ptr<File> file_;
  std::unique_ptr<SegmentMap> map_;
  const Id128 file_id_;
  const std::uint64_t epoch_;
  const FileKind kind_;
  const std::uint64_t seed_;
  std::atomic<bool> obsolete_{false};
  std::atomic<std::uint64_t> log_end_{0};
  std::function<void(std::list<std::string>)> on_release_;
  std::vector<std::uint64_t> holes_;
  std::uint64_t cut_ = 0;
  // Written by one holder and read by the destructor; the reference count orders the two.
  std::function<void()> when_released_;
};

// Immutable. Each view has a table of its own, so a copy with one slot changed must be cheap even with many segments:
// slots lie in chunks of 64, and chunks in groups of 64; tables share the chunks and groups in which they do not
// differ.
class SegmentTable {
 public:
  // Null if the slot is empty.
  [[nodiscard]] const std::shared_ptr<Segment>& Find(Slot slot) const {
    static const std::shared_ptr<Segment> kNone;
    const auto index = static_cast<std::size_t>(slot);
    if (index / kGroupSlots >= groups_.size()) return kNone;
    const Group* const group = groups_[index / kGroupSlots].get();
    if (group == nullptr) return kNone;
    const Chunk* const chunk = (*group)[index / kFanOut % kFanOut].get();
    return chunk == nullptr ? kNone : (*chunk)[index % kFanOut];
  }
  [[nodiscard]] SegmentTable With(Slot slot, std::shared_ptr<Segment> segment) const {
    assert(segment == nullptr || segment->slot() == slot);
    SegmentTable copy = *this;
    if (MutantIs(Mutant::kViewCopiesSegmentTable)) copy.CopyAllGroups();
    const auto index = static_cast<std::size_t>(slot);
    if (index / kGroupSlots >= copy.groups_.size()) copy.groups_.resize(index / kGroupSlots + 1);
    std::shared_ptr<const Group>& place = copy.groups_[index / kGroupSlots];
    auto group = CopyOf(place);
    std::shared_ptr<const Chunk>& place_in_group = (*group)[index / kFanOut % kFanOut];
    auto chunk = CopyOf(place_in_group);
    (*chunk)[index % kFanOut] = std::move(segment);
    place_in_group = std::move(chunk);
    place = std::move(group);
    return copy;
  }
  [[nodiscard]] SegmentTable Without(Slot slot) const { return With(slot, nullptr); }

  template <typename F>
  void ForEach(F&& visit) const {
    for (const auto& group : groups_) {
      if (group == nullptr) continue;
      for (const auto& chunk : *group) {
        if (chunk == nullptr) continue;
        for (const auto& segment : *chunk) {
          if (segment != nullptr) visit(segment);
        }
      }
    }
  }

 private:
  static constexpr std::size_t kFanOut = 64;
  static constexpr std::size_t kGroupSlots = kFanOut * kFanOut;
  using Chunk = std::array<std::shared_ptr<Segment>, kFanOut>;
  using Group = std::array<std::shared_ptr<const Chunk>, kFanOut>;

  template <typename T>
  static std::shared_ptr<T> CopyOf(const std::shared_ptr<const T>& from) {
    return from == nullptr ? std::make_shared<T>() : std::make_shared<T>(*from);
  }
  // Only in a mutant: shares nothing with the table that it is a copy of.
  void CopyAllGroups() {
    for (std::shared_ptr<const Group>& each : groups_) each = CopyOf(each);
  }

  std::vector<std::shared_ptr<const Group>> groups_;
};

}  // namespace cambium
