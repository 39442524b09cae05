// A database whose log is two thirds garbage.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "testing/test_store.h"

namespace cambium::testing {

inline constexpr int kGarbageKeys = 120;

inline std::string GarbageValue(int i, int version) {
  return NumberedKey(i) + "." + std::to_string(version) + std::string(1000, 'v');
}

// Most of the log is overwritten, and the layers have the new entries. GC is off.
inline void FillWithGarbage(TestStore* store) {
  store->options.enable_blob_garbage_collection = false;
  store->options.blob_garbage_collection_age_cutoff = 1;
  store->MustOpen();
  for (int i = 0; i < kGarbageKeys; ++i) store->Put(NumberedKey(i), GarbageValue(i, 0));
  store->Flush();
  for (int i = 0; i < kGarbageKeys; ++i) {
    if (i % 3 != 0) store->Put(NumberedKey(i), GarbageValue(i, 1));
  }
  store->Compact();
  store->RunUntilIdle();
}

inline int VersionOf(int i) { return i % 3 == 0 ? 0 : 1; }

// Turns GC on, and collects garbage until nothing is left to do.
inline void Collect(TestStore* store) {
  const Status s = store->db->SetOptions({{"enable_blob_garbage_collection", "true"}});
  ASSERT_TRUE(s.ok()) << s.ToString();
  store->RunUntilIdle();
}

inline void ExpectAll(TestStore* store) {
  for (int i = 0; i < kGarbageKeys; ++i) ASSERT_EQ(store->Get(NumberedKey(i)), GarbageValue(i, VersionOf(i))) << i;
}

}  // namespace cambium::testing
