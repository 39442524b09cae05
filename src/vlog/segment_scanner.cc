#include "vlog/segment_scanner.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>
#include <vector>

#include "util/checksum.h"
#include "util/mutant.h"

namespace cambium {
namespace {

// Large enough for the device's full bandwidth, small enough to be cheap for a tiny log.
constexpr std::size_t kChunkSize = 1u << 20;
constexpr std::size_t kChunksAhead = 4;

struct FreeAligned {
  void operator()(char* p) const { std::free(p); }
};
using AlignedBuffer = std::unique_ptr<char, FreeAligned>;

AlignedBuffer AllocateAligned(std::size_t size) {
  return AlignedBuffer(static_cast<char*>(std::aligned_alloc(kDirectAlignment, size)));
}

}  // namespace

// A ring of aligned chunks of the file, read ahead. Bytes that span chunks are joined in a buffer.
class SegmentScanner::Window {
 public:
  Window(const File& file, ReadQueue* queue) : file_(file), queue_(queue), slots_(queue == nullptr ? 1 : kChunksAhead) {}
  // Waits for all reads: none may write into freed memory.
  ~Window() {
    for (Chunk& chunk : slots_) {
      while (chunk.pending && Deliver().ok()) {
      }
    }
  }

  [[nodiscard]] const std::string& path() const { return file_.path(); }

  // As SegmentScanner::View. Does not fetch chunks beyond `limit`.
  Status View(std::uint64_t offset, std::size_t n, std::uint64_t limit, const char** bytes, std::size_t* have) {
    limit_ = limit;
    n = static_cast<std::size_t>(std::min<std::uint64_t>(n, offset >= limit ? 0 : limit - offset));
    *have = 0;
    if (n == 0) return Status::OK();
    const std::uint64_t first = offset / kChunkSize;
    const std::uint64_t last = (offset + n - 1) / kChunkSize;
    if (first == last) {
      const Chunk* chunk = nullptr;
      CAMBIUM_RETURN_IF_ERROR(Fetch(first, &chunk));
      const std::size_t at = offset % kChunkSize;
      *bytes = chunk->bytes.get() + at;
      *have = chunk->valid <= at ? 0 : std::min(n, chunk->valid - at);
      return Status::OK();
    }
    spanning_.clear();
    spanning_.reserve(n);
    for (std::uint64_t index = first; index <= last; ++index) {
      const Chunk* chunk = nullptr;
      CAMBIUM_RETURN_IF_ERROR(Fetch(index, &chunk));
      const std::size_t at = index == first ? offset % kChunkSize : 0;
      const std::size_t want = std::min(n - spanning_.size(), kChunkSize - at);
      const std::size_t got = chunk->valid <= at ? 0 : std::min(want, chunk->valid - at);
      spanning_.append(chunk->bytes.get() + at, got);
      if (got < want) break;
    }
    *bytes = spanning_.data();
    *have = spanning_.size();
    return Status::OK();
  }

 private:
  struct Chunk {
    std::uint64_t index = ~std::uint64_t{0};
    AlignedBuffer bytes;
    std::size_t valid = 0;
    bool pending = false;
    ReadRequest request;
  };

  Chunk& SlotOf(std::uint64_t index) { return slots_[index % slots_.size()]; }

  Status Prepare(Chunk* chunk, std::uint64_t index) {
    if (chunk->bytes == nullptr) {
      chunk->bytes = AllocateAligned(kChunkSize);
      if (chunk->bytes == nullptr) return Status::Denied(file_.path() + ": no memory for a read buffer");
    }
    chunk->index = index;
    chunk->valid = 0;
    chunk->request = ReadRequest{&file_, index * kChunkSize, kChunkSize, chunk->bytes.get(), chunk, 0, Status::OK()};
    return Status::OK();
  }

  // Waits for some reads of the queue. If another scanner shares the queue, they may be reads of that scanner, whose
  // chunks are then updated.
  Status Deliver() {
    std::vector<ReadRequest*> done;
    CAMBIUM_RETURN_IF_ERROR(queue_->Wait(&done));
    if (done.empty()) return Status::IOError(file_.path() + ": a read was lost");
    for (ReadRequest* request : done) {
      auto* finished = static_cast<Chunk*>(request->tag);
      finished->pending = false;
      finished->valid = request->read;
    }
    return Status::OK();
  }

