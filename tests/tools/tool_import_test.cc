// export and import: what is exported comes back, and other stores' entries come in.
#include "tool.h"

#if CAMBIUM_HAVE_ROCKSDB
#include <rocksdb/c.h>
#endif
#if CAMBIUM_HAVE_LMDB
#include <lmdb.h>
#endif

namespace cambium::testing {
namespace {

class ToolImportTest : public ToolTest {
 protected:
  std::string Scan(const std::string& directory, const std::string& flags = "") const {
    return RunTool("scan " + directory + " " + flags).output;
  }
  std::string File() const { return directory_.File("entries"); }
  std::string Copy() const { return directory_.File("copy"); }
};

TEST_F(ToolImportTest, WhatIsExportedComesBack) {
  std::string all_bytes;
  for (int i = 0; i < 256; ++i) all_bytes += static_cast<char>(i);
  {
    const std::unique_ptr<DB> db = Open();
    ColumnFamilyHandle* handle = nullptr;
    ASSERT_TRUE(db->CreateColumnFamily(TheOptions(), "o\"ther", &handle).ok());
    ASSERT_TRUE(db->Put({}, all_bytes, std::string(2000, 'v') + all_bytes).ok());
    ASSERT_TRUE(db->Put({}, "", "").ok());
    for (int i = 0; i < 500; ++i) ASSERT_TRUE(db->Put({}, handle, std::to_string(i), all_bytes).ok());
    ASSERT_TRUE(db->DestroyColumnFamilyHandle(handle).ok());
    ASSERT_TRUE(db->Close().ok());
  }
  EXPECT_EQ(RunForJson("export " + Path() + " " + File()).at("entries"), 502);
  EXPECT_FALSE(std::filesystem::exists(File() + ".tmp"));
  for (const char c : ReadFile(File())) ASSERT_TRUE(c == '\n' || (c >= 0x20 && c < 0x7f));
  EXPECT_EQ(RunForJson("import " + Copy() + " " + File() + " --options min_blob_size=99").at("entries"), 502);
  EXPECT_EQ(Scan(Copy()), Scan(Path()));
  EXPECT_EQ(Scan(Copy(), "--column-family 'o\"ther'"), Scan(Path(), "--column-family 'o\"ther'"));
  EXPECT_NE(RunTool("options " + Copy()).output.find("min_blob_size=99"), std::string::npos);
  EXPECT_EQ(RunTool("verify --deep " + Copy()).exit_code, kClean);
  // Through pipes, and one family alone.
  const std::string piped = directory_.File("piped");
  EXPECT_EQ(RunTool("export " + Path() + " - --column-family default | " + CAMBIUM_TOOL + " import " + piped + " -").exit_code, kClean);
  EXPECT_EQ(Scan(piped), Scan(Path()));
  EXPECT_EQ(RunTool("scan " + piped + " --column-family 'o\"ther'").exit_code, kCannot);
}

TEST_F(ToolImportTest, IntoWhatExistsOnlyIfToldTo) {
  ASSERT_TRUE(Open()->Close().ok());
  RunTool("put " + Path() + " a old");
  RunTool("put " + Path() + " b old");
  WriteFile(File(), "{\"cambium_export\":1}\n{\"key\":\"a\",\"value\":\"new\"}\n{\"end\":true,\"entries\":1}\n");
  EXPECT_EQ(RunTool("import " + Path() + " " + File()).exit_code, kCannot);
  EXPECT_EQ(Scan(Path()), "a\told\nb\told\n");
  EXPECT_EQ(RunTool("import " + Path() + " " + File() + " --add").exit_code, kClean);
  EXPECT_EQ(Scan(Path()), "a\tnew\nb\told\n");
  EXPECT_EQ(RunTool("import " + Copy() + " " + File() + " --add").exit_code, kCannot) << "nothing to add to";
  EXPECT_EQ(RunTool("import " + Copy() + " " + File() + " --options no_such_option=1").exit_code, kCannot);
  EXPECT_FALSE(std::filesystem::exists(Copy()));
  EXPECT_FALSE(std::filesystem::exists(Copy() + ".importing"));
}

TEST_F(ToolImportTest, WhatIsNoExportMakesNoDatabase) {
  const std::string head = "{\"cambium_export\":1}\n";
  const std::string entry = "{\"key\":\"a\",\"value\":\"1\"}\n";
  const std::string end = "{\"end\":true,\"entries\":1}\n";
  for (const std::string& bytes :
       {std::string(), std::string("seeds\n"), std::string("{}\n"), head, head + entry, head + end,
        head + entry + entry + end, head + entry + end + entry, head + "[1]\n" + end, head + "{\"key\":\"a\"}\n" + end,
        head + "{\"key\":\"\\\\x0\",\"value\":\"1\"}\n" + end, head + "{\"key\":1,\"value\":\"1\"}\n" + end,
        head + "{\"key\":\"a\",\"value\":\"1\",\"family\":7}\n" + end, (head + entry + end).substr(0, 40)}) {
    WriteFile(File(), bytes);
    const Ended ended = RunTool("import " + Copy() + " " + File());
    EXPECT_EQ(ended.exit_code, kDamage) << bytes << "\n" << ended.output;
    EXPECT_NE(ended.output.find(File() + ":"), std::string::npos) << ended.output;
    EXPECT_FALSE(std::filesystem::exists(Copy()));
    EXPECT_FALSE(std::filesystem::exists(Copy() + ".importing"));
  }
  WriteFile(File(), "{\"cambium_export\":2}\n");
  EXPECT_EQ(RunTool("import " + Copy() + " " + File()).exit_code, kCannot);
  EXPECT_EQ(RunTool("import " + Copy() + " " + directory_.File("nothing")).exit_code, kCannot);
  EXPECT_EQ(RunTool("import " + Copy() + " " + File() + " --format csv").exit_code, kCannot);
}

TEST_F(ToolImportTest, AFolderOfFiles) {
  std::filesystem::create_directories(directory_.File("folder/sub/deep"));
  WriteFile(directory_.File("folder/b"), "of b");
  WriteFile(directory_.File("folder/sub/a"), std::string(100'000, 'a'));
  WriteFile(directory_.File("folder/sub/deep/empty"), "");
  std::filesystem::create_symlink("/etc/passwd", directory_.File("folder/link"));
  EXPECT_EQ(RunForJson("import " + Copy() + " " + directory_.File("folder") + " --format folder").at("entries"), 3);
  EXPECT_EQ(Scan(Copy(), "--keys-only"), "b\nsub/a\nsub/deep/empty\n");
  EXPECT_EQ(RunTool("get " + Copy() + " sub/a").output, std::string(100'000, 'a') + "\n");
  EXPECT_EQ(RunTool("import " + directory_.File("other") + " " + directory_.File("no") + " --format folder").exit_code, kCannot);
}

TEST_F(ToolImportTest, ARocksDbDatabase) {
#if CAMBIUM_HAVE_ROCKSDB
  const std::string rocks = directory_.File("rocks");
  char* error = nullptr;
  rocksdb_options_t* const options = rocksdb_options_create();
  rocksdb_options_set_create_if_missing(options, 1);
  rocksdb_t* const db = rocksdb_open(options, rocks.c_str(), &error);
  ASSERT_EQ(error, nullptr) << error;
  rocksdb_column_family_handle_t* const family = rocksdb_create_column_family(db, options, "other", &error);
  rocksdb_writeoptions_t* const write = rocksdb_writeoptions_create();
  const std::string large(10'000, 'r');
  rocksdb_put(db, write, "a\0b", 3, large.data(), large.size(), &error);
  rocksdb_put_cf(db, write, family, "k", 1, "v", 1, &error);
  ASSERT_EQ(error, nullptr) << error;
  rocksdb_column_family_handle_destroy(family);
  rocksdb_writeoptions_destroy(write);
  rocksdb_close(db);
  rocksdb_options_destroy(options);
  const Ended ended = RunTool("import " + Copy() + " " + rocks + " --format rocksdb");
  EXPECT_EQ(ended.exit_code, kClean) << ended.output;
  EXPECT_EQ(Scan(Copy()), "a\\x00b\t" + large + "\n");
  EXPECT_EQ(Scan(Copy(), "--column-family other"), "k\tv\n");
  EXPECT_EQ(RunTool("import " + directory_.File("other") + " " + directory_.File("no") + " --format rocksdb").exit_code, kCannot);
#else
  GTEST_SKIP() << "SKIPPED: RocksDB is not installed, or this is a sanitizer";
#endif
}

TEST_F(ToolImportTest, AnLmdbDatabase) {
#if CAMBIUM_HAVE_LMDB
  const std::string path = directory_.File("lmdb");
  std::filesystem::create_directory(path);
  MDB_env* env = nullptr;
  MDB_txn* txn = nullptr;
  MDB_dbi main = 0;
  MDB_dbi named = 0;
  ASSERT_EQ(mdb_env_create(&env), 0);
  ASSERT_EQ(mdb_env_set_maxdbs(env, 4), 0);
  ASSERT_EQ(mdb_env_open(env, path.c_str(), 0, 0644), 0);
  ASSERT_EQ(mdb_txn_begin(env, nullptr, 0, &txn), 0);
  ASSERT_EQ(mdb_dbi_open(txn, nullptr, 0, &main), 0);
  ASSERT_EQ(mdb_dbi_open(txn, "named", MDB_CREATE, &named), 0);
  const auto put = [txn](MDB_dbi dbi, std::string key, std::string value) {
    MDB_val k{key.size(), key.data()};
    MDB_val v{value.size(), value.data()};
    ASSERT_EQ(mdb_put(txn, dbi, &k, &v, 0), 0);
  };
  put(main, "a", std::string(5000, 'l'));
  put(main, "z", "last");
  put(named, "k", "v");
  ASSERT_EQ(mdb_txn_commit(txn), 0);
  mdb_env_close(env);
  const Ended ended = RunTool("import " + Copy() + " " + path + " --format lmdb");
  EXPECT_EQ(ended.exit_code, kClean) << ended.output;
  EXPECT_EQ(Scan(Copy()), "a\t" + std::string(5000, 'l') + "\nz\tlast\n");
  EXPECT_EQ(Scan(Copy(), "--column-family named"), "k\tv\n");
  EXPECT_EQ(RunTool("import " + directory_.File("other") + " " + directory_.File("no") + " --format lmdb").exit_code, kCannot);
#else
  GTEST_SKIP() << "SKIPPED: LMDB is not installed, or this is a sanitizer";
#endif
}

}  // namespace
}  // namespace cambium::testing
