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
                                                       int job_id, RunKind kind) {
  const bool is_private = accounts == nullptr;
  TableFiles files = FilesOf(family,
                             is_private                      ? TableFileCreationReason::kSnapshot
                             : kind == RunKind::kRelocation ? TableFileCreationReason::kLogGc
                                                             : TableFileCreationReason::kFlush,
                             job_id);
  CAMBIUM_TRY(const NewIndexFile made, commits_.MakeIndexFile(FileKind::kRun, family.options().page_size, &files));
  if (is_private) commits_.obsolete().MakeObsolete(made.header.number);
  Result<std::shared_ptr<const Run>> run = Fill(made, family, cursor, ranges, accounts, kind);
  files.Done(run.status());
  return run;
}

Result<std::shared_ptr<const Run>> RunMaker::Fill(const NewIndexFile& made, const Family& family, EntryCursor* cursor,
                                                   const RangeDeletes* ranges, AccountDelta* accounts, RunKind kind) {
  const ColumnFamilyOptions& its = family.options();
  const bool is_private = accounts == nullptr;
  RunOptions options;
  options.kind = kind;
  options.page_size = static_cast<std::uint32_t>(its.page_size);
  options.filter_bits_per_key = static_cast<unsigned>(its.filter_bits_per_key);
  // The runs of a tree are not compressed: a sweep soon moves them into pages, which are read one by one.
  if (its.index_type == IndexKind::kLsm) static_cast<void>(CodecOf(its.compression, &options.compression));
  const bool is_for_gc = kind == RunKind::kRelocation;
  options.before_write = pace_.PermitFor(is_for_gc ? FILE_BYTES_GC : FILE_BYTES_FLUSH,
                                   [this, is_for_gc] { return is_for_gc ? pace_.PriorityOfGc() : IO_USER; });
  RunBuilder builder(made.file, made.header, its.comparator, options);
  for (; cursor->Valid() && !builder.IsFull(); cursor->Next()) {
    CAMBIUM_RETURN_IF_ERROR(builder.Add(cursor->key(), cursor->entry()));
    if (!is_private) accounts->Add(cursor->entry());
  }
  CAMBIUM_RETURN_IF_ERROR(cursor->status());
  if (ranges != nullptr) CAMBIUM_RETURN_IF_ERROR(builder.AddRanges(*ranges));
  CAMBIUM_TRY(const RunInfo info, builder.Finish());
  if (is_private) commits_.obsolete().Leaves(made.file->path(), {info.file_size, false});
  if (!is_private && !MutantIs(Mutant::kCommitBeforeRunSync)) CAMBIUM_RETURN_IF_ERROR(DbContext::JudgeSync(made.file->SyncData()));
  return Run::Open(made.file, info, its.comparator, db_.pool.get());
}

}  // namespace cambium
