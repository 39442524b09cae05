#include "database.h"

namespace cambium_node {

Snapshot::Snapshot(std::shared_ptr<Database> database)
    : database_(std::move(database)), snapshot_(cambium_create_snapshot(database_->db())) {
  if (snapshot_ == nullptr) throw Failure{"Closed: the database is closed"};
  database_->snapshots.insert(this);
}

Snapshot::~Snapshot() { Release(); }

void Snapshot::Release() noexcept {
  database_->snapshots.erase(this);
  if (snapshot_ == nullptr) return;
  if (!IsForked()) cambium_release_snapshot(database_->db(), snapshot_);
  snapshot_ = nullptr;
}

namespace {

napi_value NewSnapshot(const Args& args) {
  const auto& database = DatabaseAt(args, 0);
  database->CheckOpen();
  auto ref = std::make_shared<SnapshotRef>();
  ref->database = database;
  ref->snapshot = std::make_shared<Snapshot>(database);
  return Wrap(args.env(), std::move(ref));
}

// (snapshot) -> another reference to it, which is closed on its own
napi_value ShareSnapshot(const Args& args) {
  const auto& ref = args.Get<SnapshotRef>(0);
  if (ref->snapshot == nullptr || ref->snapshot->get() == nullptr) throw Failure{"Closed: the snapshot is closed"};
  return Wrap(args.env(), std::make_shared<SnapshotRef>(*ref));
}

// Calls and iterators that read the snapshot keep it until they end.
napi_value CloseSnapshot(const Args& args) {
  args.Get<SnapshotRef>(0)->snapshot.reset();
  return Undefined(args.env());
}

napi_value SnapshotSequence(const Args& args) {
  const auto& ref = args.Get<SnapshotRef>(0);
  if (ref->snapshot == nullptr || ref->snapshot->get() == nullptr) throw Failure{"Closed: the snapshot is closed"};
  return FromUint64(args.env(), cambium_snapshot_get_sequence_number(ref->snapshot->get()));
}

}  // namespace

void ExportSnapshots(napi_env env, napi_value exports) {
  Export<NewSnapshot>(env, exports, "newSnapshot");
  Export<ShareSnapshot>(env, exports, "shareSnapshot");
  Export<CloseSnapshot>(env, exports, "closeSnapshot");
  Export<SnapshotSequence>(env, exports, "snapshotSequence");
}

}  // namespace cambium_node
