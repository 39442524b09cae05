// Does as program.cc does, with RocksDB's names.
#include <rocksdb/convenience.h>
#include <rocksdb/db.h>

#include <cstdio>
#include <memory>
#include <string>

int main(int, char** argv) {
  rocksdb::Options options;
  rocksdb::Status s = rocksdb::GetOptionsFromString(
      rocksdb::Options(), "create_if_missing=true; blob_compression_type=kZSTD; bytes_per_sync=1M", &options);
  const std::string value(10'000, 'v');
  rocksdb::WriteOptions durable;
  durable.sync = true;
  std::unique_ptr<rocksdb::DB> db;
  if (s.ok()) s = rocksdb::DB::Open(options, argv[1], &db);
  if (s.ok()) s = db->Put(durable, "key", value);
  if (s.ok()) s = db->Close();
  if (s.ok()) s = rocksdb::DB::Open(options, argv[1], &db);
  std::string found;
  if (s.ok()) s = db->Get(rocksdb::ReadOptions(), "key", &found);
  if (s.ok()) s = db->Close();
  if (!s.ok()) std::fprintf(stderr, "%s\n", s.ToString().c_str());
  return s.ok() && found == value ? 0 : 1;
}
