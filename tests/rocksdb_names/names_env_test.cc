// Tests Env in a program of its own, because its settings of threads hold for the whole process.
#include <memory>
#include <string>
#include <vector>

#include "rocksdb/db.h"
#include "rocksdb/env.h"
#include "rocksdb_names/open_names.h"

using ROCKSDB_NAMESPACE::Env;

namespace rocksdb_names_test::names_env_test {

class NamesEnvTest : public NamesTest {};

TEST_F(NamesEnvTest, ThreadCountsAreHints) {
  options_.env->SetBackgroundThreads(7, Env::HIGH);
  EXPECT_EQ(Env::Default()->GetBackgroundThreads(Env::HIGH), 7);
  options_.env->IncBackgroundThreadsIfNeeded(3, Env::HIGH);
  EXPECT_EQ(Env::Default()->GetBackgroundThreads(Env::HIGH), 7);
  Open();
  EXPECT_NE(Log().find("no effect here: Env::IncBackgroundThreadsIfNeeded; Env::SetBackgroundThreads\n"),
            std::string::npos);
}

TEST_F(NamesEnvTest, EnvAccessesFilesOfTheSystem) {
  const Env* const env = Env::Default();
  const std::string folder = directory_.File("folder");
  EXPECT_TRUE(env->FileExists(folder).IsNotFound());
  ASSERT_TRUE(env->CreateDir(folder).ok());
  EXPECT_FALSE(env->CreateDir(folder).ok());
  EXPECT_TRUE(env->CreateDirIfMissing(folder).ok());
  std::ofstream(folder + "/a") << "abc";
  EXPECT_FALSE(env->CreateDirIfMissing(folder + "/a").ok());
  uint64_t size = 0;
  ASSERT_TRUE(env->GetFileSize(folder + "/a", &size).ok());
  EXPECT_EQ(size, 3u);
  ASSERT_TRUE(env->RenameFile(folder + "/a", folder + "/b").ok());
  std::vector<std::string> names;
  ASSERT_TRUE(env->GetChildren(folder, &names).ok());
  EXPECT_EQ(names, std::vector<std::string>{"b"});
  EXPECT_TRUE(env->GetChildren(directory_.File("missing"), &names).IsNotFound());
  ASSERT_TRUE(env->DeleteFile(folder + "/b").ok());
  ASSERT_TRUE(env->DeleteDir(folder).ok());
  EXPECT_TRUE(env->FileExists(folder).IsNotFound());
}

TEST_F(NamesEnvTest, TimeIsSince1970) {
  const Env* const env = Env::Default();
  int64_t seconds = 0;
  ASSERT_TRUE(env->GetCurrentTime(&seconds).ok());
  const uint64_t before = env->NowMicros();
  EXPECT_NEAR(static_cast<double>(before) / 1e6, static_cast<double>(seconds), 5);
  env->SleepForMicroseconds(1000);
  EXPECT_GE(env->NowMicros(), before + 1000);
}

}  // namespace rocksdb_names_test::names_env_test
