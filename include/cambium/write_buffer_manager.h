// WriteBufferManager: one limit for the memory of memtables and filters, of one database or of several.
//
//   cambium::Options options;
//   options.write_buffer_manager = std::make_shared<cambium::WriteBufferManager>(256 << 20);
//   // ... and the same pointer in the options of every database that shares the 256 MiB
//
// Names and meanings are RocksDB's, with these differences:
//
// - Writes stay within the limit. In RocksDB a writer may exceed it unless allow_stall is set. Here a write that needs
//   memory waits until it has it, and flushes make room for it. memory_usage() exceeds buffer_size() only by memory
//   that no flush can free:
//     - memtables that iterators hold, and filters;
//     - operations that Open has recovered, until they are flushed;
//     - all memtables of databases that are open for reading only or cannot flush after an error; the other databases
//       may then take an eighth of the limit in addition;
//     - a batch that needs more than is left when everything else is flushed; one such batch at a time.
// - Writers that wait for memory get it in the order in which they came, over all databases.
// - Filters of runs and level files count. Room is kept for new ones: as much as the existing ones take, but at least a
//   16th of the limit. Memtables may take the rest, and at least an eighth of the limit.
// - Over all databases, the memtables with the largest product of memory and age are flushed; the age of a memtable is
//   the memory that all memtables have taken since its first chunk. RocksDB flushes the oldest one of the database that
//   writes.
#pragma once

#include <cstddef>
#include <memory>

namespace cambium {

class WriteBudget;

// Any thread may call any function. It may be destroyed before or after the databases that use it. A forked child
// cannot use its parent's manager: DB::Open with it returns NotSupported, changes of the limit do nothing, and the
// figures are those of the moment of the fork. A child may make one of its own.
class WriteBufferManager final {
 public:
  // buffer_size: bytes; 0: no limit, and memory is only counted. allow_stall: see SetAllowStall.
  explicit WriteBufferManager(std::size_t buffer_size, bool allow_stall = false);
  ~WriteBufferManager();
  WriteBufferManager(const WriteBufferManager&) = delete;
  WriteBufferManager& operator=(const WriteBufferManager&) = delete;

  // True if there is a limit.
  [[nodiscard]] bool enabled() const { return buffer_size() > 0; }
  // Bytes of all memtables and filters, as allocated.
  [[nodiscard]] std::size_t memory_usage() const;
  // The part of memory_usage() that active memtables of databases that can flush take.
  [[nodiscard]] std::size_t mutable_memtable_memory_usage() const;
  [[nodiscard]] std::size_t buffer_size() const;
  // Takes effect with the next write that needs memory; memory above a lower limit is given back by flushes from then
  // on.
  void SetBufferSize(std::size_t new_size);
  // If true, every write waits while memtables have all that they may take and a flush can free some. If false, only a
  // write that needs more memory than is left waits.
  void SetAllowStall(bool new_allow_stall);

  // True if memtables are due for a flush: active ones have more than 7/8 of the memtables' limit; or memtables have
  // all of it, and active ones at least half.
  [[nodiscard]] bool ShouldFlush() const;
  // True if writes wait: allow_stall is set, and memtables have all that they may take.
  [[nodiscard]] bool ShouldStall() const;

 private:
  friend class WriteBudget;
  const std::shared_ptr<WriteBudget> budget_;  // the databases hold it too
};

}  // namespace cambium
