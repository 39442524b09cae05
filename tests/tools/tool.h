// Runs the tool as users do: as a program with an output and an exit code.
#pragma once

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "cambium/db.h"
#include "testing/index_mode.h"
#include "testing/temp_directory.h"

namespace cambium::testing {

inline constexpr int kClean = 0;
inline constexpr int kDamage = 1;
inline constexpr int kCannot = 2;
inline constexpr int kLocked = 3;

struct Ended {
  int exit_code = -1;
  std::string output;
};

inline std::string Tool() { return CAMBIUM_TOOL; }

// Runs a command line in a shell. `errors` redirects stderr.
inline Ended RunCommand(const std::string& line, const std::string& errors = "2>&1") {
  const std::string command = line + " " + errors;
  std::FILE* const pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) return {};
  Ended ended;
  char buffer[4096];
  for (std::size_t n = 0; (n = std::fread(buffer, 1, sizeof(buffer), pipe)) > 0;) ended.output.append(buffer, n);
  const int status = ::pclose(pipe);
  if (WIFEXITED(status)) ended.exit_code = WEXITSTATUS(status);
  return ended;
}

inline Ended RunTool(const std::string& arguments, const std::string& errors = "2>&1") {
  return RunCommand(Tool() + " " + arguments, errors);
}

inline constexpr int kWasKilled = -1;

// Runs the tool, and kills it after `micros`. Returns its exit code, or kWasKilled if it was killed before it ended.
// When this returns, the program has ended and released its locks: one killed in a sync lives until the sync ends.
inline int RunAndKill(const std::string& arguments, std::uint64_t micros) {
  const std::string command = "exec " + Tool() + " " + arguments + " >/dev/null 2>&1";
  const pid_t child = ::fork();
  if (child == 0) {
    ::execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
    ::_exit(127);
  }
  if (child < 0) {  // kill(-1) would end all processes
    ADD_FAILURE() << "fork: " << std::strerror(errno);
    return kWasKilled;
  }
  ::usleep(static_cast<useconds_t>(micros));
  ::kill(child, SIGKILL);
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : kWasKilled;
}

// Parses what the command prints with --json.
inline nlohmann::json RunForJson(const std::string& arguments, int exit_code = kClean) {
  const Ended ended = RunTool(arguments + " --json", "2>/dev/null");
  EXPECT_EQ(ended.exit_code, exit_code) << arguments << "\n" << ended.output;
  nlohmann::json json = nlohmann::json::parse(ended.output, nullptr, false);
  EXPECT_FALSE(json.is_discarded()) << arguments << "\n" << ended.output;
  return json;
}

inline std::string ReadFile(const std::string& file) {
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream bytes;
  bytes << stream.rdbuf();
  return std::move(bytes).str();
}
inline void WriteFile(const std::string& file, const std::string& bytes) {
  std::ofstream stream(file, std::ios::binary | std::ios::trunc);
  stream << bytes;
}
// The contents of all files in the directory.
inline std::map<std::string, std::string> FilesIn(const std::string& directory) {
  std::map<std::string, std::string> contents;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    contents[entry.path().filename()] = ReadFile(entry.path());
  }
  return contents;
}

// Everything below the directory, with the contents of files.
inline std::map<std::string, std::string> Tree(const std::string& directory) {
  std::map<std::string, std::string> all;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(directory)) {
    all[entry.path()] = entry.is_directory() ? "a directory" : ReadFile(entry.path());
  }
  return all;
}

class ToolTest : public ::testing::Test {
 protected:
  std::string Path() const { return directory_.File("db"); }
  Options TheOptions() const {
    Options options;
    options.create_if_missing = true;
    UseIndexOfTest(&options);
    return options;
  }
  std::unique_ptr<DB> Open() const {
    std::unique_ptr<DB> db;
    const Status s = DB::Open(TheOptions(), Path(), &db);
    EXPECT_TRUE(s.ok()) << s.ToString();
    return db;
  }
  // Returns the files whose names contain `part`, and expects at least one.
  std::vector<std::string> FilesLike(const std::string& part) const {
    std::vector<std::string> found;
    for (const auto& entry : std::filesystem::directory_iterator(Path())) {
      if (entry.path().filename().string().find(part) != std::string::npos) found.push_back(entry.path());
    }
    if (found.empty()) throw std::runtime_error("no file like " + part);
    return found;
  }
  // Returns the only such file.
  std::string FileLike(const std::string& part) const {
    const std::vector<std::string> found = FilesLike(part);
    EXPECT_EQ(found.size(), 1u) << ::testing::PrintToString(found);
    return found.front();
  }
  static void FlipByte(const std::string& file, std::size_t offset) {
    std::string bytes = ReadFile(file);
    ASSERT_LT(offset, bytes.size()) << file;
    bytes[offset] = static_cast<char>(bytes[offset] ^ 0x10);
    WriteFile(file, bytes);
  }

  TempDirectory directory_;
};

}  // namespace cambium::testing
