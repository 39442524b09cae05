// The record of a prepared transaction. One that is read is written again, and reads the same.
#include "fuzz/target.h"
#include "transactions/prepared_record.h"

namespace cambium::fuzz {
namespace {

void FuzzPrepared(Slice input) {
  const Result<PreparedRecord> read = DecodePreparedRecord("name", input);
  if (!read.ok()) {
    const Status& s = read.status();
    Promise(s.IsCorruption() || s.IsNotSupported(), "a record is not read: " + s.ToString());
    Promise(s.ToString().find("prepared transaction 6e616d65") != std::string::npos, "no name: " + s.ToString());
    return;
  }
  Promise(read->bytes == input.size(), "a record has another size");
  const std::string again = EncodePreparedRecord(read->database_id, read->families, read->locks, read->batch);
  const Result<PreparedRecord> twice = DecodePreparedRecord("name", again);
  Promise(twice.ok(), "a record that was read and written is not read: " + twice.status().ToString());
  Promise(twice->database_id == read->database_id && twice->families == read->families && twice->locks == read->locks &&
              twice->batch.Data() == read->batch.Data(),
          "a record that was read and written is another one");
}

void AddPreparedSeeds(const GoldenFiles& files, std::vector<std::string>* seeds) {
  PreparedRecord::Locks locks;
  WriteBatch batch;
  for (const auto& [name, bytes] : files) {
    (void)batch.Put(name, Slice(bytes).substr(0, bytes.size() / 8));
    (void)batch.Delete(name + "x");
    (void)batch.DeleteRange(name, name + "y");
    locks.keys.push_back({0, true, name});
    locks.keys.push_back({300, false, name});
    locks.ranges.push_back({0, true, KeyRange::Of(name, name + "y")});
    locks.ranges.push_back({300, false, {{}, {KeyBound::At::kAfter, name}}});
  }
  seeds->push_back(EncodePreparedRecord(Id128{}, {{0, "default"}, {300, "another"}}, locks, batch));
}

}  // namespace

const Target kPreparedTarget = {"prepared", false, FuzzPrepared, AddPreparedSeeds};

}  // namespace cambium::fuzz
