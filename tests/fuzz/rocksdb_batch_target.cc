// RocksDB's serialised form of a batch (src/rocksdb_c/batch_format.h): replicators send it, and programs make it
// themselves.
#include <string>

#include "cambium/write_batch.h"
#include "fuzz/target.h"
#include "rocksdb_c/batch_format.h"
#include "util/coding.h"

namespace cambium::fuzz {
namespace {

// The operations of a batch, as text.
class Listed final : public WriteBatch::Handler {
 public:
  Status Put(Slice key, Slice value) override { return PutCF(0, key, value); }
  Status Delete(Slice key) override { return DeleteCF(0, key); }
  Status PutCF(std::uint32_t family, Slice key, Slice value) override { return Add('p', family, key, value); }
  Status DeleteCF(std::uint32_t family, Slice key) override { return Add('d', family, key, {}); }
  Status SingleDeleteCF(std::uint32_t family, Slice key) override { return Add('s', family, key, {}); }
  Status DeleteRangeCF(std::uint32_t family, Slice begin, Slice end) override { return Add('r', family, begin, end); }

  std::string text;
  std::uint32_t count = 0;

 private:
  Status Add(char op, std::uint32_t family, Slice key, Slice value) {
    text += op + std::to_string(family) + "," + std::to_string(key.size()) + "," + std::to_string(value.size()) + ":" +
            key.ToString() + value.ToString();
    ++count;
    return Status::OK();
  }
};

std::string ListOf(const WriteBatch& batch, std::uint32_t* count) {
  Listed listed;
  const Status s = batch.Iterate(&listed);
  Promise(s.ok(), "a batch that was accepted cannot be read: " + s.ToString());
  *count = listed.count;
  return listed.text;
}

void FuzzRocksDbBatch(Slice input) {
  WriteBatch batch;
  (void)batch.Put("before", "value");
  const std::string before(Slice(batch.Data()).ToString());
  const Status s = rocks::DecodeBatch(input, &batch);
  if (!s.ok()) {
    Promise(s.IsCorruption() || s.IsNotSupported(), "bytes that are no batch: another error: " + s.ToString());
    Promise(Slice(batch.Data()) == Slice(before), "a batch has changed, although its bytes were rejected");
    return;
  }
  std::uint32_t count = 0;
  const std::string operations = ListOf(batch, &count);
  Promise(count == batch.Count(), "a batch has another number of operations");
  Promise(count == DecodeFixed<std::uint32_t>(input.data() + 8), "a batch was accepted with a wrong count");
  Promise(operations.size() <= 32 * input.size(), "a batch has more bytes than its form");

  // Log data, no-ops and long forms of numbers are lost, and the form has no sequence number. From then on it is stable.
  const std::string form = rocks::EncodeBatch(batch);
  WriteBatch again;
  const Status decoded = rocks::DecodeBatch(form, &again);
  Promise(decoded.ok(), "the form of a batch is no form: " + decoded.ToString());
  Promise(Slice(again.Data()) == Slice(batch.Data()), "the form of a batch is that of another one");
  Promise(ListOf(again, &count) == operations, "the form of a batch has other operations");
  Promise(rocks::EncodeBatch(again) == form, "a batch has two forms");
  Promise(form.size() <= input.size(), "the form of a batch is longer than the one that it was read from");
}

// A form with an operation of each tag that is accepted, in the default family and in others, and with log data.
std::string FormOfEachTag() {
  std::string form(12, '\0');
  std::uint32_t count = 0;
  const auto add = [&](char tag, std::uint32_t family, bool has_value) {
    form += tag;
    if (family != 0) PutVarint64(&form, family);
    PutLengthPrefixed(&form, "key");
    if (has_value) PutLengthPrefixed(&form, "value");
    ++count;
  };
  add(0x1, 0, true);
  add(0x0, 0, false);
  add(0x7, 0, false);
  add(0xf, 0, true);
  add(0x5, 1, true);
  add(0x4, 300, false);
  add(0x8, 70'000, false);
  add(0xe, 0xffff'ffff, true);
  form += '\x0d';  // a no-op
  form += '\x03';
  PutLengthPrefixed(&form, "log data");
  EncodeFixed<std::uint32_t>(form.data() + 8, count);
  return form;
}

void AddRocksDbBatchSeeds(const GoldenFiles& files, std::vector<std::string>* seeds) {
  WriteBatch batch;
  for (const auto& [name, bytes] : files) {
    (void)batch.Put(name, Slice(bytes).substr(0, bytes.size() / 8));
    (void)batch.Delete(name + "x");
    (void)batch.SingleDelete("single");
    (void)batch.DeleteRange("a", name);
  }
  seeds->push_back(rocks::EncodeBatch(batch));
  seeds->push_back(FormOfEachTag());
}

}  // namespace

const Target kRocksDbBatchTarget = {"rocksdb_batch", false, FuzzRocksDbBatch, AddRocksDbBatchSeeds};

}  // namespace cambium::fuzz
