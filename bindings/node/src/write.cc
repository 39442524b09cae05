// Writes.
#include "batch.h"
#include "database.h"

namespace cambium_node {

namespace {

// The handle of the family at i, for a synchronous call.
cambium_column_family_handle_t* HandleAt(const Args& args, std::size_t i, const Database& database) {
  return args.IsNothing(i) ? database.default_family().handle() : FamilyAt(args, i, database)->handle();
}

// (database, family, key, value, flags)
napi_value PutSync(const Args& args) {
  const auto& database = DatabaseAt(args, 0);
  database->CheckSync(Work::kWrite);
  cambium_column_family_handle_t* const family = HandleAt(args, 1, *database);
  const Bytes key(args.env(), args[2], "the key");
  const Bytes value(args.env(), args[3], "the value");
  Error error;
  cambium_put_cf(database->db(), database->write_options(args.Uint32(4)), family, key.data(), key.size(), value.data(),
                 value.size(), error.Out());
  error.Throw();
  return Undefined(args.env());
}

// (database, family, key, value, flags)
napi_value Put(const Args& args) {
  const auto& database = DatabaseAt(args, 0);
  database->CheckOpen();
  const auto family = FamilyAt(args, 1, *database);
  auto key = std::make_shared<std::string>(args.CopyBytes(2, "the key"));
  auto value = std::make_shared<std::string>(args.CopyBytes(3, "the value"));
  const std::uint32_t flags = args.Uint32(4);
  Core* const core = &database->core();
  return PerformOn(args.env(), false, "cambium:put", database, Work::kWrite, [=](Error* error) {
    const WriteOptions options(flags);
    cambium_put_cf(core->db(), options.get(), family->handle(), key->data(), key->size(), value->data(), value->size(),
                   error->Out());
  });
}

using DeleteCall = decltype(&cambium_delete_cf);

napi_value DeleteWith(const Args& args, DeleteCall call) {
  const auto& database = DatabaseAt(args, 1);
  database->CheckOpen();
  const auto family = FamilyAt(args, 2, *database);
  const std::string key = args.CopyBytes(3, "the key");
  const std::uint32_t flags = args.Uint32(4);
  Core* const core = &database->core();
  return PerformOn(args.env(), args.Bool(0), "cambium:delete", database, Work::kWrite, [=](Error* error) {
    const WriteOptions options(flags);
    call(core->db(), options.get(), family->handle(), key.data(), key.size(), error->Out());
  });
}

// (isSync, database, family, key, flags)
napi_value Delete(const Args& args) { return DeleteWith(args, &cambium_delete_cf); }
napi_value SingleDelete(const Args& args) { return DeleteWith(args, &cambium_singledelete_cf); }

// (isSync, database, family, start, end, flags)
napi_value DeleteRange(const Args& args) {
  const auto& database = DatabaseAt(args, 1);
  database->CheckOpen();
  const auto family = FamilyAt(args, 2, *database);
  const std::string start = args.CopyBytes(3, "the start");
  const std::string end = args.CopyBytes(4, "the end");
  const std::uint32_t flags = args.Uint32(5);
  Core* const core = &database->core();
  return PerformOn(args.env(), args.Bool(0), "cambium:deleteRange", database, Work::kWrite, [=](Error* error) {
    const WriteOptions options(flags);
    cambium_delete_range_cf(core->db(), options.get(), family->handle(), start.data(), start.size(), end.data(),
                            end.size(), error->Out());
  });
}

// (isSync, database, batch, flags)
napi_value Write(const Args& args) {
  const auto& database = DatabaseAt(args, 1);
  database->CheckOpen();
  const auto batch = args.Get<Batch>(2);
  static_cast<void>(batch->get());
  const std::uint32_t flags = args.Uint32(3);
  const bool is_sync = args.Bool(0);
  if (is_sync) database->CheckSync(Work::kWrite);
  Core* const core = &database->core();
  batch->Begin();
  return PerformOn(
      args.env(), is_sync, "cambium:write", database, Work::kWrite,
      [=](Error* error) {
        const WriteOptions options(flags);
        cambium_write(core->db(), options.get(), batch->unchecked(), error->Out());
      },
      &FinishUndefined, [=] { batch->End(); });
}

}  // namespace

void ExportWrites(napi_env env, napi_value exports) {
  Export<PutSync>(env, exports, "putSync");
  Export<Put>(env, exports, "put");
  Export<Delete>(env, exports, "delete");
  Export<SingleDelete>(env, exports, "singleDelete");
  Export<DeleteRange>(env, exports, "deleteRange");
  Export<Write>(env, exports, "write");
}

}  // namespace cambium_node
