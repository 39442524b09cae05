#include "store.h"

#include <utility>

#include "cambium/statistics.h"
#include "require.h"

namespace cambium::bench {

Store::Store(IndexKind index, std::uint64_t keys, std::size_t value_size, std::shared_ptr<Statistics> statistics)
    : keys_(keys), values_(value_size) {
  Options options;
  options.create_if_missing = true;
  options.index_type = index;
  options.page_cache_size = std::size_t{1} << 30;
  options.statistics = std::move(statistics);
  Require(DB::Open(options, directory_.File("db"), &db_));
  const KeyList all = KeyList::Shuffled(keys, kInsertSeed);
  for (std::size_t i = 0; i < all.size(); ++i) Require(db_->Put({}, all[i], values_.Of(i)));
  Require(db_->CompactRange({}, nullptr, nullptr));
  Require(db_->WaitForCompact());
  Require(db_->SyncWAL());
  // A walk brings pages that compactions wrote into the page pool.
  ReadOptions only_keys;
  only_keys.allow_unprepared_value = true;
  const std::unique_ptr<Iterator> walk(db_->NewIterator(only_keys));
  std::uint64_t found = 0;
  for (walk->SeekToFirst(); walk->Valid(); walk->Next()) ++found;
  Require(walk->status());
  Require(found == keys, "the store has lost keys or has too many");
}

}  // namespace cambium::bench
