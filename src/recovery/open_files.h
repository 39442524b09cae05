// Functions that open the files that a ManifestState names, and check each against the MANIFEST. Open, VerifyDB, the
// offline tools and log GC share them.
#pragma once

#include <functional>
#include <list>
#include <memory>
#include <string>

#include "cambium/file_system.h"
#include "cambium/options.h"
#include "manifest/state.h"
#include "util/result.h"
#include "vlog/segment.h"

namespace cambium {

// Whether the family has a run or an index segment of this number.
[[nodiscard]] bool HasFile(const FamilyState& family, std::uint64_t number);

// Returns Corruption if the state has no default column family: every database has one.
Status CheckDefaultFamily(const std::string& directory, const ManifestState& state);

// Opens a run or an index segment for reading. Corruption, naming the file, if it is missing or belongs to another
// database; IOError if it cannot be opened. Only the header is checked.
Result<std::unique_ptr<File>> OpenLayerFile(FileSystem& fs, const std::string& directory, const ManifestState& state,
                                            FileKind kind, std::uint64_t number);

// Says what to do with a log segment whose file header is damaged. The MANIFEST knows everything in the header that is
// needed to read the records, and their checksums show that this is the right file.
enum class HeaderDamage {
  kRefuse,       // Corruption
  kIgnoreInLog,  // read the records of log segments nevertheless. As kPointInTimeRecovery allows
};

[[nodiscard]] HeaderDamage HeaderRuleOf(WALRecoveryMode mode);

// Reads the header of a segment, and compares it with the MANIFEST's entry. Corruption if it is damaged or belongs to
// another file. If the damage is ignored, *damage says what it is, and the header is made from the entry.
Result<FileHeader> ReadSegmentHeader(const File& file, const ManifestState& state, const SegmentInfo& info,
                                     HeaderDamage rule, std::string* damage);

// Opens a segment of the log or the file of a large value. Also Corruption if its file id differs, or if it is shorter
// than its sealed length. `writable`: open an unsealed segment for writing, so that it can be synced. `on_release` is
// Segment's. `rule` and `damage` are ReadSegmentHeader's; `damage` may be null.
Result<std::shared_ptr<Segment>> OpenSegment(FileSystem& fs, const std::string& directory, const ManifestState& state,
                                             const SegmentInfo& info, bool writable,
                                             std::function<void(std::list<std::string>)> on_release,
                                             HeaderDamage rule = HeaderDamage::kRefuse, std::string* damage = nullptr);

// Whether the contents of files of this kind come from the log, perhaps through other files.
[[nodiscard]] bool IsMadeFromLog(FileKind kind);

// Whether the state is that of a database to which nothing was ever written.
[[nodiscard]] bool WasNeverWritten(const ManifestState& state);

// Looks for files that the MANIFEST does not name and that no crash can have left. If there is one, the MANIFEST has
// lost its end: Corruption, naming the file. These are
//   - a log segment with records, of the MANIFEST's epoch or a later one, and above the replay position. A segment is
//     named before the first record is written to it, so the edit that named this one is lost. (One below the replay
//     position was named and dropped, but its file was not removed yet.) The newest log segment with durable records is
//     dropped only by a new MANIFEST (CommitPoint::DropsNewestLog). So if edits that named log segments are lost, there
//     is such a segment, unless the edits that are left name a file that is missing.
//   - a run, index segment or relocation segment, of this epoch or a later one, if the MANIFEST says that nothing was
//     ever written: such a file proves a write.
Status CheckStrayFiles(FileSystem& fs, const std::string& directory, const ManifestState& state);

}  // namespace cambium
