// Reading a tree of pages: one key, or all in order.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "index/index_file.h"
#include "index/page_pool.h"
#include "memtable/entry_cursor.h"

namespace cambium {

// Gets a page of a tree and checks that it has the level its place in the tree demands. This is what bounds every
// descent: a level less per step, from a height of at most kMaxTreeHeight, so that a cycle or a chain without end is
// Corruption.
Result<PageRef> GetTreePage(const FileSet& files, PagePool* pool, PagePointer page, unsigned level);

// The root, or nothing if the tree is empty. Corruption if its height is impossible.
Result<PageRef> GetTreeRoot(const TreeRoot& root, const FileSet& files, PagePool* pool);

// True if the tree has the key: *entry is what it says (a tombstone, perhaps); an inline value borrows from *keep,
// which holds the leaf. `hash` is FilterHash(key), for trees whose branches have filters. Allocates nothing if keys are
// in byte order. Any thread.
Result<bool> TreeFind(const TreeRoot& root, const FileSet& files, PagePool* pool, const KeyOrder& order, Slice key,
                      std::uint64_t hash, PageRef* keep, Entry* entry);

// Keeps the path from the root to its leaf pinned: pages have no links to their neighbours, because a copy-on-write
// tree would have to rewrite those with every page. One thread.
class TreeCursor final : public EntryCursor {
 public:
  // `pool` must outlive the cursor; `files` is copied and keeps the files open.
  TreeCursor(const TreeRoot& root, FileSet files, PagePool* pool, const Comparator* comparator);

  void SeekToFirst() override;
  void SeekToLast() override;
  void Seek(Slice target) override;
  void SeekForPrev(Slice target) override;
  void Next() override;
  void Prev() override;

  [[nodiscard]] bool Valid() const override { return valid_; }
  [[nodiscard]] Slice key() const override;
  [[nodiscard]] Entry entry() const override;
  [[nodiscard]] Status status() const override { return status_; }
  [[nodiscard]] EntryKind kind() const override { return path_.back().page->kind(path_.back().index); }
  bool Advance(bool forward, Slice* key_there) override;
  [[nodiscard]] bool ChecksOrder() const override { return true; }
  std::size_t PeekAhead(bool forward, std::span<Entry> out) const override;  // in the same leaf

 private:
  struct Step {
    PageRef page;
    std::uint32_t index = 0;
  };
  enum class Edge : bool { kFirst, kLast };

  bool Start();                // pins the root; false if there is none, or an error
  bool Push(Result<PageRef> page);
  bool PushChild();            // the child that the deepest step's index names
  bool DescendTo(Slice target);
  bool DescendEdge(Edge edge);  // from the deepest step to a leaf, along the first or last children
  void NextLeaf();
  void PrevLeaf();
  void Settle();                // valid: take the key
  // Is key(i - 1) < key(i) in the leaf? Heads did not tell.
  [[nodiscard]] bool AscendsTo(std::uint32_t i);
  void Fail(Status status);
  void FailOrder();

  const TreeRoot root_;
  const FileSet files_;
  PagePool* const pool_;
  const KeyOrder order_;
  std::vector<Step> path_;  // root first
  std::string scratch_;
  std::string last_;  // key of the leaf that was left
  bool is_framed_ = false;  // scratch_ holds a key of this leaf, of which only the middle changes from key to key
  Slice key_;
  bool valid_ = false;
  Status status_;
};

}  // namespace cambium
