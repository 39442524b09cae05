// An InspectedStore is a store that a test closes and inspects.
#pragma once

#include <memory>

#include "testing/test_store.h"
#include "inspect/database.h"

namespace cambium::testing {

class InspectedStore : public TestStore {
 public:
  // Opens the closed database for inspection, with all its files.
  std::unique_ptr<InspectedDatabase> Inspect() {
    Result<std::unique_ptr<InspectedDatabase>> opened = InspectedDatabase::Open(fs, kStorePath);
    EXPECT_TRUE(opened.ok()) << opened.status().ToString();
    if (!opened.ok()) return nullptr;
    const Status files = (*opened)->OpenFiles();
    EXPECT_TRUE(files.ok()) << files.ToString();
    return std::move(*opened);
  }
  // Flips a bit in each page unit of each index file, after the file header.
  void DamageAllPages() {
    for (const std::string& suffix : {std::string(".run"), std::string(".idx")}) {
      for (const std::string& path : FilesOf(suffix)) {
        const std::uint64_t size = Files().at(path).size();
        for (std::uint64_t at = options.page_size; at < size; at += options.page_size) {
          ASSERT_TRUE(fs->tampering().FlipBit(path, at, 0).ok());
        }
      }
    }
  }
};

}  // namespace cambium::testing
