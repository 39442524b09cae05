#include <cambium/db.h>

#include <cstdio>

int main(int argc, char** argv) {
  cambium::Options options;
  options.create_if_missing = true;
  std::unique_ptr<cambium::DB> db;
  cambium::Status s = cambium::DB::Open(options, argc > 1 ? argv[1] : "quickstart.db", &db);
  if (s.ok()) s = db->Put({.sync = true}, "oak", "a ring a year");  // durable when it returns
  std::string value;
  if (s.ok()) s = db->Get({}, "oak", &value);
  if (s.ok()) std::printf("oak: %s\n", value.c_str());
  if (s.ok()) s = db->Close();
  if (!s.ok()) std::fprintf(stderr, "%s\n", s.ToString().c_str());
  return s.ok() ? 0 : 1;
}
