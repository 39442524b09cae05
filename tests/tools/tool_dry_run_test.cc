// --dry-run of commands that copy: nothing is written, what is forecast is what happens, and what would be refused is
// refused alike.
#include "tool.h"

namespace cambium::testing {
namespace {

struct Sum {
  std::uint64_t files = 0;
  std::uint64_t bytes = 0;
};

class ToolDryRunTest : public ToolTest {
 protected:
  ToolDryRunTest() { std::filesystem::create_directory(All()); }
  // Of all that a command may write to.
  std::string All() const { return directory_.File("all"); }
  std::string Db() const { return All() + "/db"; }

  void Write(int first, int end) const {
    Options options = TheOptions();
    options.write_buffer_size = 64u << 10;
    options.blob_file_size = 64u << 10;
    std::unique_ptr<DB> db;
    ASSERT_TRUE(DB::Open(options, Db(), &db).ok());
    for (int i = first; i < end; ++i) {
      ASSERT_TRUE(db->Put({}, "key" + std::to_string(i), std::string(3'000, static_cast<char>('a' + i % 26))).ok());
    }
    ASSERT_TRUE(db->Flush({}).ok());
    ASSERT_TRUE(db->WaitForCompact().ok());
    ASSERT_TRUE(db->Close().ok());
  }
  // What a dry run says; and that it has left everything as it was.
  nlohmann::json Plan(const std::string& line, int exit_code = kClean) const {
    const auto before = Tree(All());
    const nlohmann::json json = RunForJson(line + " --dry-run", exit_code);
    const Ended text = RunTool(line + " --dry-run");
    EXPECT_EQ(text.exit_code, exit_code) << text.output;
    EXPECT_EQ(Tree(All()), before) << line;
    return json;
  }
  // It is refused, as the command itself is then, for the same reason.
  void ExpectRefused(const std::string& line, int exit_code) const {
    const nlohmann::json planned = Plan(line, exit_code);
    const nlohmann::json done = RunForJson(line, exit_code);
    EXPECT_EQ(planned.at("error"), done.at("error")) << line;
  }
};

TEST_F(ToolDryRunTest, ACheckpointIsForecast) {
  Write(0, 100);
  const std::string out = All() + "/out";
  const std::string line = "checkpoint " + Db() + " " + out;
  const nlohmann::json planned = Plan(line);
  ASSERT_EQ(RunTool(line).exit_code, kClean);
  Sum linked;
  Sum copied;
  for (const auto& entry : std::filesystem::directory_iterator(out)) {
    Sum& sum = entry.hard_link_count() > 1 ? linked : copied;
    ++sum.files;
    sum.bytes += entry.file_size();
  }
  EXPECT_GT(linked.files, 2u);
  EXPECT_GE(copied.files, 2u);
  EXPECT_EQ(planned.at("linked_files"), linked.files);
  EXPECT_EQ(planned.at("copied_files"), copied.files);
  EXPECT_EQ(planned.at("copied_bytes"), copied.bytes);
  EXPECT_EQ(planned.at("shared_files"), 0);
  EXPECT_EQ(planned.at("linked_bytes"), linked.bytes);
  ExpectRefused(line, kCannot);  // it exists now
  Plan("checkpoint " + Db() + " " + All() + "/no/where", kCannot);
}

TEST_F(ToolDryRunTest, BackupsAreForecast) {
  Write(0, 100);
  const std::string line = "backup create " + Db() + " " + All() + "/backups";
  for (int i = 0; i < 3; ++i) {
    const nlohmann::json planned = Plan(line);
    const nlohmann::json done = RunForJson(line);
    EXPECT_EQ(planned.at("copied_bytes"), done.at("bytes_stored")) << i;
    EXPECT_EQ(planned.at("copied_bytes").get<std::uint64_t>() + planned.at("shared_bytes").get<std::uint64_t>(),
              done.at("bytes"))
        << i;
    EXPECT_EQ(planned.at("copied_files").get<std::uint64_t>() + planned.at("shared_files").get<std::uint64_t>(),
              done.at("files"))
        << i;
    EXPECT_EQ(planned.at("shared_files") > 0, i > 0);
    if (i == 0) Write(100, 150);
  }
  std::filesystem::create_directory(All() + "/empty");
  Plan("backup create " + Db() + " " + All() + "/empty");
}

TEST_F(ToolDryRunTest, ARestoreIsForecast) {
  Write(0, 100);
  const std::string backups = All() + "/backups";
  ASSERT_EQ(RunTool("backup create " + Db() + " " + backups).exit_code, kClean);
  const std::string line = "restore " + backups + " " + All() + "/out";
  const nlohmann::json planned = Plan(line);
  const nlohmann::json done = RunForJson(line);
  EXPECT_EQ(planned.at("copied_bytes"), done.at("bytes"));
  std::uint64_t files = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(All() + "/out")) ++files;
  EXPECT_EQ(planned.at("copied_files"), files);
  ExpectRefused(line, kCannot);
  ExpectRefused("restore " + backups + " " + All() + "/other --id 9", kCannot);
  const auto stored = FilesIn(backups + "/files");
  std::filesystem::remove(backups + "/files/" + stored.begin()->first);
  Plan("restore " + backups + " " + All() + "/other", kDamage);
}

TEST_F(ToolDryRunTest, AConversionIsForecast) {
  Write(0, 300);
  const std::string out = All() + "/out";
  for (const std::string index : {"btree", "lsm"}) {
    const std::string line = "convert " + Db() + " " + out + " --index " + index;
    const nlohmann::json planned = Plan(line);
    const nlohmann::json done = RunForJson(line);
    for (const char* const name : {"families", "entries", "index_bytes_before", "index_bytes_after", "log_bytes"}) {
      EXPECT_EQ(planned.at(name), done.at(name)) << name;
    }
    Sum linked;
    Sum copied;
    for (const auto& entry : std::filesystem::directory_iterator(out)) {
      Sum& sum = entry.hard_link_count() > 1 ? linked : copied;
      ++sum.files;
      sum.bytes += entry.file_size();
    }
    EXPECT_EQ(planned.at("linked_files"), linked.files);
    EXPECT_EQ(planned.at("linked_bytes"), linked.bytes);
    EXPECT_EQ(planned.at("copied_files"), copied.files);
    EXPECT_EQ(planned.at("copied_bytes"), copied.bytes);
    EXPECT_GT(planned.at("free_bytes"), 0);
    ExpectRefused(line, kCannot);  // it exists now
    Plan("convert " + Db() + " " + All() + "/no/where --index " + index, kCannot);
    std::filesystem::remove_all(out);
  }
}

TEST_F(ToolDryRunTest, AnImportIsForecast) {
  Write(0, 50);
  const std::string file = directory_.File("entries");
  ASSERT_EQ(RunTool("export " + Db() + " " + file).exit_code, kClean);
  const std::string line = "import " + All() + "/new " + file;
  const nlohmann::json planned = Plan(line);
  const nlohmann::json done = RunForJson(line);
  EXPECT_EQ(planned.at("entries"), 50);
  EXPECT_EQ(planned.at("entries"), done.at("entries"));
  EXPECT_EQ(planned.at("bytes"), done.at("bytes"));
  ExpectRefused(line, kCannot);  // it exists now
  Plan("import " + All() + "/new " + file + " --add");
  ExpectRefused("import " + All() + "/other " + file + " --options index_type=kHash", kCannot);
  const std::string bytes = ReadFile(file);
  WriteFile(file, bytes.substr(0, bytes.size() / 2));
  ExpectRefused("import " + All() + "/other " + file, kDamage);
}

TEST_F(ToolDryRunTest, WhatIsOpenElsewhereIsRefused) {
  Write(0, 10);
  const std::string file = directory_.File("entries");
  ASSERT_EQ(RunTool("export " + Db() + " " + file).exit_code, kClean);
  std::unique_ptr<DB> db;
  ASSERT_TRUE(DB::Open(TheOptions(), Db(), &db).ok());
  for (const std::string& line :
       {"checkpoint " + Db() + " " + All() + "/out", "backup create " + Db() + " " + All() + "/backups",
        "import " + Db() + " " + file + " --add"}) {
    EXPECT_EQ(RunTool(line + " --dry-run").exit_code, kLocked) << line;
  }
  EXPECT_FALSE(std::filesystem::exists(All() + "/out"));
  EXPECT_FALSE(std::filesystem::exists(All() + "/backups"));
}

}  // namespace
}  // namespace cambium::testing
