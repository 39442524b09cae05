/* A library that claims to be RocksDB CAMBIUM_STUB_MAJOR.2.1, and has one function of the C interface. */
int Java_org_rocksdb_RocksDB_version(void* environment, void* of_class);
void rocksdb_free(void* text);

int Java_org_rocksdb_RocksDB_version(void* environment, void* of_class) {
  (void)environment;
  (void)of_class;
  return CAMBIUM_STUB_MAJOR << 16 | 2 << 8 | 1;
}

void rocksdb_free(void* text) { (void)text; }
