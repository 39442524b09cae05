// The iterators of RocksDB's C interface. RocksDB's may be refreshed, may follow the newest state (tailing), may be
// given other bounds between two seeks, and may end at the end of a prefix. This library's iterators keep their state
// and bounds. So the object here makes a new iterator where that is needed; for other bounds, one of the same state.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cambium/write_batch_with_index.h"
#include "rocksdb_c/objects.h"
#include "rocksdb_c/prefix.h"

namespace cambium::rocks {

// The bounds in a program's options. RocksDB's iterators refer to these options, which must live as long as they do.
class Bounds {
 public:
  // Refers to the options only if they have a bound now.
  explicit Bounds(const rocksdb_readoptions_t& options)
      : options_(options.lower.has_value() || options.upper.has_value() ? &options : nullptr) {
    Take();
  }
  Bounds(const Bounds&) = delete;
  Bounds& operator=(const Bounds&) = delete;

  // False if there are none.
  [[nodiscard]] bool Exist() const { return options_ != nullptr; }
  // Copies what the options have now.
  void Take();
  // True if the options have other bounds than those taken.
  [[nodiscard]] bool HaveChanged() const;
  // Sets the bounds taken. `read` refers to this object until the next Take.
  void SetIn(ReadOptions* read) const {
    if (lower_.has_value()) read->iterate_lower_bound = &lower_slice_;
    if (upper_.has_value()) read->iterate_upper_bound = &upper_slice_;
  }

 private:
  const rocksdb_readoptions_t* const options_;
  std::optional<std::string> lower_;
  std::optional<std::string> upper_;
  Slice lower_slice_;
  Slice upper_slice_;
};

// Makes an iterator that reads what the options say; the caller owns it.
using IteratorSource = std::function<Iterator*(const ReadOptions&)>;

// For functions of C that return an iterator: it shows what `source` makes, or the source's error. `db` stays open as
// long as the iterator exists. The extractor is null if the family has none.
rocksdb_iterator_t* NewIterator(std::shared_ptr<DB> db, IteratorSource source, const rocksdb_readoptions_t& options,
                                std::shared_ptr<const RocksPrefix> extractor);
// An iterator that has nothing but an error.
rocksdb_iterator_t* NewErrorIterator(Status error);

}  // namespace cambium::rocks

struct rocksdb_iterator_t {
  // The caller calls Make next, or sets `rep`.
  rocksdb_iterator_t(std::shared_ptr<cambium::DB> its_db, cambium::rocks::IteratorSource its_source,
                     const rocksdb_readoptions_t& its_options, std::shared_ptr<const RocksPrefix> its_extractor);
  explicit rocksdb_iterator_t(cambium::Status error);

  // Sets the snapshot that the next Make reads. The caller has reset `rep`.
  void SetState(std::shared_ptr<const cambium::Snapshot> its_state);
  // True if Make may have to make it again, with other bounds but of the same state.
  [[nodiscard]] bool NeedsState() const { return bounds.Exist() && !tails && options.snapshot == nullptr; }
  // The options of an iterator with these bounds; they refer to this object.
  [[nodiscard]] cambium::ReadOptions Read() const;
  cambium::Status Make();
  // From now on also shows the operations of `batch`, which must outlive the iterator. The bounds in `its_options` hold
  // for keys of the batch; null: no bounds.
  void AddBatch(cambium::WriteBatchWithIndex* batch, cambium::ColumnFamilyHandle* family,
                const rocksdb_readoptions_t* its_options);

  // Called before each seek.
  void Prepare();
  void StartPrefix(cambium::Slice target);
  // After SeekToFirst and SeekToLast, the prefix is that of the entry found.
  void StartPrefixHere();
  // At the end, an iterator that follows the newest state looks for entries that were written meanwhile.
  void Next();
  [[nodiscard]] bool Valid() const;
  // From now on it shows the newest state, also if it was made at a snapshot.
  cambium::Status Refresh();

  const std::shared_ptr<cambium::DB> db;
  cambium::rocks::IteratorSource source;
  cambium::ReadOptions options;
  const bool tails;
  const std::shared_ptr<const RocksPrefix> extractor;
  cambium::rocks::Bounds bounds;
  std::vector<std::shared_ptr<cambium::rocks::Bounds>> batch_bounds;  // of each batch that was added
  bool has_prefix = false;
  std::string prefix;
  std::shared_ptr<const cambium::Snapshot> state;  // null: the iterator is not made again, or at the caller's snapshot
  std::unique_ptr<cambium::Iterator> rep;
};
