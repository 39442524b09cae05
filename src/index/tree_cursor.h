// Reads a tree of pages: TreeFind finds one key, TreeCursor walks all keys in order.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "index/index_file.h"
#include "index/page_pool.h"
#include "memtable/entry_cursor.h"

namespace cambium {

// Gets a page of a tree and checks that its level fits its place in the tree; Corruption if not. This bounds every
// descent: the level falls by one per step, from a height of at most kMaxTreeHeight, so cycles and endless chains are
// detected.
Result<PageRef> GetTreePage(const FileSet& files, PagePool* pool, PagePointer page, unsigned level);

// The root, or an empty PageRef if the tree is empty. Corruption if its height is impossible.
Result<PageRef> GetTreeRoot(const TreeRoot& root, const FileSet& files, PagePool* pool);

// Returns true if the tree has the key. *entry is then its entry, possibly a tombstone; an inline value borrows from
// the leaf that *keep pins. `hash` is FilterHash(key), for trees whose branches have filters. Does not allocate if keys
// are in byte order. Any thread.
Result<bool> TreeFind(const TreeRoot& root, const FileSet& files, PagePool* pool, const KeyOrder& order, Slice key,
                      std::uint64_t hash, PageRef* keep, Entry* entry);

// Keeps the path from the root to the current leaf pinned. Pages have no links to their neighbours, because a
// copy-on-write tree would have to rewrite the neighbours with every page. One thread.
class TreeCursor final : public EntryCursor {
 public:
  // `pool` must outlive the cursor. The copy of `files` keeps the files open.
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
  std::size_t PeekAhead(bool forward, std::span<Entry> out) const override;  // only within the current leaf

 private:
  struct Step {
    PageRef page;
    std::uint32_t index = 0;
  };
  enum class Edge : bool { kFirst, kLast };

  bool Start();                // pins the root; false if the tree is empty, or after an error
  bool Push(Result<PageRef> page);
  bool PushChild();            // pushes the child that the deepest step's index selects
  bool DescendTo(Slice target);
  bool DescendEdge(Edge edge);  // from the deepest step to a leaf, along the first or last children
  void NextLeaf();
  void PrevLeaf();
  void ReadKey();               // makes the cursor valid and reads its key
  // Compares key(i - 1) < key(i) in the leaf in full, when the heads cannot tell.
  [[nodiscard]] bool AscendsTo(std::uint32_t i);
  void Fail(Status status);
  void FailOrder();

  const TreeRoot root_;
  const FileSet files_;
  PagePool* const pool_;
  const KeyOrder order_;
  std::vector<Step> path_;  // root first
  std::string scratch_;
  std::string last_;  // the last key of the previous leaf
  bool is_framed_ = false;  // scratch_ holds a key of this leaf; only the middle changes from key to key
  Slice key_;
  bool valid_ = false;
  Status status_;
};

}  // namespace cambium
