#include "transactions/prepared_store.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "api/prepared_family.h"
#include "manifest/features.h"
#include "util/mutant.h"

namespace cambium {

Status PreparedStore::Refusal() {
  return Status::InvalidArgument("the column family \"" + std::string(kPreparedFamilyName) +
                                 "\" belongs to the prepared transactions");
}

PreparedStore::Handle PreparedStore::Find() {
  Handle found = inside_.NewHandle(family_id_.load());
  // The family may have been dropped, and made again, by the database below.
  if (found == nullptr || found->GetName() != kPreparedFamilyName) found = inside_.NewHandle(kPreparedFamilyName);
  family_id_.store(found == nullptr ? 0 : found->GetID());
  return found;
}

Result<PreparedStore::Handle> PreparedStore::FindOrMake() {
  if (Handle found = Find(); found != nullptr) return found;
  const MutexLock lock(make_mutex_);
  if (Handle found = Find(); found != nullptr) return found;
  DB& db = inside_.db();
  const Options like = db.GetOptions(db.DefaultColumnFamily());
  ColumnFamilyHandle* made = nullptr;
  CAMBIUM_RETURN_IF_ERROR(
      db.CreateColumnFamily(OptionsOfPreparedFamily(like), std::string(kPreparedFamilyName), &made));
  family_id_.store(made->GetID());
  return Handle(made);
}

Status PreparedStore::Add(const WriteOptions& options, const TransactionName& name,
                          const PreparedRecord::Locks& locks, const WriteBatch& batch, std::size_t* record_bytes) {
  std::vector<PreparedRecord::FamilyName> families;
  CAMBIUM_TRY(const std::set<std::uint32_t> used, FamiliesUsed(locks, batch));
  for (const std::uint32_t id : used) {
    if (IsOwnFamily(id)) return Refusal();
    const Handle family = inside_.NewHandle(id);
    if (family == nullptr) {
      return Status::InvalidArgument("the transaction uses column family " + std::to_string(id) +
                                     ", which was dropped");
    }
    families.push_back({id, family->GetName()});
  }
  CAMBIUM_TRY(const Handle handle, FindOrMake());
  const std::string record = EncodePreparedRecord(inside_.database_id(), families, locks, batch);
  *record_bytes = record.size();
  return inside_.db().Put(options, handle.get(), name, record);
}

PreparedStore::Handle PreparedStore::FamilyIn(const PreparedRecord& record, std::uint32_t id) const {
  if (record.database_id == inside_.database_id() || MutantIs(Mutant::kPreparedFamiliesByNumber)) {
    return inside_.NewHandle(id);
  }
  const auto named = std::ranges::find(record.families, id, &PreparedRecord::FamilyName::id);
  return inside_.NewHandle(std::string_view(named->name));  // DecodePreparedRecord has checked that it is there
}

Status PreparedStore::AddRemoval(const TransactionName& name, WriteBatch* batch) {
  const Handle handle = Find();
  return handle == nullptr ? Status::OK() : batch->Delete(handle.get(), name);
}

Status PreparedStore::VisitAll(const Visit& visit) {
  const Handle handle = Find();
  if (handle == nullptr) return Status::OK();
  const std::unique_ptr<Iterator> entry(inside_.db().NewIterator({}, handle.get()));
  for (entry->SeekToFirst(); entry->Valid(); entry->Next()) {
    CAMBIUM_TRY(const PreparedRecord record, DecodePreparedRecord(entry->key(), entry->value()));
    CAMBIUM_RETURN_IF_ERROR(visit(entry->key(), record));
  }
  return entry->status();
}

}  // namespace cambium
