#include "gc/relocation.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <memory>
#include <map>

#include "gc/record_reads.h"
#include "util/coding.h"
#include "util/mutant.h"
#include "vlog/value_reader.h"

namespace cambium {
namespace {

// Only in a mutant: a damaged value gets a checksum that fits.
void HideDamage(Slice key, Slice stored, RecordHeader* header) {
  if (MutantIs(Mutant::kCopyDamagedValues)) header->body_checksum = BodyChecksum(key, stored);
}

// Reads all records into one buffer. A read with few dead bytes goes directly to its place. Other reads go into one of
// a few slots after all places, and their live records are copied from there, so that the gaps of all reads are never
// in memory at the same time.
class Reader {
 public:
  Reader(std::span<const GcSource> sources, std::span<const GcRecord> records, CopyBuffers* buffers)
      : sources_(sources),
        records_(records),
        buffers_(*buffers),
        at_(records.size()),
        have_(records.size(), 0),
        plan_(PlanReads(records)),
        blocks_(plan_.reads.size()) {
    std::size_t bytes = 0;
    for (std::size_t i = 0; i < blocks_.size(); ++i) bytes += Place(i, bytes);
    std::size_t apart = 0;
    for (const Block& block : blocks_) {
      if (block.is_in_place) continue;
      ++apart;
      slot_bytes_ = std::max(slot_bytes_, block.request.size);
    }
    const std::size_t slots = std::min(apart, kSlotsMax);
    free_slots_.reserve(slots);
    for (std::size_t i = 0; i < slots; ++i) free_slots_.push_back(bytes + i * slot_bytes_);
    bytes_ = buffers_.Take(bytes + slots * slot_bytes_);
  }
  ~Reader() { buffers_.Give(std::move(bytes_)); }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  // Reads all records. Calls `visit` for each record that has arrived, even if the file was cut short, while other
  // reads are in flight.
  template <typename Visit>
  Status ReadAll(ReadQueue* queue, const Visit& visit) {
    Status first;
    std::size_t next = 0;
    std::vector<ReadRequest*> done;
    std::vector<ReadRequest*> submit;
    done.reserve(queue->depth());
    const Drained drained{queue, &done};
    while (true) {
      submit.clear();
      while (first.ok() && next < blocks_.size() && queue->in_flight() + submit.size() < queue->depth()) {
        Block& block = blocks_[next];
        if (!block.is_in_place && free_slots_.empty()) break;
        ++next;
        if (!block.is_in_place) {
          block.slot = free_slots_.back();
          free_slots_.pop_back();
        }
        block.request.out = bytes_.bytes.get() + (block.is_in_place ? block.at : block.slot);
        submit.push_back(&block.request);
      }
      if (!submit.empty()) {
        if (const Status handed = queue->Submit(submit); !handed.ok()) first = handed;
      }
      if (queue->in_flight() == 0) return first;
      done.clear();
      const Status waited = queue->Wait(&done);
      if (first.ok()) first = waited;
      for (ReadRequest* const request : done) {
        Block& block = *static_cast<Block*>(request->tag);
        if (first.ok()) first = request->status;
        if (first.ok()) Take(block, visit);
        if (!block.is_in_place) free_slots_.push_back(block.slot);
      }
    }
  }

  // The bytes of record i; fewer than its size if the file is cut short.
  [[nodiscard]] Slice RecordAt(std::size_t i) const { return {bytes_.bytes.get() + at_[i], have_[i]}; }
  [[nodiscard]] std::uint64_t bytes_read() const { return bytes_read_; }

 private:
  struct Block {
    ReadRequest request;
    std::size_t at = 0;  // offset in bytes_
    bool is_in_place = false;
    std::size_t slot = 0;  // offset in bytes_ of the bytes to read, unless they are in place
    const RecordRead* read = nullptr;
  };

  // Waits for all reads in flight before the buffers are destroyed, also if an allocation throws.
  struct Drained {
    ReadQueue* queue;
    std::vector<ReadRequest*>* done;
    ~Drained() {
      while (queue->in_flight() > 0) {
        done->clear();
        static_cast<void>(queue->Wait(done));
      }
    }
  };

