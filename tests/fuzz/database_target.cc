// Verifies a whole directory, opens it for reading and for writing, reads it in all ways, writes to it, compacts and
// closes it.
//
// The result of VerifyDB decides which results are allowed. If it finds no problem, everything must succeed and agree,
// even if the checksums of the input are wrong. If it finds one, any call may fail, but only with an error of damage.
#include "fuzz/directory.h"
#include "util/result.h"

namespace cambium::fuzz {
namespace {

// True for OK, and in a database with damage also for an error of damage.
bool Succeeds(const Status& s, bool is_sound, const std::string& what) {
  if (s.ok()) return true;
  Promise(!is_sound, what + " fails, although VerifyDB finds no problem: " + s.ToString());
  PromiseDamage(s, kDirectory, what);
  return false;
}

// Writes to each family; *contents follows.
Status WriteSome(const OpenDatabase& opened, Contents* contents) {
  for (ColumnFamilyHandle* const family : opened.handles) {
    const std::string prefix = family->GetName() + "/";
    for (const auto& [key, size] :
         {std::pair<std::string, std::size_t>{"a new key", 10}, {"key0003", 200}, {"z", 9000}}) {
      const std::string value(size, 'n');
      CAMBIUM_RETURN_IF_ERROR(opened.db->Put({}, family, key, value));
      (*contents)[prefix + key] = value;
    }
    CAMBIUM_RETURN_IF_ERROR(opened.db->Delete({}, family, "key0007"));
    contents->erase(prefix + "key0007");
  }
  return Status::OK();
}

void Work(const OpenDatabase& opened, bool is_sound, Contents contents) {
  if (!Succeeds(WriteSome(opened, &contents), is_sound, "writing")) return;
  for (ColumnFamilyHandle* const family : opened.handles) {
    if (!Succeeds(opened.db->Flush({}, family), is_sound, "a flush")) return;
    if (!Succeeds(opened.db->CompactRange({}, family, nullptr, nullptr), is_sound, "a compaction")) return;
  }
  if (!Succeeds(opened.db->WaitForCompact(), is_sound, "background work")) return;
  Contents after;
  if (!Succeeds(ReadEverything(opened, is_sound, &after), is_sound, "reading after a compaction")) return;
  Promise(!is_sound || after == contents, "a compaction has changed what the database has");
}

void FuzzDatabase(Slice input) {
  const GoldenFiles files = testing::UnpackGolden(input.ToString());
  if (files.empty()) return;
  const Directory directory(files);
  const bool is_sound = directory.VerifiesClean(kDirectory);

  Contents when_read;
  bool was_read = false;
  {
    OpenDatabase reading;
    if (Succeeds(OpenAll(directory, kDirectory, OpenFor::kReading, &reading), is_sound, "opening for reading")) {
      was_read = Succeeds(ReadEverything(reading, is_sound, &when_read), is_sound, "reading");
      Succeeds(reading.Close(), true, "closing after reading");
    }
  }
  OpenDatabase writing;
  const Status opened = OpenAll(directory, kDirectory, OpenFor::kWriting, &writing);
  if (opened.IsNotSupported()) return PromiseDamage(opened, kDirectory, "opening for writing");  // optional features
  if (!Succeeds(opened, is_sound, "opening for writing")) return;
  Contents contents;
  if (Succeeds(ReadEverything(writing, is_sound, &contents), is_sound, "reading") && was_read) {
    Promise(!is_sound || contents == when_read, "a database opened for writing reads as another one");
  }
  Work(writing, is_sound, contents);
  Succeeds(writing.Close(), is_sound, "closing");
  Promise(!is_sound || directory.VerifiesClean(kDirectory), "a database that was sound has problems after it was used");
}

void AddDatabaseSeeds(const GoldenFiles& files, std::vector<std::string>* seeds) {
  if (!files.contains("golden.trace")) seeds->push_back(testing::PackGolden(files));
}

}  // namespace

const Target kDatabaseTarget = {"database", true, FuzzDatabase, AddDatabaseSeeds};

}  // namespace cambium::fuzz
