// export and import: an export can be imported again, and entries of other stores can be imported.
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

TEST_F(ToolImportTest, ExportCanBeImported) {
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
  // Through pipes, and with a single family.
  const std::string piped = directory_.File("piped");
  EXPECT_EQ(RunTool("export " + Path() + " - --column-family default | " + CAMBIUM_TOOL + " import " + piped + " -").exit_code, kClean);
  EXPECT_EQ(Scan(piped), Scan(Path()));
  EXPECT_EQ(RunTool("scan " + piped + " --column-family 'o\"ther'").exit_code, kCannot);
}

// Regression: families in reverse order were in byte order after an import, and families without entries were missing.
TEST_F(ToolImportTest, AnImportKeepsFamiliesAndTheirOrders) {
  {
    Options options = TheOptions();
    options.comparator = ReverseBytewiseComparator();
    std::unique_ptr<DB> db;
    ASSERT_TRUE(DB::Open(options, Path(), &db).ok());
    ASSERT_TRUE(db->Put({}, "a", "1").ok());
    ASSERT_TRUE(db->Put({}, "b", "2").ok());
    std::vector<ColumnFamilyHandle*> handles(3);
    ASSERT_TRUE(db->CreateColumnFamily(TheOptions(), "bytewise", &handles[0]).ok());
    ASSERT_TRUE(db->CreateColumnFamily(options, "reverse", &handles[1]).ok());
    ASSERT_TRUE(db->CreateColumnFamily(options, "empty", &handles[2]).ok());
    for (int i = 0; i < 2; ++i) {
      ASSERT_TRUE(db->Put({}, handles[i], "a", "1").ok());
      ASSERT_TRUE(db->Put({}, handles[i], "b", "2").ok());
    }
    for (ColumnFamilyHandle* const handle : handles) ASSERT_TRUE(db->DestroyColumnFamilyHandle(handle).ok());
    ASSERT_TRUE(db->Close().ok());
  }
  const std::string reverse = "b\t2\na\t1\n";
  ASSERT_EQ(RunForJson("export " + Path() + " " + File()).at("entries"), 6);
  EXPECT_EQ(RunForJson("import " + Copy() + " " + File() + " --dry-run").at("entries"), 6);
  EXPECT_EQ(RunForJson("import " + Copy() + " " + File()).at("entries"), 6);
  EXPECT_EQ(Scan(Copy()), reverse);
  EXPECT_EQ(Scan(Copy(), "--column-family reverse"), reverse);
  EXPECT_EQ(Scan(Copy(), "--column-family bytewise"), "a\t1\nb\t2\n");
  EXPECT_EQ(RunTool("scan " + Copy() + " --column-family empty").exit_code, kClean);
  EXPECT_EQ(RunTool("verify --deep --comparator reverse-bytewise " + Copy()).exit_code, kClean);
  EXPECT_EQ(RunTool("export " + Copy() + " -").output, ReadFile(File()));
  // All families of a new database have the order that --options names.
  const std::string chosen = directory_.File("chosen");
  RunTool("import " + chosen + " " + File() + " --options comparator=cambium.ReverseBytewiseComparator");
  EXPECT_EQ(Scan(chosen, "--column-family bytewise"), reverse);
  // Entries are not added to a family of another order.
  const std::string other = directory_.File("other");
  RunTool("import " + other + " " + File());
  WriteFile(File(), "{\"cambium_export\":2}\n{\"comparator\":\"cambium.BytewiseComparator\"}\n"
                    "{\"key\":\"c\",\"value\":\"3\"}\n{\"end\":true,\"entries\":1}\n");
  for (const std::string flags : {" --add", " --add --dry-run"}) {
    const Ended ended = RunTool("import " + other + " " + File() + flags);
    EXPECT_EQ(ended.exit_code, kCannot);
    EXPECT_NE(ended.output.find("has the order cambium.ReverseBytewiseComparator in the database"), std::string::npos)
        << ended.output;
  }
  EXPECT_EQ(Scan(other), reverse);
  WriteFile(File(), "{\"cambium_export\":2}\n{\"comparator\":\"by length\"}\n{\"end\":true,\"entries\":0}\n");
  for (const std::string flags : {"", " --dry-run"}) {
    EXPECT_EQ(RunTool("import " + directory_.File("none") + " " + File() + flags).exit_code, kCannot);
  }
}

TEST_F(ToolImportTest, ExistingDatabaseNeedsAdd) {
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
  EXPECT_FALSE(std::filesystem::exists(Copy() + ".tmp"));
}

