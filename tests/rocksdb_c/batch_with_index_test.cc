// Batches with an index, over the names of RocksDB's C interface.
#include <cstddef>
#include <string>

#include "rocksdb_c/rocksdb_c_fixture.h"

namespace cambium::testing {
namespace {

class BatchWithIndexTest : public RocksDbCFixture {
 protected:
  BatchWithIndexTest() {
    db_ = Call<void*>("rocksdb_open", options_, path_.c_str(), &error_);
    EXPECT_EQ(Error(), "");
  }
  ~BatchWithIndexTest() override {
    Call<void>("rocksdb_writebatch_wi_destroy", batch_);
    if (family_ != nullptr) Call<void>("rocksdb_column_family_handle_destroy", family_);
    Call<void>("rocksdb_close", db_);
    Call<void>("rocksdb_readoptions_destroy", read_);
    Call<void>("rocksdb_writeoptions_destroy", write_);
    Call<void>("rocksdb_options_destroy", options_);
  }
  void MakeFamily() {
    family_ = Call<void*>("rocksdb_create_column_family", db_, options_, "trees", &error_);
    EXPECT_EQ(Error(), "");
  }
  void Add(const std::string& key, const std::string& value) {
    Call<void>("rocksdb_writebatch_wi_put", batch_, key.data(), key.size(), value.data(), value.size());
  }
  // The value of a key in the batch, "none" if it has none, or the error.
  std::string InBatch(const std::string& key) {
    std::size_t length = 0;
    char* const value =
        Call<char*>("rocksdb_writebatch_wi_get_from_batch", batch_, options_, key.data(), key.size(), &length, &error_);
    const std::string found = Taken(value, length);
    const std::string error = Error();
    return error.empty() ? found : error;
  }
  std::string InBoth(const std::string& key) {
    std::size_t length = 0;
    char* const value = Call<char*>("rocksdb_writebatch_wi_get_from_batch_and_db", batch_, db_, read_, key.data(),
                                    key.size(), &length, &error_);
    const std::string found = Taken(value, length);
    void* const pinned = Call<void*>("rocksdb_writebatch_wi_get_pinned_from_batch_and_db", batch_, db_, read_,
                                     key.data(), key.size(), &error_);
    EXPECT_EQ(TakenPinned(pinned), found);
    const std::string error = Error();
    return error.empty() ? found : error;
  }
  // Returns the error.
  std::string Write() {
    Call<void>("rocksdb_write_writebatch_wi", db_, write_, batch_, &error_);
    return Error();
  }

