// Run: a sorted, immutable file of entries, written by a flush, a compaction or a relocation. Its name is NNNNNN.run.
//
//   header    FileHeader (kRun), zeros up to one page unit
//   pages     a tree, bottom-up: leaves and branches in the order in which they were completed, so leaves are nearly
//             sequential; each leaf may be compressed by itself
//   filter    one block, see filter.h; absent (size 0) without filter bits, or under a comparator for which equal keys
//             may differ in bytes
//   ranges    the range deletes, in the format of range_deletes.h; absent (size 0) if there are none
//   footer    smallest key | largest key | 112 bytes at the very end of the file:
//
//   offset  size  field
//        0     8  root page id        0 if the run has no keys
//        8     8  root checksum
//       16     4  height
//       20     4  flags               bit 0: the largest key is the end of a range delete, and not in the run
//       24     8  entry count         tombstones included
//       32     8  tombstone count
//       40     8  value bytes
//       48     8  filter offset
//       56     8  filter size
//       64     8  filter checksum     XXH3 of the filter, seed = SeedAt(file seed, filter offset)
//       72     4  smallest key size
//       76     4  largest key size
//       80     8  footer offset       where the smallest key begins
//       88     4  ranges size         the ranges begin where the filter ends
//       92     4  range count
//       96     8  ranges checksum     XXH3 of the ranges, seed = SeedAt(file seed, their offset); 0 if there are none
//      104     8  footer checksum     XXH3 of its keys and the bytes above, seed = SeedAt(file seed, footer offset)
//
// The smallest and the largest key bound everything in the run, keys and range deletes. A run's own keys win over its
// ranges, which hide what older layers have (see range_deletes.h). A run may consist of ranges only.
//
// The MANIFEST records root, size and footer checksum of every run, so that a different file in its place is detected.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>

#include "index/family_files.h"
#include "index/index_file.h"
#include "index/lookup.h"
#include "index/page_pool.h"
#include "index/tree_builder.h"
#include "index/tree_part.h"
#include "manifest/run_info.h"
#include "memtable/entry_cursor.h"
#include "memtable/range_deletes.h"
#include "memtable/budget_charges.h"
#include "util/compression.h"

namespace cambium {

class Filter;

struct RunOptions {
  std::uint32_t page_size = 4096;
  bool tells_page_size = false;        // the RunInfo has the page size, which is smaller than the family's
  unsigned fill_percent = 100;         // runs are immutable: no room for later keys
  unsigned filter_bits_per_key = 10;   // 0: no filter
  std::uint64_t entries_expected = 0;  // an estimate; 0: unknown. Saves memory while the filter is built
  RunKind kind = RunKind::kFlush;      // for the RunInfo; not stored in the file
  Codec compression = Codec::kNone;    // of leaves, where it saves an eighth
  // Bytes of a leaf before compression, 2 to 32 page sizes; 0: DefaultBlockSize. Leaves have half to twice as many, as
  // fills page units best (see block_sizer.h). Without compression, a leaf has page_size.
  std::uint32_t block_size = 0;
  BeforeWrite before_write = nullptr;  // called before each write
};
// 16 KiB, but at least four pages: with fewer, the codec sees too little data, and one unit too many costs too much.
[[nodiscard]] constexpr std::uint32_t DefaultBlockSize(std::uint32_t page_size) {
  return page_size <= 4096 ? 16 * 1024 : 4 * page_size;
}

// Writes a run sequentially into an empty file that is not open for direct I/O, in pieces of kRunWriteSize
// (index/run_sink.h). Does not sync: the caller syncs before the MANIFEST names the file. One thread. After an error,
// every further call returns it.
class RunBuilder {
 public:
  // `file` is empty and open for writing. `header` is the file's header; kind and page size are set here. If the block
  // size is out of range, every call returns InvalidArgument.
  RunBuilder(std::shared_ptr<File> file, const FileHeader& header, const Comparator* comparator,
             const RunOptions& options);
  ~RunBuilder();

  // Keys must strictly ascend, else Corruption.
  Status Add(Slice key, const Entry& entry);
  // Adds range deletes. May be called at any time before Finish, before or after Add. Several calls form a union.
  Status AddRanges(const RangeDeletes& ranges);
  Result<RunInfo> Finish();

