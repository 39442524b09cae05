// Writes a value that is kept in the log, closes, opens again and reads it: enough to need every library.
#include <cambium/convenience.h>
#include <cambium/db.h>

#include <cstdio>

int main(int, char** argv) {
  cambium::Options options;
  cambium::Status s = cambium::GetOptionsFromString({}, "create_if_missing=true; blob_compression_type=kZSTD", &options);
  const std::string value(10'000, 'v');
  std::unique_ptr<cambium::DB> db;
  if (s.ok()) s = cambium::DB::Open(options, argv[1], &db);
  if (s.ok()) s = db->Put({.sync = true}, "key", value);
  if (s.ok()) s = db->Close();
  if (s.ok()) s = cambium::DB::Open(options, argv[1], &db);
  std::string found;
  if (s.ok()) s = db->Get({}, "key", &found);
  if (s.ok()) s = db->Close();
  if (!s.ok()) std::fprintf(stderr, "%s\n", s.ToString().c_str());
  return s.ok() && found == value ? 0 : 1;
}