  // Lays out the records of a read, from offset `at` of the buffer on. Returns the bytes they take there.
  std::size_t Place(std::size_t which, std::size_t at) {
    const RecordRead& read = plan_.reads[which];
    assert(read.source < sources_.size() && read.first + read.count <= records_.size());
    Block& block = blocks_[which];
    block.read = &read;
    block.request.file = &sources_[read.source].segment->file();
    block.request.offset = read.offset;
    block.request.size = static_cast<std::size_t>(read.size);
    block.request.tag = &block;
    block.at = at;
    std::size_t alive = 0;
    for (std::size_t i = read.first; i < read.first + read.count; ++i) {
      const std::size_t record = plan_.by_place[i];
      at_[record] = at + alive;
      alive += records_[record].size;
    }
    block.is_in_place = read.size <= alive + alive / 8;
    if (!block.is_in_place) return alive;
    for (std::size_t i = read.first; i < read.first + read.count; ++i) {
      const std::size_t record = plan_.by_place[i];
      at_[record] = at + static_cast<std::size_t>(records_[record].offset - read.offset);
    }
    return block.request.size;
  }

  template <typename Visit>
  void Take(const Block& block, const Visit& visit) {
    bytes_read_ += block.request.read;
    for (std::size_t i = block.read->first; i < block.read->first + block.read->count; ++i) {
      const std::size_t which = plan_.by_place[i];
      const std::uint64_t from = records_[which].offset - block.request.offset;
      if (from < block.request.read) {
        have_[which] = std::min<std::size_t>(records_[which].size, block.request.read - from);
        char* const bytes = bytes_.bytes.get();
        if (!block.is_in_place) std::memcpy(bytes + at_[which], bytes + block.slot + from, have_[which]);
      }
      visit(which);
    }
  }

  const std::span<const GcSource> sources_;
  const std::span<const GcRecord> records_;
  CopyBuffers& buffers_;
  std::vector<std::size_t> at_;    // offset of each record in bytes_
  std::vector<std::size_t> have_;  // bytes of each record that have been read
  const RecordReads plan_;
  std::vector<Block> blocks_;
  CopyBuffers::Buffer bytes_;
  // More reads at the same time are hardly faster, since each reads up to kGcReadMax bytes.
  static constexpr std::size_t kSlotsMax = 8;
  std::size_t slot_bytes_ = 0;
  std::vector<std::size_t> free_slots_;  // their offsets in bytes_
  std::uint64_t bytes_read_ = 0;
};

class Copier {
 public:
  Copier(std::span<const GcFamily> families, std::span<const GcSource> sources, std::span<const GcRecord> records,
         CopyBuffers* buffers, RelocationWriter* writer)
      : families_(families),
        sources_(sources),
        records_(records),
        writer_(writer),
        reader_(sources, records, buffers) {}

  // Verifies all records before copying any, so that nothing is copied out of a damaged segment.
  Result<Relocation> Run(ReadQueue* queue) {
    CAMBIUM_RETURN_IF_ERROR(reader_.ReadAll(queue, [this](std::size_t i) { CheckOnArrival(i); }));
    out_.bytes_read = reader_.bytes_read();
    for (auto& [source, damage] : damaged_) out_.damaged.push_back({source, std::move(damage.why)});
    for (std::size_t i = 0; i < records_.size(); ++i) {
      if (damaged_.contains(records_[i].source)) continue;
      CAMBIUM_RETURN_IF_ERROR(Copy(i));
    }
    // From here on inline_values does not reallocate.
    for (const auto& [family, value, at, size, version] : inline_at_) {
      assert(size <= out_.inline_values.size() && at <= out_.inline_values.size() - size);
      out_.families[family].values[value].to = Entry::Inline({out_.inline_values.data() + at, size}, version);
    }
    return std::move(out_);
  }

 private:
  [[nodiscard]] const GcFamily& FamilyOf(const GcRecord& record) const {
    const auto found = std::ranges::find(families_, record.family, &GcFamily::id);
    assert(found != families_.end());
    return *found;
  }
  [[nodiscard]] ValueAddress AddressOf(const GcRecord& record) const {
    return ValueAddress::InLog(sources_[record.source].info.slot, record.offset, record.size);
  }

  // Verifies a record. If several records of a segment are damaged, keeps the first in the file, even if another one
  // arrives first.
  void CheckOnArrival(std::size_t i) {
    const GcRecord& record = records_[i];
    const auto known = damaged_.find(record.source);
    if (known != damaged_.end() && known->second.offset <= record.offset) return;
    RecordHeader header;
    Slice stored;
    Status checked = Parse(i, !MutantIs(Mutant::kCopyDamagedValues), &header, &stored);
    if (!checked.ok()) damaged_[record.source] = {record.offset, std::move(checked)};
  }

