#include "heap_run.h"

#include "key_list.h"
#include "require.h"
#include "util/prng.h"

namespace cambium::bench {

Entry EntryOf(std::uint64_t id, Slot slot) {
  return Entry::At(ValueAddress::InLog(slot, id % (kLogOffsetMax / kRecordAlignment) * kRecordAlignment,
                                       1024));
}

std::shared_ptr<const Run> MakeRun(HeapFiles* files, PagePool* pool, std::span<const std::uint64_t> ids) {
  NewIndexFile made = Require(files->Create());
  RunOptions options;
  options.entries_expected = ids.size();
  RunBuilder builder(made.file, made.header, BytewiseComparator(), options);
  KeyBuffer key(kKeySize);
  for (const std::uint64_t id : ids) Require(builder.Add(key.Make(id), EntryOf(id, static_cast<Slot>(made.header.number))));
  const RunInfo info = Require(builder.Finish());
  return Require(Run::Open(std::move(made.file), info, BytewiseComparator(), pool));
}

std::vector<std::vector<std::uint64_t>> DealIds(std::uint64_t n, std::size_t parts) {
  Prng prng(4);
  std::vector<std::vector<std::uint64_t>> dealt(parts);
  for (std::uint64_t i = 0; i < n; ++i) dealt[prng.Uniform(parts)].push_back(PresentId(i));
  return dealt;
}

}  // namespace cambium::bench
