#include "memtable/version_list.h"

#include <algorithm>
#include <cassert>
#include <utility>

namespace cambium {
namespace {

// Walks records in the order of their keys.
class RecordCursor final : public EntryCursor {
 public:
  RecordCursor(const MemTable* table, std::vector<Record> records, HasVersions has)
      : table_(*table), records_(std::move(records)), has_(has) {}

  void SeekToFirst() override { at_ = 0; }
  void SeekToLast() override { at_ = records_.size() - 1; }
  void Seek(Slice target) override { at_ = CountBefore(target); }
  void SeekForPrev(Slice target) override {
    at_ = CountBefore(target);
    if (!Valid() || table_.Compare(key(), target) != 0) --at_;
  }
  void Next() override {
    assert(RecordCursor::Valid());
    ++at_;
  }
  void Prev() override {
    assert(RecordCursor::Valid());
    --at_;
  }

  [[nodiscard]] bool Valid() const override { return at_ < records_.size(); }
  [[nodiscard]] Slice key() const override {
    assert(RecordCursor::Valid());
    return records_[at_].key();
  }
  [[nodiscard]] Entry entry() const override {
    assert(RecordCursor::Valid());
    const Entry entry = records_[at_].entry();
    return has_ == HasVersions::kYes ? entry : entry.WithoutVersion();
  }
  [[nodiscard]] Status status() const override { return {}; }

 private:
  [[nodiscard]] std::size_t CountBefore(Slice target) const {
    const auto end = std::ranges::partition_point(
        records_, [&](Record record) { return table_.Compare(record.key(), target) < 0; });
    return static_cast<std::size_t>(end - records_.begin());
  }

  const MemTable& table_;
  const std::vector<Record> records_;
  const HasVersions has_;
  std::size_t at_ = SIZE_MAX;  // SIZE_MAX: before the first record
};

}  // namespace

VersionList::VersionList(const MemTable* table) : table_(*table), versions_(table->VersionsBySequence()) {}

std::unique_ptr<EntryCursor> VersionList::NewCursor(SequenceNumber read_seq, SequenceNumber after_seq,
                                                    HasVersions has) const {
  assert(after_seq <= read_seq);
  const auto begin = std::ranges::upper_bound(versions_, after_seq, {}, &Record::seq);
  const auto end = std::ranges::upper_bound(versions_, read_seq, {}, &Record::seq);
  std::vector<Record> found(begin, end);
  std::ranges::sort(found, [&](Record a, Record b) {
    const int order = table_.Compare(a.key(), b.key());
    return order != 0 ? order < 0 : a.seq() > b.seq();
  });
  const auto has_same_key = [&](Record a, Record b) { return table_.Compare(a.key(), b.key()) == 0; };
  found.erase(std::unique(found.begin(), found.end(), has_same_key), found.end());
  if (table_.range_delete_count() > 0) {
    std::erase_if(found, [&](Record record) {
      Entry entry;
      SequenceNumber seq = 0;  // sequence number of the record, or of a newer range delete that covers its key
      return table_.Find(record.key(), read_seq, &entry, &seq) && seq != record.seq();
    });
  }
  return std::make_unique<RecordCursor>(&table_, std::move(found), has);
}

}  // namespace cambium