  Status Await(Chunk* chunk) {
    while (chunk->pending) CAMBIUM_RETURN_IF_ERROR(Deliver());
    if (!chunk->request.status.ok()) {
      Status failed = std::exchange(chunk->request.status, Status::OK());  // the next call reads again
      chunk->index = ~std::uint64_t{0};
      return failed;
    }
    return Status::OK();
  }

  Status Fetch(std::uint64_t index, const Chunk** result) {
    Chunk& chunk = SlotOf(index);
    if (chunk.index != index) {
      CAMBIUM_RETURN_IF_ERROR(Await(&chunk));
      CAMBIUM_RETURN_IF_ERROR(Prepare(&chunk, index));
      if (queue_ == nullptr) {
        const Status s = file_.Read(index * kChunkSize, kChunkSize, chunk.bytes.get(), &chunk.valid);
        if (!s.ok()) {
          chunk.index = ~std::uint64_t{0};
          return s;
        }
      } else {
        CAMBIUM_RETURN_IF_ERROR(Start(&chunk));
      }
    }
    // Starts reads ahead. The ring keeps one chunk before the wanted one, which a spanning record may still need.
    for (std::uint64_t ahead = index + 1; queue_ != nullptr && ahead < index + slots_.size() - 1; ++ahead) {
      if (ahead * kChunkSize >= limit_) break;
      Chunk& next = SlotOf(ahead);
      if (next.index == ahead || next.pending) continue;
      CAMBIUM_RETURN_IF_ERROR(Prepare(&next, ahead));
      CAMBIUM_RETURN_IF_ERROR(Start(&next));
    }
    CAMBIUM_RETURN_IF_ERROR(Await(&chunk));
    *result = &chunk;
    return Status::OK();
  }

  Status Start(Chunk* chunk) {
    ReadRequest* request = &chunk->request;
    const Status s = queue_->Submit({&request, 1});
    if (!s.ok()) {
      chunk->index = ~std::uint64_t{0};
      return s;
    }
    chunk->pending = true;
    return Status::OK();
  }

