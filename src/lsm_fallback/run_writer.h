// RunWriter: writes a sorted stream of entries, and range deletes, into a sequence of runs.
//
//   keys      a  c  d | k  l     p | s          each run has the keys and ranges between two borders
//   ranges      [.....|....)   [...|.........)
//
// A run ends when it has target_bytes; before it would overlap more than grandparent_bytes_max of the files that it
// will be merged with next, so that the later compaction stays small; and when its file cannot address more pages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "index/family_files.h"
#include "index/file_syncs.h"
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
  RangeDeletes ranges;                       // all range deletes; each run gets its part
  std::vector<const RunInfo*> grandparents;  // in key order; must outlive the writer
  std::uint64_t grandparent_bytes_max = 0;
  FileSyncs* syncs = nullptr;  // new files are added here, and not synced; null: Finish returns synced files
};

// One thread. Unusable after an error; the files it has made are then garbage.
class RunWriter {
 public:
  explicit RunWriter(const RunWriterOptions& options);
  ~RunWriter();

  // Keys must strictly ascend across all runs, else Corruption.
  Status Add(Slice key, const Entry& entry);

  // Ends the last run. Returns all runs, open and, without `syncs`, synced; none is empty. A sync that fails here is
  // Fatal, unless there was no space: nothing names the new file yet, so it can be deleted. Any other failure may have
  // lost data of other files that the page cache still shows.
  Result<RunList> Finish();

  [[nodiscard]] std::uint64_t bytes_written() const { return bytes_written_; }  // of completed runs

 private:
  Status Begin();
  Status End();
  // Ends the run before `border` (null: at the end of all keys), if it has keys or ranges.
  Status CutAt(const Slice* border);
  // Advances past all grandparents that end before `key` (null: all). Cuts runs between grandparents, if range deletes
  // span too many of them.
  Status PassGrandparents(const Slice* key);
  [[nodiscard]] bool HasRangesBefore(const Slice* border) const;

  const RunWriterOptions options_;
  const KeyOrder order_;
  std::shared_ptr<File> file_;           // the file of builder_
  std::unique_ptr<RunBuilder> builder_;  // null: the run has no key yet
  std::optional<std::string> border_;    // where the run begins; unset: before all keys
  std::size_t grandparent_ = 0;          // grandparents before this index end before all further keys
  std::uint64_t grandparent_bytes_ = 0;  // of grandparents that the run spans
  RunList runs_;
  std::uint64_t bytes_written_ = 0;
};

}  // namespace cambium
