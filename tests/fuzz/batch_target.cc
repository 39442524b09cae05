// The serialised form of a WriteBatch. It is rebuilt from its operations, and written to a database.
#include <map>
#include <memory>

#include "cambium/db.h"
#include "cambium/write_batch.h"
#include "fuzz/directory.h"
#include "fuzz/target.h"

namespace cambium::fuzz {
namespace {

// The operations as text, and the contents that those of the default family make.
class Collector final : public WriteBatch::Handler {
 public:
  Status Put(Slice key, Slice value) override { return PutCF(0, key, value); }
  Status Delete(Slice key) override { return DeleteCF(0, key); }
  Status PutCF(std::uint32_t family, Slice key, Slice value) override {
    Add('p', family, key, value);
    if (family == 0) contents[key.ToString()] = value.ToString();
    return Status::OK();
  }
  Status DeleteCF(std::uint32_t family, Slice key) override {
    Add('d', family, key, {});
    if (family == 0) contents.erase(key.ToString());
    return Status::OK();
  }
  Status SingleDeleteCF(std::uint32_t family, Slice key) override {
    Add('s', family, key, {});
    if (family == 0) contents.erase(key.ToString());
    return Status::OK();
  }
  Status DeleteRangeCF(std::uint32_t family, Slice begin, Slice end) override {
    Add('r', family, begin, end);
    if (family == 0 && begin < end) {
      contents.erase(contents.lower_bound(begin.ToString()), contents.lower_bound(end.ToString()));
    }
    return Status::OK();
  }

  std::string operations;
  std::uint32_t count = 0;
  bool only_default = true;
  std::map<std::string, std::string> contents;

 private:
  void Add(char op, std::uint32_t family, Slice key, Slice value) {
    operations += op + std::to_string(family) + "," + std::to_string(key.size()) + "," + std::to_string(value.size()) +
                  ":" + key.ToString() + value.ToString();
    only_default = only_default && family == 0;
    ++count;
  }
};

void PromiseWritten(WriteBatch* batch, const Collector& collected) {
  Directory directory(GoldenFiles{});
  directory.options.create_if_missing = true;
  std::unique_ptr<DB> db;
  const Status opened = DB::Open(directory.options, kDirectory, &db);
  Promise(opened.ok(), "a database cannot be created: " + opened.ToString());
  const Status written = db->Write({}, batch);
  Promise(written.ok() || written.IsInvalidArgument(), "writing a batch: not InvalidArgument: " + written.ToString());
  const std::map<std::string, std::string> expected =
      written.ok() ? collected.contents : std::map<std::string, std::string>();
  Promise(!written.ok() || collected.only_default, "a batch for a family that does not exist was written");
  for (const bool flush : {false, true}) {
    if (flush) Promise(db->Flush({}).ok(), "a batch that was written cannot be flushed");
    std::map<std::string, std::string> found;
    const std::unique_ptr<Iterator> it(db->NewIterator({}));
    for (it->SeekToFirst(); it->Valid(); it->Next()) found[it->key().ToString()] = it->value().ToString();
    Promise(it->status().ok() && found == expected, "a batch that was written reads as another one");
  }
  Promise(db->Close().ok(), "a database with a batch cannot be closed");
}

void FuzzBatch(Slice input) {
  WriteBatch batch;
  const Status s = WriteBatch::FromData(input, &batch);
  if (!s.ok()) {
    Promise(s.IsCorruption(), "bytes that are no batch: not Corruption: " + s.ToString());
    Promise(batch.Count() == 0, "a batch has changed, although its bytes were rejected");
    return;
  }
  Promise(Slice(batch.Data()) == input, "a batch does not keep its bytes");
  Collector collected;
  const Status iterated = batch.Iterate(&collected);
  Promise(iterated.ok(), "a batch that was accepted cannot be read: " + iterated.ToString());
  Promise(collected.count == batch.Count(), "a batch has another number of operations");

  WriteBatch copy;
  Promise(WriteBatch::FromData(batch.Data(), &copy).ok(), "the bytes of a batch are no batch");
  copy.Append(batch);
  Collector twice;
  Promise(copy.Iterate(&twice).ok() && twice.operations == collected.operations + collected.operations,
          "a batch that was appended has other operations");
  PromiseWritten(&batch, collected);
}

void AddBatchSeeds(const GoldenFiles& files, std::vector<std::string>* seeds) {
  WriteBatch batch;
  for (const auto& [name, bytes] : files) {
    (void)batch.Put(name, Slice(bytes).substr(0, bytes.size() / 8));
    (void)batch.Delete(name + "x");
    (void)batch.SingleDelete("single");
    (void)batch.DeleteRange("a", name);
  }
  seeds->push_back(batch.Data());
}

}  // namespace

const Target kBatchTarget = {"batch", false, FuzzBatch, AddBatchSeeds};

}  // namespace cambium::fuzz
