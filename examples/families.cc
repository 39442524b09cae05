#include <cambium/db.h>

#include <cstdio>

int main(int argc, char** argv) {
  cambium::DBOptions options;
  options.create_if_missing = true;
  options.create_missing_column_families = true;
  cambium::ColumnFamilyOptions tree;  // index_type is kBTree
  cambium::ColumnFamilyOptions lsm;
  lsm.index_type = cambium::kLsm;
  lsm.compression = cambium::kZSTD;
  std::vector<cambium::ColumnFamilyHandle*> handles;
  std::unique_ptr<cambium::DB> db;
  cambium::Status s = cambium::DB::Open(options, argc > 1 ? argv[1] : "families.db",
                                        {{"default", tree}, {"events", lsm}}, &handles, &db);

  cambium::WriteBatch batch;  // spans both families: after a crash all of it is there, or nothing
  if (s.ok()) s = batch.Put(handles[0], "oak", "felled");
  if (s.ok()) s = batch.Put(handles[1], "2026-05-01 oak", "planted -> felled");
  if (s.ok()) s = db->Write({.sync = true}, &batch);
  std::string value;
  if (s.ok()) s = db->Get({}, handles[1], "2026-05-01 oak", &value);
  if (s.ok()) std::printf("oak: %s\n", value.c_str());
  for (cambium::ColumnFamilyHandle* handle : handles) delete handle;  // before the database is closed
  if (s.ok()) s = db->Close();
  if (!s.ok()) std::fprintf(stderr, "%s\n", s.ToString().c_str());
  return s.ok() ? 0 : 1;
}
