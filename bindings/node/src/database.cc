#include "database.h"

#include "iterator.h"
#include "overlay.h"

namespace cambium_node {

Database::Database(napi_env env, std::shared_ptr<Core> core)
    : Closable(env, "database"),
      core_(std::move(core)),
      default_family_(core_->DefaultFamily()),
      write_options_{WriteOptions(0), WriteOptions(1), WriteOptions(2), WriteOptions(3),
                     WriteOptions(4), WriteOptions(5), WriteOptions(6), WriteOptions(7)},
      statistics_(cambium_options_create_copy(core_->options().get())) {}

void Database::CheckSync(Work work) const {
  CheckOpen();
  if (core_->has_comparator()) {
    throw Failure{
        "Not implemented: a database with a comparator in JavaScript has no synchronous calls, because they would "
        "block the thread that has to compare"};
  }
  if (work == Work::kWrite && core_->has_filter()) {
    throw Failure{
        "Not implemented: a database with a compaction filter in JavaScript has only synchronous reads, because other "
        "synchronous calls may wait for the filter on the thread that has to run it"};
  }
}

void Database::CloseChildren() noexcept {
  while (!iterators.empty()) (*iterators.begin())->Destroy();
  while (!overlays.empty()) (*overlays.begin())->Destroy();
  while (!snapshots.empty()) (*snapshots.begin())->Release();
}

void Database::CloseBlocking(Error* error) {
  cambium_options_destroy(std::exchange(statistics_, nullptr));
  default_family_.reset();
  core_->Leave(error);
}

std::shared_ptr<Family> ToFamily(napi_env env, napi_value value, const Database& database) {
  if (IsNothing(env, value)) return database.core().DefaultFamily();
  const auto& ref = Args::ToObject<FamilyRef>(env, value);
  if (ref->database.get() != &database) {
    throw Failure{"Invalid argument: the column family belongs to another database"};
  }
  return ref->family;
}

std::shared_ptr<Family> FamilyAt(const Args& args, std::size_t i, const Database& database) {
  return ToFamily(args.env(), args[i], database);
}

std::shared_ptr<Snapshot> SnapshotAt(const Args& args, std::size_t i, const Database& database) {
  if (args.IsNothing(i)) return nullptr;
  const auto& ref = args.Get<SnapshotRef>(i);
  if (ref->snapshot == nullptr || ref->snapshot->get() == nullptr) throw Failure{"Closed: the snapshot is closed"};
  if (ref->database.get() != &database) throw Failure{"Invalid argument: the snapshot belongs to another database"};
  return ref->snapshot;
}

napi_value PerformOn(napi_env env, bool is_sync, const char* name, const std::shared_ptr<Database>& database, Work work,
                     Run run, Finish finish, std::function<void()> done) {
  if (is_sync) database->CheckSync(work);
  return Perform(env, is_sync, name, {database}, std::move(run), std::move(finish), std::move(done));
}

namespace {

napi_value MakeDatabase(napi_env env, const std::shared_ptr<Core>& core) {
  std::shared_ptr<Database> database;
  try {
    database = std::make_shared<Database>(env, core);
  } catch (...) {
    Error error;
    core->Leave(&error);
    throw;
  }
  // If this fails, the reference closes the database.
  return Wrap(env, std::make_shared<DatabaseRef>(database));
}

// (isSync, path, isReadOnly, spec, families or undefined, locks or undefined) -> database
// locks: [maxLocks, stripes, lockTimeout, writeLockTimeout] for a database whose transactions lock their keys, as
// lib/options.js makes it
napi_value OpenDatabase(const Args& args) {
  const std::string path = args.Name(1, "the path");
  const bool is_read_only = args.Bool(2);
  auto options = std::make_shared<Options>(args.env(), args[3]);
  auto families = args.IsNothing(4) ? nullptr : std::make_shared<NamedOptions>(args.env(), args[4]);
  std::shared_ptr<LockOptions> locks;
  if (!args.IsNothing(5)) {
    std::int64_t numbers[4];
    for (std::uint32_t i = 0; i < 4; ++i) {
      napi_value each = nullptr;
      Check(args.env(), napi_get_element(args.env(), args[5], i, &each));
      numbers[i] = ToInt64(args.env(), each, "an option of transactionLocks");
    }
    locks = std::make_shared<LockOptions>(numbers);
  }
  auto core = std::make_shared<std::shared_ptr<Core>>();
  return Perform(
      args.env(), args.Bool(0), "cambium:open", {},
      [=](Error* error) { *core = Core::Open(path, is_read_only, options, families, locks, error); },
      [=](napi_env env) { return MakeDatabase(env, *core); });
}

// (number) -> database
napi_value AttachDatabase(const Args& args) {
  const auto core = Core::Attach(ToUint64(args.env(), args[0], "the number of a shared database"));
  if (core == nullptr) throw Failure{"Closed: no database is open in this process under this number"};
  return MakeDatabase(args.env(), core);
}

// (database) -> number
napi_value ShareDatabase(const Args& args) {
  const auto& database = DatabaseAt(args, 0);
  database->CheckOpen();
  if (database->core().has_comparator() || database->core().has_filter()) {
    throw Failure{
        "Not implemented: a database with a comparator or a compaction filter in JavaScript cannot be shared"};
  }
  return FromNumber(args.env(), static_cast<double>(database->core().number()));
}

napi_value CloseDatabase(const Args& args) { return DatabaseAt(args, 0)->Close(); }

napi_value CloseDatabaseSync(const Args& args) {
  const auto& database = DatabaseAt(args, 0);
  if (database->IsOpen()) database->CheckSync(Work::kWrite);
  database->CloseSync();
  return Undefined(args.env());
}

napi_value DatabaseIsOpen(const Args& args) { return FromBool(args.env(), DatabaseAt(args, 0)->IsOpen()); }

// (database) -> whether close() has not ended
napi_value DatabaseIsClosing(const Args& args) { return FromBool(args.env(), DatabaseAt(args, 0)->IsClosing()); }

napi_value DatabaseInfo(const Args& args) {
  const Core& core = DatabaseAt(args, 0)->core();
  napi_value info = nullptr;
  Check(args.env(), napi_create_object(args.env(), &info));
  Check(args.env(), napi_set_named_property(args.env(), info, "path", FromText(args.env(), core.path())));
  Check(args.env(), napi_set_named_property(args.env(), info, "readOnly", FromBool(args.env(), core.is_read_only())));
  return info;
}

}  // namespace

void ExportDatabase(napi_env env, napi_value exports) {
  Export<OpenDatabase>(env, exports, "open");
  Export<AttachDatabase>(env, exports, "attach");
  Export<ShareDatabase>(env, exports, "share");
  Export<CloseDatabase>(env, exports, "close");
  Export<CloseDatabaseSync>(env, exports, "closeSync");
  Export<DatabaseIsOpen>(env, exports, "isOpen");
  Export<DatabaseIsClosing>(env, exports, "isClosing");
  Export<DatabaseInfo>(env, exports, "info");
}

}  // namespace cambium_node