TEST_F(ToolImportTest, MalformedExportMakesNoDatabase) {
  const std::string head = "{\"cambium_export\":1}\n";
  const std::string entry = "{\"key\":\"a\",\"value\":\"1\"}\n";
  const std::string end = "{\"end\":true,\"entries\":1}\n";
  for (const std::string& bytes :
       {std::string(), std::string("seeds\n"), std::string("{}\n"), head, head + entry, head + end,
        head + entry + entry + end, head + entry + end + entry, head + "[1]\n" + end, head + "{\"key\":\"a\"}\n" + end,
        head + "{\"key\":\"\\\\x0\",\"value\":\"1\"}\n" + end, head + "{\"key\":1,\"value\":\"1\"}\n" + end,
        head + "{\"key\":\"a\",\"value\":\"1\",\"family\":7}\n" + end, head + "{\"comparator\":\"\"}\n" + entry + end,
        head + "{\"comparator\":7}\n" + entry + end, (head + entry + end).substr(0, 40)}) {
    WriteFile(File(), bytes);
    const Ended ended = RunTool("import " + Copy() + " " + File());
    EXPECT_EQ(ended.exit_code, kDamage) << bytes << "\n" << ended.output;
    EXPECT_NE(ended.output.find(File() + ":"), std::string::npos) << ended.output;
    EXPECT_FALSE(std::filesystem::exists(Copy()));
    EXPECT_FALSE(std::filesystem::exists(Copy() + ".tmp"));
  }
  for (const std::string version : {"0", "3"}) {
    WriteFile(File(), "{\"cambium_export\":" + version + "}\n");
    EXPECT_EQ(RunTool("import " + Copy() + " " + File()).exit_code, kCannot);
  }
  EXPECT_EQ(RunTool("import " + Copy() + " " + directory_.File("nothing")).exit_code, kCannot);
  EXPECT_EQ(RunTool("import " + Copy() + " " + File() + " --format csv").exit_code, kCannot);
}

TEST_F(ToolImportTest, DirectoryNeedsAFormat) {
  std::filesystem::create_directories(directory_.File("folder"));
  const Ended ended = RunTool("import " + Copy() + " " + directory_.File("folder"));
  EXPECT_EQ(ended.exit_code, kCannot);
  EXPECT_NE(ended.output.find("--format"), std::string::npos) << ended.output;
}

