// Run: a sorted, immutable file of entries: what a flush, a merge or a relocation writes. Its name is NNNNNN.run.
//
//   header    FileHeader (kRun), zeros up to one page unit
//   pages     a tree, bottom-up: leaves and branches as they were closed, so leaves are nearly sequential; leaves may be
//             compressed, each for itself
//   filter    one block, see filter.h; absent (size 0) under a comparator for which equal keys may differ in bytes, or
//             when no bits were asked for
//   ranges    the range deletes, as range_deletes.h draws them; absent (size 0) if there are none
//   footer    smallest key | largest key | 112 bytes at the very end of the file:
//
//   offset  size  field
//        0     8  root page id        0 if the run has no keys
//        8     8  root checksum
//       16     4  height
//       20     4  flags               bit 0: the largest key is where a range delete ends, and not in the run
//       24     8  entry count         tombstones included
//       32     8  tombstone count
//       40     8  value bytes
//       48     8  filter offset
//       56     8  filter size
//       64     8  filter checksum     XXH3 of the filter, seed = SeedAt(file seed, filter offset)
//       72     4  smallest key size
//       76     4  largest key size
//       80     8  footer offset       where the smallest key starts
//       88     4  ranges size         they start where the filter ends
//       92     4  range count
//       96     8  ranges checksum     XXH3 of the ranges, seed = SeedAt(file seed, where they start); 0 if there are none
//      104     8  footer checksum     XXH3 of the footer before it, keys too; seed = SeedAt(file seed, footer offset)
//
// Smallest and largest key span everything that the run has something to say about: keys and range deletes. A point of a
// run wins over its own ranges; these hide what older layers say (see range_deletes.h). A run may hold ranges only.
//
// The MANIFEST names root, size and footer checksum of every run, so that another file in its place is seen.
#pragma once

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
#include "util/compression.h"

namespace cambium {

class Filter;

struct RunOptions {
  std::uint32_t page_size = 4096;
  unsigned fill_percent = 100;         // nobody adds to a run
  unsigned filter_bits_per_key = 10;   // 0: no filter
  std::uint64_t entries_expected = 0;  // roughly, if known: saves the filter's builder memory
  RunKind kind = RunKind::kFlush;      // for the RunInfo; the file does not tell
  Codec compression = Codec::kNone;    // of leaves, where it saves an eighth
  // Bytes of a leaf before compression, 2 to 32 page sizes; 0: DefaultBlockSize. Leaves are up to twice as long where
  // that fills page units better (see block_sizer.h). Without compression a leaf has page_size.
  std::uint32_t block_size = 0;
  BeforeWrite before_write = nullptr;  // of each piece
};
// 16 KiB, but no less than four pages: with fewer, the codec sees too little, and a unit more is too much.
[[nodiscard]] constexpr std::uint32_t DefaultBlockSize(std::uint32_t page_size) {
  return page_size <= 4096 ? 16 * 1024 : 4 * page_size;
}

// Writes a run into an empty file, one not open for direct I/O, sequentially and in pieces of kRunWriteSize. Syncs
// nothing: the caller does, before the MANIFEST names the file. One thread. After an error every further call returns
// it.
inline constexpr std::size_t kRunWriteSize = 256 * 1024;

class RunBuilder {
 public:
  // `file` is open for writing and empty; `header` is what it shall start with (kind and page size are set here). A block
  // size out of its range is the InvalidArgument of every call.
  RunBuilder(std::shared_ptr<File> file, const FileHeader& header, const Comparator* comparator,
             const RunOptions& options);
  ~RunBuilder();

  // Strictly ascending, else Corruption.
  Status Add(Slice key, const Entry& entry);
  // At any time before Finish, also for keys that were added or come later. Several calls add up.
  Status AddRanges(const RangeDeletes& ranges);
  Result<RunInfo> Finish();

  // True when the pages come near what a PageId can address (1,048,576 units): time to Finish and start another file.
  // Adding on regardless ends in InvalidArgument.
  [[nodiscard]] bool IsFull() const;
  [[nodiscard]] std::uint64_t entry_count() const;
  [[nodiscard]] std::uint64_t value_bytes() const;
  [[nodiscard]] std::uint64_t bytes_so_far() const;  // of pages closed so far

 private:
  struct Rep;
  std::unique_ptr<Rep> rep_;
};

// An open run. Immutable; shared by the views that see it. Any thread.
class Run {
 public:
  ~Run();
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  // Checks header and footer against what the MANIFEST expects, and reads filter and range deletes, which stay in memory.
  // `pool` must outlive the run.
  static Result<std::shared_ptr<const Run>> Open(std::shared_ptr<File> file, const RunInfo& expected,
                                                 const Comparator* comparator, PagePool* pool);
  // What the file says of itself, for tools that have no MANIFEST. RunInfo::kind is not in the file.
  static Result<RunInfo> ReadFooter(std::shared_ptr<File> file, std::uint64_t number);

  // False only if the run surely does not hold the key. Costs one cache line. Speaks of keys, not of range deletes.
  [[nodiscard]] bool MayContain(Slice key) const;
  // The same for FilterHash(key), so that a look-up in many runs hashes once.
  [[nodiscard]] bool MayContainHash(std::uint64_t filter_hash) const;
  void PrefetchFilter(std::uint64_t filter_hash) const;
  // What the run says of the key, if anything: its entry, as TreeFind, or a tombstone if it has none and a range delete
  // covers it. Asks the filter first.
  Result<bool> Find(Slice key, PageRef* keep, Entry* entry) const;
  // The same for whoever knows FilterHash(key).
  Result<bool> FindHashed(Slice key, std::uint64_t filter_hash, PageRef* keep, Entry* entry) const;
  // FindHashed for each of them; those that are not done yet.
  void FindTogether(std::span<Lookup* const> lookups) const;
  // What its keys in [begin, end) take, of the bytes of the file and of values.
  Result<TreePart> Measure(Slice begin, Slice end) const;
  // The keys, whatever the range deletes are. The cursor keeps the file open, and needs the run no more.
  [[nodiscard]] std::unique_ptr<EntryCursor> NewCursor() const;
  // Null if there are none.
  [[nodiscard]] const std::shared_ptr<const RangeDeletes>& ranges() const { return ranges_; }

  [[nodiscard]] const RunInfo& info() const { return info_; }
  [[nodiscard]] std::uint64_t number() const { return info_.number; }
  [[nodiscard]] std::uint64_t entry_count() const { return info_.root.entry_count; }
  [[nodiscard]] const FileSet& files() const { return files_; }
  [[nodiscard]] const Filter* filter() const { return filter_.get(); }  // null if there is none
  [[nodiscard]] std::size_t memory_bytes() const;

 private:
  Run(RunInfo info, FileSet files, std::unique_ptr<const Filter> filter, std::shared_ptr<const RangeDeletes> ranges,
      const Comparator* comparator, PagePool* pool);
  void CountAnswers(std::size_t asked, const OpenLookups& positives) const;

  const RunInfo info_;
  const FileSet files_;
  const std::unique_ptr<const Filter> filter_;
  const std::shared_ptr<const RangeDeletes> ranges_;
  const KeyOrder order_;
  PagePool* const pool_;
};

}  // namespace cambium