  // True if the pages are close to the most that a PageId can address (1,048,576 units): call Finish and start another
  // file. Adding more ends in InvalidArgument.
  [[nodiscard]] bool IsFull() const;
  [[nodiscard]] std::uint64_t entry_count() const;
  [[nodiscard]] std::uint64_t value_bytes() const;
  [[nodiscard]] std::uint64_t bytes_so_far() const;  // of completed pages

 private:
  struct Rep;
  std::unique_ptr<Rep> rep_;
};

// An open run. Immutable, and shared by the views that read it. Any thread.
class Run {
 public:
  ~Run();
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  // Checks header and footer against what the MANIFEST expects. Reads the filter and the range deletes, which stay in
  // memory. `pool` must outlive the run.
  static Result<std::shared_ptr<const Run>> Open(std::shared_ptr<File> file, const RunInfo& expected,
                                                 const Comparator* comparator, PagePool* pool);
  // Reads the facts about the run from its footer, for tools without a MANIFEST. RunInfo::kind is not in the file.
  static Result<RunInfo> ReadFooter(std::shared_ptr<File> file, std::uint64_t number);
  // Reads the filter from a run of `file_size` bytes, even if its pages are damaged. Null if it has none.
  static Result<std::shared_ptr<const Filter>> ReadItsFilter(const IndexFile& file, std::uint64_t file_size);
  // As ReadItsFilter, for the range deletes. Null if there are none.
  static Result<std::shared_ptr<const RangeDeletes>> ReadRangeDeletes(const IndexFile& file, std::uint64_t file_size,
                                                                      const Comparator* comparator);

  // False only if the run surely does not contain the key. Costs one cache line. Ignores range deletes.
  [[nodiscard]] bool MayContain(Slice key) const;
  // The same, with the hash from FilterHash(key): a lookup in many runs computes it once.
  [[nodiscard]] bool MayContainHash(std::uint64_t filter_hash) const;
  void PrefetchFilter(std::uint64_t filter_hash) const;
  // Returns true if the run has an entry for the key, as TreeFind, or if a range delete covers it: then *entry is a
  // tombstone. Asks the filter first.
  Result<bool> Find(Slice key, PageRef* keep, Entry* entry) const;
  // As Find, for callers that have FilterHash(key).
  Result<bool> FindHashed(Slice key, std::uint64_t filter_hash, PageRef* keep, Entry* entry) const;
  // Runs FindHashed for each lookup. All of them must be unfinished.
  void FindTogether(std::span<Lookup* const> lookups) const;
  // Measures the entries in [begin, end): their share of the file, and the bytes of their values.
  Result<TreePart> Measure(Slice begin, Slice end) const;
  // A cursor over the keys, ignoring range deletes. It keeps the file open and may outlive the run.
  [[nodiscard]] std::unique_ptr<EntryCursor> NewCursor() const;
  // Null if there are none.
  [[nodiscard]] const std::shared_ptr<const RangeDeletes>& ranges() const { return ranges_; }

  [[nodiscard]] const RunInfo& info() const { return info_; }
  [[nodiscard]] std::uint64_t number() const { return info_.number; }
  [[nodiscard]] std::uint64_t entry_count() const { return info_.root.entry_count; }
  [[nodiscard]] const FileSet& files() const { return files_; }
  [[nodiscard]] const Filter* filter() const { return filter_.get(); }  // null if there is none
  [[nodiscard]] std::size_t memory_bytes() const;

  // An estimate: the share of the entries that replaced or deleted an older one when the run was added to the layers.
  // If it is unknown, because the run is older than this process: the share of the tombstones, or `otherwise` if that
  // is more.
  [[nodiscard]] double ReplacedShare(double otherwise) const;
  void NoteReplacedShare(double share) const { replaced_share_.store(share, std::memory_order_relaxed); }

 private:
  friend class PrivateRunsBuilder;

  Run(RunInfo info, FileSet files, std::unique_ptr<const Filter> filter, std::shared_ptr<const RangeDeletes> ranges,
      const Comparator* comparator, PagePool* pool);
  void CountAnswers(std::size_t asked, const OpenLookups& positives) const;

  const RunInfo info_;
  const FileSet files_;
  const std::unique_ptr<const Filter> filter_;
  const std::shared_ptr<const RangeDeletes> ranges_;
  const KeyOrder order_;
  PagePool* const pool_;
  const FilterCharge charge_;  // memory_bytes()
  mutable std::atomic<double> replaced_share_{-1};  // negative: not known
};

}  // namespace cambium
