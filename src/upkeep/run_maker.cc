#include "upkeep/run_maker.h"

#include "options/options_check.h"
#include "util/mutant.h"

namespace cambium {

TableFiles RunMaker::FilesOf(const Family& family, TableFileCreationReason reason, int job_id) {
  TableFileCreationInfo like;
  like.db_name = db_.events.db_name();
  like.cf_name = family.name;
  like.cf_id = family.id;
  like.job_id = job_id;
  like.reason = reason;
  return {&db_.events, db_.fs.get(), std::move(like)};
}

Result<std::shared_ptr<const Run>> RunMaker::Make(const Family& family, EntryCursor* cursor,
                                                       const RangeDeletes* ranges, AccountDelta* accounts,
                                                       UnsyncedFiles* unsynced, int job_id, RunKind kind) {
  TableFiles files = FilesOf(
      family, kind == RunKind::kRelocation ? TableFileCreationReason::kLogGc : TableFileCreationReason::kFlush, job_id);
  const FirstEntries first(cursor);
  RunOptions options = OptionsFor(family, kind);
  if (first.AreAll() && options.page_size > kSmallPageSize && !MutantIs(Mutant::kSmallRunsHaveLargePages)) {
    options.page_size = kSmallPageSize;
    options.tells_page_size = true;
  }
  CAMBIUM_TRY(const NewIndexFile made, commits_.MakeIndexFile(FileKind::kRun, options.page_size, &files));
  Result<std::shared_ptr<const Run>> run = Fill(made, family, options, first, cursor, ranges, accounts);
  if (!run.ok() || MutantIs(Mutant::kCommitBeforeRunSync)) {
    files.Done(run.status());
  } else {
    unsynced->AddRun(made.file, std::move(files), std::move(options.before_write));
  }
  return run;
}

RunOptions RunMaker::OptionsFor(const Family& family, RunKind kind) {
  const ColumnFamilyOptions& its = family.options();
  RunOptions options;
  options.kind = kind;
  options.page_size = static_cast<std::uint32_t>(its.page_size);
  options.filter_bits_per_key = static_cast<unsigned>(its.filter_bits_per_key);
  // The runs of a tree are not compressed: a sweep soon moves them into pages, which are read one by one.
  if (its.index_type == IndexKind::kLsm) static_cast<void>(CodecOf(its.compression, &options.compression));
  const bool is_for_gc = kind == RunKind::kRelocation;
  options.before_write = pace_.PermitFor(is_for_gc ? FILE_BYTES_GC : FILE_BYTES_FLUSH,
                                         [this, is_for_gc] { return is_for_gc ? pace_.PriorityOfGc() : IO_USER; },
                                         is_for_gc ? Pace::Room::kOfStep : Pace::Room::kOfWriters);
  return options;
}

Result<std::shared_ptr<const Run>> RunMaker::Fill(const NewIndexFile& made, const Family& family,
                                                   const RunOptions& options, const FirstEntries& first,
                                                   EntryCursor* cursor, const RangeDeletes* ranges,
                                                   AccountDelta* accounts) {
  const Comparator* const order = family.options().comparator;
  RunBuilder builder(made.file, made.header, order, options);
  const auto add = [&](Slice key, const Entry& entry) {
    CAMBIUM_RETURN_IF_ERROR(builder.Add(key, entry));
    accounts->Add(entry);
    return Status::OK();
  };
  CAMBIUM_RETURN_IF_ERROR(first.ForEach(add));
  for (; cursor->Valid() && !builder.IsFull(); cursor->Next()) {
    CAMBIUM_RETURN_IF_ERROR(add(cursor->key(), cursor->entry()));
  }
  CAMBIUM_RETURN_IF_ERROR(cursor->status());
  if (ranges != nullptr) CAMBIUM_RETURN_IF_ERROR(builder.AddRanges(*ranges));
  CAMBIUM_TRY(const RunInfo info, builder.Finish());
  return Run::Open(made.file, info, order, db_.pool.get());
}

Result<std::unique_ptr<PrivateRunsBuilder>> RunMaker::BeginPrivate(const Family& family, TableFiles* files) {
  CAMBIUM_TRY(NewIndexFile made, commits_.MakeIndexFile(FileKind::kRun, family.options().page_size, files));
  commits_.obsolete().MakeObsolete(made.header.number);
  return std::make_unique<PrivateRunsBuilder>(std::move(made.file), made.header, family.options().comparator,
                                              OptionsFor(family, RunKind::kFlush), db_.pool.get());
}

Status RunMaker::EndPrivate(PrivateRunsBuilder* runs) {
  CAMBIUM_RETURN_IF_ERROR(runs->Finish());
  commits_.obsolete().Leaves(runs->path(), {InBlocks(runs->bytes()), false});
  return Status::OK();
}

}  // namespace cambium