  const File& file_;
  ReadQueue* queue_;
  std::vector<Chunk> slots_;
  std::uint64_t limit_ = 0;
  std::string spanning_;
};

SegmentScanner::SegmentScanner(const File& file, std::uint64_t file_seed, std::uint64_t start, std::uint64_t limit,
                               ReadQueue* queue)
    : window_(std::make_unique<Window>(file, queue)), seed_(file_seed), offset_(start), limit_(limit) {}
SegmentScanner::~SegmentScanner() = default;

Status SegmentScanner::View(std::uint64_t offset, std::size_t n, const char** bytes, std::size_t* have) {
  return window_->View(offset, n, limit_, bytes, have);
}

ScanResult SegmentScanner::Invalid(std::string reason, bool header_valid) {
  reason_ = std::move(reason);
  header_valid_ = header_valid;
  return ScanResult::kInvalid;
}

Result<ScanResult> SegmentScanner::Next(ScannedRecord* record) {
  header_valid_ = false;
  const char* bytes = nullptr;
  std::size_t have = 0;
  CAMBIUM_RETURN_IF_ERROR(View(offset_, kRecordHeaderSize, &bytes, &have));
  if (have == 0) return ScanResult::kEnd;
  if (have < kRecordHeaderSize) return Invalid("record header is cut off", false);
  switch (DecodeRecordHeader(bytes, seed_, offset_, &header_)) {
    case HeaderCheck::kValid: break;
    case HeaderCheck::kBadChecksum: return Invalid("record header checksum mismatch", false);
    case HeaderCheck::kBadField: return Invalid("record header field out of range", false);
    case HeaderCheck::kUnknownOperation:
      return Status::NotSupported(window_->path() + ":" + std::to_string(offset_) + ": operation " +
                                  std::to_string(static_cast<int>(header_.op)) +
                                  " of a log record is not known to this version");
  }
  const std::uint64_t size = header_.RecordSize();
  if (offset_ + size > limit_) return Invalid("record is cut off", true);
  if (leaves_out_long_values_ && header_.value_size > kChunkSize && !MutantIs(Mutant::kCheckHoldsValue)) {
    return NextInPieces(record);
  }
  CAMBIUM_RETURN_IF_ERROR(View(offset_, size, &bytes, &have));
  if (have < size) return Invalid("record is cut off", true);
  const Slice key(bytes + kRecordHeaderSize, header_.key_size);
  const Slice value(key.end(), header_.value_size);
  const bool is_hole = std::ranges::binary_search(holes_, offset_);
  if (!is_hole && !ChecksumMatches(header_.body_checksum, BodyChecksum(key, value)) &&
      !MutantIs(Mutant::kSkipValueChecksum)) {
    return Invalid("record checksum mismatch", true);
  }
  for (const char* pad = value.end(); pad < bytes + size; ++pad) {
    if (*pad != 0) return Invalid("record padding is not zero", true);
  }
  *record = {header_, key, value, offset_};
  offset_ += size;
  return ScanResult::kRecord;
}

Result<ScanResult> SegmentScanner::NextInPieces(ScannedRecord* record) {
  const bool is_hole = std::ranges::binary_search(holes_, offset_);
  const std::uint64_t value_at = offset_ + kRecordHeaderSize + header_.key_size;
  const std::uint64_t value_end = value_at + header_.value_size;
  const std::uint64_t end = offset_ + header_.RecordSize();
  const char* bytes = "";
  std::size_t have = 0;
  CAMBIUM_RETURN_IF_ERROR(View(offset_ + kRecordHeaderSize, header_.key_size, &bytes, &have));
  if (have < header_.key_size) return Invalid("record is cut off", true);
  long_key_.assign(bytes, have);
  Checksum64Stream checksum(0);
  checksum.Update(long_key_);
  for (std::uint64_t at = value_at; at < value_end; at += have) {
    const std::uint64_t piece = std::min<std::uint64_t>(kChunkSize - at % kChunkSize, value_end - at);
    CAMBIUM_RETURN_IF_ERROR(View(at, piece, &bytes, &have));
    if (have < piece) return Invalid("record is cut off", true);
    checksum.Update({bytes, have});
  }
  if (!is_hole && !ChecksumMatches(header_.body_checksum, checksum.Digest())) {
    return Invalid("record checksum mismatch", true);
  }
  CAMBIUM_RETURN_IF_ERROR(View(value_end, end - value_end, &bytes, &have));
  if (have < end - value_end) return Invalid("record is cut off", true);
  const bool is_padded = std::all_of(bytes, bytes + have, [](char c) { return c == 0; });
  if (!is_padded) return Invalid("record padding is not zero", true);
  *record = {header_, long_key_, Slice(), offset_};
  offset_ = end;
  return ScanResult::kRecord;
}

Result<bool> SegmentScanner::OnlyZerosAhead() {
  constexpr std::size_t kStep = 64u << 10;
  for (std::uint64_t at = offset_; at < limit_;) {
    const char* bytes = nullptr;
    std::size_t have = 0;
    CAMBIUM_RETURN_IF_ERROR(View(at, kStep - at % kStep, &bytes, &have));
    if (have == 0) break;
    if (std::any_of(bytes, bytes + have, [](char c) { return c != 0; })) return false;
    at += have;
  }
  return true;
}

Result<std::uint64_t> SegmentScanner::FindHeader(std::uint64_t at, RecordHeader* header) {
  for (; at + kRecordHeaderSize <= limit_; at += kRecordAlignment) {
    const char* bytes = nullptr;
    std::size_t have = 0;
    CAMBIUM_RETURN_IF_ERROR(View(at, kRecordHeaderSize, &bytes, &have));
    if (have < kRecordHeaderSize) break;
    // Most offsets are inside values. Two fields that are (nearly) zero in every valid header rule out almost all of
    // them before a checksum is computed.
    if (bytes[55] != 0 || (bytes[54] & ~kLastOfBatch) != 0) continue;
    if (DecodeRecordHeader(bytes, seed_, at, header) == HeaderCheck::kValid) return at;
  }
  return limit_;
}

Result<bool> SegmentScanner::SkipDamage() {
  // A valid header gives the length of its record, even if the rest is damaged.
  const std::uint64_t past_damage = header_valid_ ? header_.RecordSize() : kRecordAlignment;
  if (past_damage > limit_ - std::min(offset_, limit_)) {
    offset_ = limit_;
    return false;
  }
  RecordHeader header;
  CAMBIUM_TRY(offset_, FindHeader(offset_ + past_damage, &header));
  header_valid_ = false;
  return offset_ < limit_;
}

Result<SequenceNumber> SegmentScanner::ProbeForWitness() {
  SequenceNumber proven = 0;
  if (header_valid_) proven = header_.DurableSequence();
  RecordHeader header;
  for (std::uint64_t at = offset_ + kRecordAlignment; at < limit_; at += kRecordAlignment) {
    CAMBIUM_TRY(at, FindHeader(at, &header));
    if (at < limit_) proven = std::max(proven, header.DurableSequence());
  }
  return proven;
}

}  // namespace cambium