  void* const options_ = NewOptions();
  void* const read_ = Call<void*>("rocksdb_readoptions_create");
  void* const write_ = Call<void*>("rocksdb_writeoptions_create");
  void* db_ = nullptr;
  void* family_ = nullptr;
  void* batch_ = Call<void*>("rocksdb_writebatch_wi_create", std::size_t{0}, static_cast<unsigned char>(1));
};

TEST_F(BatchWithIndexTest, LookupsSeeTheBatchAboveTheDatabase) {
  Put(db_, "ash", "of the database");
  Put(db_, "elm", "of the database");
  Put(db_, "fir", "of the database");
  Add("elm", "first");
  Add("elm", "second");
  Call<void>("rocksdb_writebatch_wi_delete", batch_, "fir", std::size_t{3});
  EXPECT_EQ(InBatch("elm"), "second");
  EXPECT_EQ(InBatch("ash"), "none");
  EXPECT_EQ(InBoth("ash"), "of the database");
  EXPECT_EQ(InBoth("elm"), "second");
  EXPECT_EQ(InBoth("fir"), "none");
  EXPECT_EQ(Call<int>("rocksdb_writebatch_wi_count", batch_), 3) << "the batch keeps the overwritten put";
  Call<void>("rocksdb_writebatch_wi_delete_range", batch_, "a", std::size_t{1}, "f", std::size_t{1});
  EXPECT_EQ(InBoth("ash"), "none");
  EXPECT_EQ(Get(db_, "ash"), "of the database");
  EXPECT_EQ(Write(), "");
  for (const char* const key : {"ash", "elm", "fir"}) EXPECT_EQ(Get(db_, key), "none") << key;
  Call<void>("rocksdb_writebatch_wi_clear", batch_);
  EXPECT_EQ(Call<int>("rocksdb_writebatch_wi_count", batch_), 0);
  EXPECT_EQ(InBatch("elm"), "none");
}

TEST_F(BatchWithIndexTest, FamiliesAreSeparate) {
  MakeFamily();
  Add("elm", "default");
  Call<void>("rocksdb_writebatch_wi_put_cf", batch_, family_, "elm", std::size_t{3}, "trees", std::size_t{5});
  const char* const parts[] = {"o", "ak"};
  const std::size_t sizes[] = {1, 2};
  Call<void>("rocksdb_writebatch_wi_putv_cf", batch_, family_, 2, static_cast<const char* const*>(parts),
             static_cast<const std::size_t*>(sizes), 2, static_cast<const char* const*>(parts),
             static_cast<const std::size_t*>(sizes));
  const auto in_family = [&](const std::string& key) {
    std::size_t length = 0;
    char* const value = Call<char*>("rocksdb_writebatch_wi_get_from_batch_cf", batch_, options_, family_, key.data(),
                                    key.size(), &length, &error_);
    return Taken(value, length);
  };
  EXPECT_EQ(InBatch("elm"), "default");
  EXPECT_EQ(in_family("elm"), "trees");
  EXPECT_EQ(in_family("oak"), "oak");
  EXPECT_EQ(InBatch("oak"), "none");
  EXPECT_EQ(Write(), "");
  void* const base = Call<void*>("rocksdb_create_iterator_cf", db_, read_, family_);
  Call<void>("rocksdb_writebatch_wi_delete_cf", batch_, family_, "oak", std::size_t{3});
  void* const iterator = Call<void*>("rocksdb_writebatch_wi_create_iterator_with_base_cf", batch_, base, family_);
  EXPECT_EQ(Shown(iterator), "elm=trees");
  Call<void>("rocksdb_iter_destroy", iterator);
}

// The bounds of an iterator may change between two seeks, and those of the options hold for the batch.
TEST_F(BatchWithIndexTest, IteratorsShowTheBatchAboveTheirBase) {
  for (const char* const key : {"b", "d", "f", "h"}) Put(db_, key, "db");
  for (const char* const key : {"a", "c", "e", "h"}) Add(key, "new");
  Call<void>("rocksdb_writebatch_wi_delete", batch_, "d", std::size_t{1});
  void* iterator = Call<void*>("rocksdb_create_iterator", db_, read_);
  iterator = Call<void*>("rocksdb_writebatch_wi_create_iterator_with_base", batch_, iterator);
  EXPECT_EQ(Call<unsigned char>("rocksdb_iter_valid", iterator), 0) << "before the first seek";
  EXPECT_EQ(Shown(iterator), "a=new b=db c=new e=new f=db h=new");
  Call<void>("rocksdb_iter_destroy", iterator);

  Call<void>("rocksdb_readoptions_set_iterate_lower_bound", read_, "b", std::size_t{1});
  Call<void>("rocksdb_readoptions_set_iterate_upper_bound", read_, "e", std::size_t{1});
  void* const unbounded = Call<void*>("rocksdb_writebatch_wi_create_iterator_with_base", batch_,
                                      Call<void*>("rocksdb_create_iterator", db_, read_));
  EXPECT_EQ(Shown(unbounded), "a=new b=db c=new e=new h=new") << "the bounds are those of the base";
  Call<void>("rocksdb_iter_destroy", unbounded);
  iterator = Call<void*>("rocksdb_writebatch_wi_create_iterator_with_base_readopts", batch_,
                         Call<void*>("rocksdb_create_iterator", db_, read_), read_);
  EXPECT_EQ(Shown(iterator), "b=db c=new");
  Put(db_, "dd", "later");
  Call<void>("rocksdb_readoptions_set_iterate_upper_bound", read_, "g", std::size_t{1});
  EXPECT_EQ(Shown(iterator), "b=db c=new e=new f=db") << "the same state of the database";
  Add("e", "newer");
  EXPECT_EQ(Shown(iterator), "b=db c=new e=newer f=db") << "the newest state of the batch";
  Call<void>("rocksdb_iter_refresh", iterator, &error_);
  EXPECT_EQ(Error(), "");
  EXPECT_EQ(Shown(iterator), "b=db c=new dd=later e=newer f=db");
  Call<void>("rocksdb_iter_destroy", iterator);
}

void NotePut(void* notes, const char* key, std::size_t key_length, const char* value, std::size_t value_length) {
  *static_cast<std::string*>(notes) += std::string(key, key_length) + "=" + std::string(value, value_length) + " ";
}
void NoteDelete(void* notes, const char* key, std::size_t key_length) {
  *static_cast<std::string*>(notes) += "-" + std::string(key, key_length) + " ";
}

TEST_F(BatchWithIndexTest, OperationsAreShownInTheirOrderAndInRocksDbsForm) {
  using namespace std::string_literals;
  Add("k2", "v1");
  Add("k1", "v2");
  Call<void>("rocksdb_writebatch_wi_singledelete", batch_, "k3", std::size_t{2});
  std::string notes;
  Call<void>("rocksdb_writebatch_wi_iterate", batch_, static_cast<void*>(&notes), &NotePut, &NoteDelete);
  EXPECT_EQ(notes, "k2=v1 k1=v2 -k3 ");
  std::size_t length = 0;
  const char* const data = Call<const char*>("rocksdb_writebatch_wi_data", batch_, &length);
  EXPECT_EQ(std::string(data, length),
            std::string(8, '\0') + "\x03\0\0\0"s + "\x01\x02k2\x02v1"s + "\x01\x02k1\x02v2"s + "\x07\x02k3"s);
  EXPECT_EQ(Call<const char*>("rocksdb_writebatch_wi_data", batch_, &length), data) << "valid until the batch changes";
}

TEST_F(BatchWithIndexTest, ARollbackRemovesOperationsAndRefusals) {
  Add("elm", "kept");
  Call<void>("rocksdb_writebatch_wi_set_save_point", batch_);
  Add("elm", "removed");
  Call<void>("rocksdb_writebatch_wi_merge", batch_, "elm", std::size_t{3}, "1", std::size_t{1});
  EXPECT_NE(InBatch("elm").find("Merge is not in this version"), std::string::npos) << "not a value without the merge";
  EXPECT_NE(InBoth("elm").find("Merge is not in this version"), std::string::npos);
  EXPECT_NE(Write().find("Merge is not in this version"), std::string::npos);
  EXPECT_EQ(Get(db_, "elm"), "none") << "a part of the batch was written";
  Call<void>("rocksdb_writebatch_wi_rollback_to_save_point", batch_, &error_);
  EXPECT_EQ(Error(), "");
  EXPECT_EQ(InBoth("elm"), "kept");
  EXPECT_EQ(Write(), "");
  EXPECT_EQ(Get(db_, "elm"), "kept");
  Call<void>("rocksdb_writebatch_wi_rollback_to_save_point", batch_, &error_);
  EXPECT_TRUE(Error().starts_with("NotFound"));
}

// The functions that add an operation return no error, so the write does.
TEST_F(BatchWithIndexTest, AWriteFailsAfterAnOperationWithoutRoomOrFamily) {
  Call<void>("rocksdb_writebatch_wi_destroy", batch_);
  void* const no_comparator = nullptr;
  batch_ = Call<void*>("rocksdb_writebatch_wi_create_with_params", no_comparator, std::size_t{0},
                       static_cast<unsigned char>(0), std::size_t{100}, std::size_t{0});
  Add("elm", "fits");
  EXPECT_EQ(InBatch("elm"), "fits");
  Add("oak", std::string(100, 'v'));
  EXPECT_NE(Write().find("max_bytes"), std::string::npos);
  Call<void>("rocksdb_writebatch_wi_clear", batch_);
  void* const no_family = nullptr;
  Call<void>("rocksdb_writebatch_wi_put_cf", batch_, no_family, "elm", std::size_t{3}, "v", std::size_t{1});
  EXPECT_NE(Write().find("column family handle is null"), std::string::npos);
  EXPECT_EQ(Get(db_, "elm"), "none");
  void* const iterator = Call<void*>("rocksdb_writebatch_wi_create_iterator_with_base_cf", batch_,
                                     Call<void*>("rocksdb_create_iterator", db_, read_), no_family);
  EXPECT_NE(Shown(iterator).find("column family handle is null"), std::string::npos);
  Call<void>("rocksdb_iter_destroy", iterator);
}

}  // namespace
}  // namespace cambium::testing
