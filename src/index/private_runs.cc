#include "index/private_runs.h"

#include <optional>
#include <utility>

#include "index/filter.h"
#include "index/run_footer.h"

namespace cambium {
namespace {

FileHeader RunHeader(FileHeader header, std::uint32_t page_size) {
  header.kind = FileKind::kRun;
  header.page_size = page_size;
  return header;
}

}  // namespace

PrivateRunsBuilder::PrivateRunsBuilder(std::shared_ptr<File> file, FileHeader header, const Comparator* comparator,
                                       const RunOptions& options, PagePool* pool)
    : options_(options),
      header_(RunHeader(std::move(header), options.page_size)),
      comparator_(comparator),
      pool_(pool),
      sink_(file.get(), header_, options.before_write),
      pages_(std::make_shared<const IndexFile>(file, header_, pool)) {}

Result<std::shared_ptr<const Run>> PrivateRunsBuilder::Add(EntryCursor* cursor,
                                                           std::shared_ptr<const RangeDeletes> ranges) {
  const std::uint64_t begin = sink_.size();
  RunFooter facts;
  TreeBuilder tree(&sink_, comparator_, {options_.page_size, options_.fill_percent},
                   {options_.compression, DefaultBlockSize(options_.page_size)});
  std::optional<FilterBuilder> keys;
  if (options_.filter_bits_per_key > 0 && comparator_->EqualMeansSameBytes()) {
    keys.emplace(options_.filter_bits_per_key, options_.entries_expected);
  }
  for (; cursor->Valid() && !sink_.IsFull(); cursor->Next()) {
    const Entry entry = cursor->entry();
    CAMBIUM_RETURN_IF_ERROR(tree.Add(cursor->key(), entry));
    if (tree.entry_count() == 1) facts.smallest_key = cursor->key().ToString();
    if (entry.kind == EntryKind::kTombstone) ++facts.tombstone_count;
    if (keys) keys->Add(cursor->key());
  }
  CAMBIUM_RETURN_IF_ERROR(cursor->status());
  const bool has_keys = tree.entry_count() > 0;
  facts.largest_key = tree.last_key().ToString();
  if (ranges != nullptr) {
    SpanRanges(comparator_, *ranges, has_keys, &facts);
    facts.range_count = static_cast<std::uint32_t>(ranges->count());
  }
  CAMBIUM_TRY(facts.root, tree.Finish());
  std::unique_ptr<const Filter> filter;
  if (keys && has_keys) {
    CAMBIUM_TRY(Filter parsed, Filter::Parse(keys->Finish()));
    filter = std::make_unique<const Filter>(std::move(parsed));
  }
  RunInfo info = InfoOf(facts, header_, sink_.size() - begin);
  info.kind = options_.kind;
  return std::shared_ptr<const Run>(
      new Run(std::move(info), FileSet(pages_), std::move(filter), std::move(ranges), comparator_, pool_));
}

}  // namespace cambium
