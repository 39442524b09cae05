// Segment: an open file of the commit log, of values that log GC has moved, or of one large value. SegmentTable: slot -> segment.
#pragma once

#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cambium/file_system.h"
#include "io/file_header.h"
#include "vlog/segment_map.h"
#include "vlog/value_address.h"

namespace cambium {

// Held by every view, iterator and pinned value that may read it; the file is closed when the last one lets go, and
// then removed if it was made obsolete. Reading needs no lock.
class Segment {
 public:
  // `on_release` is called by the destructor of a segment that was made obsolete, with its path: the file can go.
  Segment(std::uint64_t number, Slot slot, std::string path, std::unique_ptr<File> file, const FileHeader& header,
          std::function<void(const std::string&)> on_release)
      : number_(number),
        slot_(slot),
        path_(std::move(path)),
        file_(std::move(file)),
        file_id_(header.file_id),
        epoch_(header.epoch),
        kind_(header.kind),
        seed_(header.Seed()),
        on_release_(std::move(on_release)) {
    // A value is read with exactly its bytes. Who wants several in a row knows which; the kernel would read up to megabytes
    // behind what looks like the beginning of a stream. A large value is one.
    if (kind_ != FileKind::kLargeValue) static_cast<void>(file_->Advise(0, 0, AccessHint::kRandom));
  }
  ~Segment() {
    map_.reset();
    file_.reset();
    if (obsolete_.load(std::memory_order_acquire) && on_release_ != nullptr) on_release_(path_);
    if (when_released_ != nullptr) when_released_();
  }
  Segment(const Segment&) = delete;
  Segment& operator=(const Segment&) = delete;

  [[nodiscard]] std::uint64_t number() const { return number_; }
  [[nodiscard]] Slot slot() const { return slot_; }
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] File& file() const { return *file_; }
  [[nodiscard]] const Id128& file_id() const { return file_id_; }
  [[nodiscard]] std::uint64_t epoch() const { return epoch_; }
  [[nodiscard]] FileKind kind() const { return kind_; }
  [[nodiscard]] std::uint64_t seed() const { return seed_; }

  // Values may be copied out of a mapping. Before anybody else has the segment. `expected_size`: of the file, in the end.
  void AllowMap(std::uint64_t expected_size) { map_ = std::make_unique<SegmentMap>(*file_, expected_size); }
  // Null: values are read from the file.
  [[nodiscard]] SegmentMap* map() const { return map_.get(); }

  // Offsets of records, ascending, whose values may be holes. Before anybody else has the segment.
  void SetHoles(std::vector<std::uint64_t> holes) { holes_ = std::move(holes); }
  [[nodiscard]] bool HasHole(std::uint64_t offset) const { return std::ranges::binary_search(holes_, offset); }
  [[nodiscard]] const std::vector<std::uint64_t>& holes() const { return holes_; }

  // Another Segment has taken its place, with the same file: `then` is called when the last reader of this one has let go,
  // in his thread, which may hold what a reader may hold. Once, by somebody who holds it.
  void WhenReleased(std::function<void()> then) { when_released_ = std::move(then); }

  // Of the log, once nothing is appended any more: where its records end. What stands behind that is no log. Any thread.
  void EndsAt(std::uint64_t length) { log_end_.store(length, std::memory_order_release); }
  [[nodiscard]] std::uint64_t log_end() const { return log_end_.load(std::memory_order_acquire); }  // 0: not ended

  // The record that drops this segment is durable: the file goes with its last reader.
  void MakeObsolete() { obsolete_.store(true, std::memory_order_release); }

 private:
  const std::uint64_t number_;
  const Slot slot_;
  const std::string path_;
  std::unique_ptr<File> file_;
  std::unique_ptr<SegmentMap> map_;
  const Id128 file_id_;
  const std::uint64_t epoch_;
  const FileKind kind_;
  const std::uint64_t seed_;
  std::atomic<bool> obsolete_{false};
  std::atomic<std::uint64_t> log_end_{0};
  std::function<void(const std::string&)> on_release_;
  std::vector<std::uint64_t> holes_;
  // Written by one holder; read when there is none left, and the count of holders orders the two.
  std::function<void()> when_released_;
};

// Immutable and cheap to copy with one slot changed, since each view has its own: slots in chunks of 64, shared by the
// tables that agree on them.
class SegmentTable {
 public:
  // Null if the slot is empty.
  [[nodiscard]] const std::shared_ptr<Segment>& Find(Slot slot) const {
    static const std::shared_ptr<Segment> kNone;
    const auto index = static_cast<std::size_t>(slot);
    if (index / kChunk >= chunks_.size() || chunks_[index / kChunk] == nullptr) return kNone;
    return (*chunks_[index / kChunk])[index % kChunk];
  }
  [[nodiscard]] SegmentTable With(Slot slot, std::shared_ptr<Segment> segment) const {
    SegmentTable copy = *this;
    const auto index = static_cast<std::size_t>(slot);
    if (index / kChunk >= copy.chunks_.size()) copy.chunks_.resize(index / kChunk + 1);
    auto& place = copy.chunks_[index / kChunk];
    auto chunk = place == nullptr ? std::make_shared<Chunk>(kChunk) : std::make_shared<Chunk>(*place);
    (*chunk)[index % kChunk] = std::move(segment);
    place = std::move(chunk);
    return copy;
  }
  [[nodiscard]] SegmentTable Without(Slot slot) const { return With(slot, nullptr); }

  template <typename F>
  void ForEach(F&& visit) const {
    for (const auto& chunk : chunks_) {
      if (chunk == nullptr) continue;
      for (const auto& segment : *chunk) {
        if (segment != nullptr) visit(segment);
      }
    }
  }

 private:
  static constexpr std::size_t kChunk = 64;
  using Chunk = std::vector<std::shared_ptr<Segment>>;
  std::vector<std::shared_ptr<const Chunk>> chunks_;
};

}  // namespace cambium
