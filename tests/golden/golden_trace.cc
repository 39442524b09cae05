#include "golden/golden_trace.h"

#include "testing/test_store.h"

namespace cambium::testing {

std::string WriteGoldenTrace() {
  TestStore store;
  store.MustOpen();
  EXPECT_TRUE(store.db->StartTrace({}, "/golden.trace").ok());
  store.clock->Advance(1);
  store.Put("pear", std::string(300, 'p'), true);
  WriteBatch batch;
  EXPECT_TRUE(batch.Put("apple", "a").ok() && batch.Delete("plum").ok() && batch.SingleDelete("fig").ok() &&
              batch.DeleteRange("q", "r").ok());
  store.clock->Advance(200);
  EXPECT_TRUE(store.db->Write({}, &batch).ok());
  store.clock->Advance(70'000);
  store.Get("pear");
  store.Get("quince");
  std::vector<std::string> values;
  store.db->MultiGet({}, {"pear", "fig"}, &values);
  {
    const std::unique_ptr<Iterator> it(store.db->NewIterator({}));
    it->Seek("b");
    it->Prev();
    it->SeekForPrev("b");
    it->SeekToFirst();
    it->Next();
    store.clock->Advance(5'000'000);
    it->SeekToLast();
  }
  EXPECT_TRUE(store.db->EndTrace().ok());
  std::string bytes;
  EXPECT_TRUE(store.fs->probe().ReadContents("/golden.trace", &bytes).ok());
  return bytes;
}

}  // namespace cambium::testing
