// Helpers for the tests of the simulated file system.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "io/sim/sim_file_system.h"
#include "util/prng.h"

namespace cambium {

inline std::unique_ptr<File> MustOpen(FileSystem* fs, const std::string& path, OpenMode mode, bool direct = false) {
  std::unique_ptr<File> file;
  FileOptions options;
  options.direct = direct;
  const Status status = fs->Open(path, mode, options, &file);
  EXPECT_TRUE(status.ok()) << status.ToString();
  return file;
}

// Creates a file in "/" with a durable name and durable bytes.
inline std::unique_ptr<File> MustCreateDurable(SimFileSystem* fs, const std::string& path, Slice bytes) {
  std::unique_ptr<File> file = MustOpen(fs, path, OpenMode::kCreateNew);
  EXPECT_TRUE(file->Write(0, bytes).ok());
  EXPECT_TRUE(file->SyncData().ok());
  EXPECT_TRUE(fs->SyncDirectory("/").ok());
  return file;
}

// Returns the bytes of a file in an image, or "<error>".
inline std::string ContentsIn(const SimImage& image, const std::string& path) {
  const SimFileSystem fs(image);
  std::string bytes;
  const Status status = fs.probe().ReadContents(path, &bytes);
  return status.ok() ? bytes : "<" + status.ToString() + ">";
}

inline bool ExistsIn(const SimImage& image, const std::string& path) {
  return SimFileSystem(image).probe().InodeOf(path) != 0;
}

}  // namespace cambium