  Status Parse(std::size_t i, bool verify, RecordHeader* header, Slice* stored) const {
    const GcRecord& record = records_[i];
    const ValuePlace place{sources_[record.source].segment.get(), record.offset, static_cast<std::size_t>(record.size)};
    const ValueQuery query{AddressOf(record), record.family, record.key, verify, FamilyOf(record).equal_by};
    return ParseRecord(place, query, reader_.RecordAt(i), header, stored);
  }

  Status Copy(std::size_t i) {
    const GcRecord& record = records_[i];
    const GcFamily& family = FamilyOf(record);
    RecordHeader header;
    Slice stored;
    CAMBIUM_RETURN_IF_ERROR(Parse(i, false, &header, &stored));  // CheckOnArrival has verified it
    assert((out_.families.empty() || out_.families.back().family <= record.family) && "records are in order");
    if (out_.families.empty() || out_.families.back().family != record.family) out_.families.push_back({record.family, {}});
    std::vector<MovedValue>& moves = out_.families.back().values;

    // The key as the record has it: under a comparator that folds case it may differ from the index's.
    const Slice key(reader_.RecordAt(i).data() + kRecordHeaderSize, header.key_size);
    Slice raw = stored;
    const bool is_packed = header.codec != Codec::kNone;
    const bool is_small = RawSize(header, stored) < family.separate_from;
    const Codec codec = family.codec.value_or(header.codec);
    if (is_packed && (is_small || header.codec != codec)) {
      const ValuePlace place{sources_[record.source].segment.get(), record.offset, static_cast<std::size_t>(record.size)};
      const ValueQuery query{AddressOf(record), record.family, record.key, false, family.equal_by};
      CAMBIUM_RETURN_IF_ERROR(ParseValue(place, query, reader_.RecordAt(i), &raw_, &raw));
    }
    if (is_small) {
      inline_at_.push_back({out_.families.size() - 1, moves.size(), out_.inline_values.size(), raw.size(), header.sequence});
      out_.inline_values.insert(out_.inline_values.end(), raw.begin(), raw.end());
      moves.push_back({record.key, AddressOf(record), Entry::Inline({})});
      return Status::OK();
    }
    if (header.codec != codec) {
      header.codec = Codec::kNone;
      stored = raw;
      packed_.clear();
      PutFixed<std::uint64_t>(&packed_, raw.size());
      if (Compress(codec, raw, &packed_)) {
        header.codec = codec;
        stored = packed_;
      }
      header.value_size = stored.size();
      header.body_checksum = BodyChecksum(key, stored);
    }
    HideDamage(key, stored, &header);
    CAMBIUM_TRY(const ValueAddress to, writer_->Append(header, key, stored));
    out_.bytes_written += header.RecordSize();
    moves.push_back({record.key, AddressOf(record), Entry::At(to)});
    return Status::OK();
  }

  static std::uint64_t RawSize(const RecordHeader& header, Slice stored) {
    if (header.codec == Codec::kNone || stored.size() < sizeof(std::uint64_t)) return stored.size();
    return DecodeFixed<std::uint64_t>(stored.data());
  }

  struct InlineAt {
    std::size_t family;
    std::size_t value;
    std::size_t at;
    std::size_t size;
    SequenceNumber version;
  };

  const std::span<const GcFamily> families_;
  const std::span<const GcSource> sources_;
  const std::span<const GcRecord> records_;
  RelocationWriter* const writer_;
  Reader reader_;
  struct Damage {
    std::uint64_t offset = 0;
    Status why;
  };
  std::map<std::uint32_t, Damage> damaged_;  // by source
  std::vector<InlineAt> inline_at_;
  std::string raw_;
  std::string packed_;
  Relocation out_;
};

}  // namespace

Result<Relocation> Relocate(std::span<const GcFamily> families, std::span<const GcSource> sources,
                            std::span<const GcRecord> records, ReadQueues* queues, CopyBuffers* buffers,
                            RelocationWriter* writer) {
  std::unique_ptr<ReadQueue> queue = queues->Take(true);
  Result<Relocation> moved = Copier(families, sources, records, buffers, writer).Run(queue.get());
  queues->Give(std::move(queue), true);
  return moved;
}

}  // namespace cambium