TEST_F(ToolImportTest, FilesOfAFolderBecomeEntries) {
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

// Regression: foreign files with the names that an import uses were destroyed. The names are now OUT.tmp and
// OUT.tmp.mark. If OUT.tmp.mark has no note of OUT.tmp, OUT.tmp is foreign.
TEST_F(ToolImportTest, ForeignFilesInTheWayAreKept) {
  namespace fs = std::filesystem;
  WriteFile(File(), "{\"cambium_export\":1}\n{\"key\":\"a\",\"value\":\"1\"}\n{\"end\":true,\"entries\":1}\n");
  ASSERT_TRUE(Open()->Close().ok());
  ASSERT_EQ(RunTool("put " + Path() + " theirs 1").exit_code, kClean);
  const std::string line = "import " + Copy() + "/ " + File();
  const auto expect_refused = [&](const std::string& in_the_way) {
    const auto before = FilesIn(in_the_way);
    EXPECT_EQ(RunForJson(line + " --dry-run", kCannot), RunForJson(line, kCannot));
    EXPECT_NE(RunTool(line).output.find(in_the_way), std::string::npos);
    EXPECT_EQ(FilesIn(in_the_way), before);
    EXPECT_FALSE(fs::exists(Copy()));
    fs::remove_all(in_the_way);
  };
  fs::copy(Path(), Copy() + ".tmp");
  expect_refused(Copy() + ".tmp");
  fs::create_directory(Copy() + ".tmp");
  WriteFile(Copy() + ".tmp/shopping list", "seeds");
  expect_refused(Copy() + ".tmp");
  // These names are not used any more.
  fs::copy(Path(), Copy() + ".importing");
  const auto before = FilesIn(Copy() + ".importing");
  EXPECT_EQ(RunTool(line).exit_code, kClean);
  EXPECT_EQ(FilesIn(Copy() + ".importing"), before);
  EXPECT_EQ(Scan(Copy()), "a\t1\n");
  for (const auto& entry : fs::directory_iterator(directory_.path())) {
    EXPECT_EQ(entry.path().string().find(".tmp"), std::string::npos) << entry.path();
  }
}

// Regression: a kill after the last step of an import left the mark. The repeated import reported that DIR exists
// before it looked for a mark, so the mark stayed.
TEST_F(ToolImportTest, MarkOfAKilledImportIsRemoved) {
  namespace fs = std::filesystem;
  WriteFile(File(), "{\"cambium_export\":1}\n{\"key\":\"a\",\"value\":\"1\"}\n{\"end\":true,\"entries\":1}\n");
  const std::string line = "import " + Copy() + " " + File();
  ASSERT_EQ(RunTool(line).exit_code, kClean);
  fs::create_directory(Copy() + ".tmp.mark");
  WriteFile(Copy() + ".tmp.mark/LOCK", "");
  WriteFile(Copy() + ".tmp.mark/17", "");
  EXPECT_EQ(RunTool(line + " --dry-run").exit_code, kCannot);
  EXPECT_TRUE(fs::exists(Copy() + ".tmp.mark"));
  const Ended ended = RunTool(line);
  EXPECT_EQ(ended.exit_code, kCannot);
  EXPECT_NE(ended.output.find("--add"), std::string::npos) << ended.output;
  EXPECT_FALSE(fs::exists(Copy() + ".tmp.mark"));
  EXPECT_EQ(Scan(Copy()), "a\t1\n");
}

// If the OPTIONS file had error_if_exists set, a program that loads this file could not open the database.
TEST_F(ToolImportTest, ImportedDatabaseOpensWithItsOwnOptions) {
  WriteFile(File(), "{\"cambium_export\":1}\n{\"end\":true,\"entries\":0}\n");
  ASSERT_EQ(RunTool("import " + Copy() + " " + File()).exit_code, kClean);
  EXPECT_EQ(RunForJson("options " + Copy()).at("DBOptions").at("error_if_exists").at("value"), "false");
}

// Regression: the count was used without a check, and the resulting exception became an error without file and line.
TEST_F(ToolImportTest, LastLineWithoutACountIsDamage) {
  for (const std::string number : {"\"1\"", "1.5", "-1", "null", "[1]"}) {
    WriteFile(File(), "{\"cambium_export\":1}\n{\"key\":\"a\",\"value\":\"1\"}\n{\"end\":true,\"entries\":" + number + "}\n");
    const std::string error = RunForJson("import " + Copy() + " " + File(), kDamage).at("error");
    EXPECT_NE(error.find(File() + ":3: "), std::string::npos) << error;
    for (const std::string rest : {"", ".tmp", ".tmp.mark"}) EXPECT_FALSE(std::filesystem::exists(Copy() + rest));
  }
}

// Regression: the walk ended at the first directory that it could not enter, and the files found until then became a
// database.
TEST_F(ToolImportTest, UnreadableFolderMakesNoDatabase) {
  namespace fs = std::filesystem;
  fs::permissions(directory_.path(), fs::perms::all);  // for the user that the tool runs as
  fs::create_directories(directory_.File("folder/sub"));
  for (const std::string name : {"a", "b", "sub/c"}) WriteFile(directory_.File("folder/" + name), "of " + name);
  const std::string line = "import " + Copy() + " " + directory_.File("folder") + " --format folder";
  std::string nobody;
  if (::geteuid() == 0) {  // root may read everything
    nobody = "setpriv --reuid=65534 --regid=65534 --clear-groups ";
    if (RunCommand(nobody + Tool() + " --version").exit_code != kClean) {
      GTEST_SKIP() << "SKIPPED: the tool cannot be run as another user here";
    }
  }
  const auto expect_refused = [&](const std::string& what) {
    const Ended ended = RunCommand(nobody + Tool() + " " + line);
    EXPECT_EQ(ended.exit_code, kCannot) << ended.output;
    EXPECT_NE(ended.output.find(what), std::string::npos) << ended.output;
    EXPECT_EQ(RunCommand(nobody + Tool() + " " + line + " --dry-run").exit_code, kCannot);
    for (const std::string rest : {"", ".tmp", ".tmp.mark"}) EXPECT_FALSE(fs::exists(Copy() + rest)) << rest;
  };
  fs::permissions(directory_.File("folder/sub"), fs::perms::none);
  expect_refused("folder/sub");
  fs::permissions(directory_.File("folder/sub"), fs::perms::owner_all | fs::perms::others_read | fs::perms::others_exec);
  fs::permissions(directory_.File("folder/b"), fs::perms::none);
  expect_refused("folder/b");
  fs::permissions(directory_.File("folder/b"), fs::perms::owner_read | fs::perms::others_read);
  const Ended ended = RunCommand(nobody + Tool() + " " + line);
  EXPECT_EQ(ended.exit_code, kClean) << ended.output;
  EXPECT_NE(ended.output.find("3 entries"), std::string::npos) << ended.output;
}

TEST_F(ToolImportTest, RocksDbDatabaseIsImported) {
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
  GTEST_SKIP() << "SKIPPED: RocksDB is not installed, or this is a sanitizer build";
#endif
}

#if CAMBIUM_HAVE_LMDB
// A new environment, with a transaction to write with.
struct LmdbEnv {
  LmdbEnv(const std::string& path, unsigned databases) {
    std::filesystem::create_directory(path);
    EXPECT_EQ(mdb_env_create(&env), 0);
    EXPECT_EQ(mdb_env_set_maxdbs(env, databases), 0);
    EXPECT_EQ(mdb_env_set_mapsize(env, std::size_t{256} << 20), 0);
    EXPECT_EQ(mdb_env_open(env, path.c_str(), MDB_NOSYNC, 0644), 0);
    EXPECT_EQ(mdb_txn_begin(env, nullptr, 0, &txn), 0);
  }
  void Finish() const {
    ASSERT_EQ(mdb_txn_commit(txn), 0);
    mdb_env_close(env);
  }
  MDB_env* env = nullptr;
  MDB_txn* txn = nullptr;
};
#endif

// Regression: if a named database could not be opened, its record in the main database was imported as an entry.
TEST_F(ToolImportTest, TooManyLmdbDatabasesAreAnError) {
#if CAMBIUM_HAVE_LMDB
  const std::string path = directory_.File("lmdb");
  const LmdbEnv lmdb(path, 10'010);
  for (int i = 0; i < 10'001; ++i) {
    MDB_dbi dbi = 0;
    ASSERT_EQ(mdb_dbi_open(lmdb.txn, ("named" + std::to_string(i)).c_str(), MDB_CREATE, &dbi), 0);
  }
  ASSERT_NO_FATAL_FAILURE(lmdb.Finish());
  const Ended ended = RunTool("import " + Copy() + " " + path + " --format lmdb");
  EXPECT_EQ(ended.exit_code, kCannot) << ended.output;
  EXPECT_NE(ended.output.find("MDB_DBS_FULL"), std::string::npos) << ended.output;
  EXPECT_FALSE(std::filesystem::exists(Copy()));
#else
  GTEST_SKIP() << "SKIPPED: LMDB is not installed, or this is a sanitizer build";
#endif
}

// The entries of a database with the name "default" would be mixed with those of the main database.
TEST_F(ToolImportTest, LmdbDatabaseCalledDefaultIsRejected) {
#if CAMBIUM_HAVE_LMDB
  const std::string path = directory_.File("lmdb");
  const LmdbEnv lmdb(path, 4);
  MDB_dbi dbi = 0;
  ASSERT_EQ(mdb_dbi_open(lmdb.txn, "default", MDB_CREATE, &dbi), 0);
  ASSERT_NO_FATAL_FAILURE(lmdb.Finish());
  const Ended ended = RunTool("import " + Copy() + " " + path + " --format lmdb");
  EXPECT_EQ(ended.exit_code, kCannot) << ended.output;
  EXPECT_NE(ended.output.find("default"), std::string::npos) << ended.output;
  EXPECT_FALSE(std::filesystem::exists(Copy()));
#else
  GTEST_SKIP() << "SKIPPED: LMDB is not installed, or this is a sanitizer build";
#endif
}

TEST_F(ToolImportTest, LmdbDatabaseIsImported) {
#if CAMBIUM_HAVE_LMDB
  const std::string path = directory_.File("lmdb");
  const LmdbEnv lmdb(path, 4);
  MDB_txn* const txn = lmdb.txn;
  MDB_dbi main = 0;
  MDB_dbi named = 0;
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
  ASSERT_NO_FATAL_FAILURE(lmdb.Finish());
  const Ended ended = RunTool("import " + Copy() + " " + path + " --format lmdb");
  EXPECT_EQ(ended.exit_code, kClean) << ended.output;
  EXPECT_EQ(Scan(Copy()), "a\t" + std::string(5000, 'l') + "\nz\tlast\n");
  EXPECT_EQ(Scan(Copy(), "--column-family named"), "k\tv\n");
  EXPECT_EQ(RunTool("import " + directory_.File("other") + " " + directory_.File("no") + " --format lmdb").exit_code, kCannot);
#else
  GTEST_SKIP() << "SKIPPED: LMDB is not installed, or this is a sanitizer build";
#endif
}

}  // namespace
}  // namespace cambium::testing
