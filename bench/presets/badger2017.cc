// "Introducing Badger: A fast key-value store written purely in Go", dgraph.io, 2017. Keys are Badger's. The load
// of both indexes answers its closing question, whether a B+-tree of keys and value pointers can write as fast as an
// LSM.
#include "presets/presets.h"

namespace cambium::bench {

std::vector<PresetRun> Badger2017Runs(double scale) {
  struct DataSet {
    std::uint64_t value_size;
    double count;
  };
  std::vector<PresetRun> runs;
  for (const DataSet& set : {DataSet{16, 1000e6}, DataSet{128, 250e6}, DataSet{1024, 75e6}, DataSet{16384, 5e6}}) {
    const std::uint64_t num = Scaled(set.count, scale, 1000);
    runs.push_back({"badger2017, " + SizeName(set.value_size),
                    {Flag("num", num), Flag("value_size", set.value_size), "--key_style=badger",
                     "--engine=cambium,rocksdb_leveled,rocksdb_blob,leveldb,lmdb", "--index=both",
                     Flag("reads", std::min<std::uint64_t>(num, Scaled(2e6, std::min(1.0, scale * 50), 1000))),
                     // Badger separates values of more than 32 bytes.
                     "--min_blob_size=32", "--benchmarks=filluniquerandom,readrandom,readseq,readseqkeys,verify"}});
  }
  return runs;
}

}  // namespace cambium::bench
