// Fuzz targets: each takes any bytes as a file of one format, reads them with the library, and checks what the library
// promises about damaged files. No input may crash it, hang it, or make it allocate what a forged size asks for. Each
// error reports damage and names the file. If the library can read a file, it can write the contents again, and then
// reads the same. Keys come in order.
//
// The targets run with Mutant::kEveryChecksumMatches, so that changed bytes reach the code after the checks of the
// checksums. They run under libFuzzer (libfuzzer_main.cc, tools/fuzz.sh), and in every test build with the stored
// inputs (fuzz_inputs_test.cc).
#pragma once

#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "cambium/slice.h"
#include "cambium/status.h"
#include "golden/archive.h"

namespace cambium::fuzz {

using testing::GoldenFiles;

// An input has shown that a promise does not hold. Nothing catches it under libFuzzer, which then reports the input.
class BrokenPromise : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

void Promise(bool holds, const std::string& what);
// Promises that `s` is an error that damage to the file may cause: Corruption; NotSupported, since damage may look like
// a later version; or InvalidArgument, which the formats that are text use. Never OK. It names the file, or says which
// two files contradict each other.
void PromiseDamage(const Status& s, const std::string& file, const std::string& what);

struct Target {
  const char* name;  // also of the folder of its regressions
  // The input is an archive of files, which a mutation should not tear apart.
  bool is_archive;
  void (*run)(Slice input);
  // Appends the inputs that the files of one golden database give.
  void (*add_seeds)(const GoldenFiles& files, std::vector<std::string>* seeds);
};

[[nodiscard]] std::span<const Target* const> Targets();
[[nodiscard]] const Target* FindTarget(const std::string& name);  // null if there is none

// Returns the inputs that all golden databases of `directory` give. Throws BrokenPromise if it has none.
[[nodiscard]] std::vector<std::string> SeedsOf(const Target& target, const std::string& directory);

// ---- For targets ----

inline constexpr const char* kDirectory = "/db";  // of the database, in a simulated file system

// Returns the contents of the files whose name ends with `suffix`.
[[nodiscard]] std::vector<std::string> FilesWith(const GoldenFiles& files, const std::string& suffix);

extern const Target kManifestTarget;
extern const Target kPageTarget;
extern const Target kLogTarget;
extern const Target kFooterTarget;
extern const Target kRunTarget;
extern const Target kOptionsTarget;
extern const Target kBatchTarget;
extern const Target kPreparedTarget;
extern const Target kRocksDbBatchTarget;
extern const Target kTraceTarget;
extern const Target kBackupRecordTarget;
extern const Target kJsonlTarget;
extern const Target kDatabaseTarget;
extern const Target kSalvageTarget;

}  // namespace cambium::fuzz
