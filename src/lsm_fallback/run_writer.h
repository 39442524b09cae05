// RunWriter: a sorted stream of entries, and range deletes, into runs, one after the other.
//
//   keys      a  c  d | k  l     p | s          a run has the keys and ranges from its border to the next one
//   ranges      [.....|....)   [...|.........)
//
// A run ends when it has target_bytes; where it would overlap more than grandparent_bytes_max of the files that it will
// be merged with next, so that one later compaction stays small; and when its file can address no more pages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "index/family_files.h"
#include "index/run.h"
#include "lsm_fallback/key_span.h"
#include "lsm_fallback/tier.h"
#include "util/result.h"

namespace cambium {

struct RunWriterOptions {
  explicit RunWriterOptions(const Comparator* its_comparator) : comparator(its_comparator), ranges(its_comparator) {}

  const Comparator* comparator;
  PagePool* pool = nullptr;
  RunOptions run;
  CreateIndexFile create_file;
  std::uint64_t target_bytes = 64u << 20;
  RangeDeletes ranges;                       // all there are, for whichever run they fall into
  std::vector<const RunInfo*> grandparents;  // in key order; must outlive the writer
  std::uint64_t grandparent_bytes_max = 0;
};

// One thread. After an error the writer is of no more use, and what it made is garbage.
class RunWriter {
 public:
  explicit RunWriter(const RunWriterOptions& options);
  ~RunWriter();

  // Keys strictly ascend over all runs: Corruption if not.
  Status Add(Slice key, const Entry& entry);

  // Ends the last run. Every run is synced and open; none is empty. A failed sync is Fatal unless there was no space:
  // nothing names the file yet, so it can be thrown away, but any other failure may have lost what the page cache still
  // shows of others.
  Result<RunList> Finish();

  [[nodiscard]] std::uint64_t bytes_written() const { return bytes_written_; }  // of runs that have ended

 private:
  Status Begin();
  Status End();
  // The run ends in front of `border` (null: behind everything), if there is anything in it.
  Status CutAt(const Slice* border);
  // Goes past all grandparents that end before `key` (null: all). Where only ranges reach over them, cuts between them.
  Status PassGrandparents(const Slice* key);
  [[nodiscard]] bool HasRangesBefore(const Slice* border) const;

  const RunWriterOptions options_;
  const KeyOrder order_;
  std::shared_ptr<File> file_;           // of builder_
  std::unique_ptr<RunBuilder> builder_;  // null: the run has no key yet
  std::optional<std::string> border_;    // where the run begins; unset: before everything
  std::size_t grandparent_ = 0;          // those before it end before every key to come
  std::uint64_t grandparent_bytes_ = 0;  // that the run reaches over
  RunList runs_;
  std::uint64_t bytes_written_ = 0;
};

}  // namespace cambium
