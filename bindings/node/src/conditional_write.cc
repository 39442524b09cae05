// Writes that take effect only if keys are as expected.
#include <vector>

#include "batch.h"
#include "database.h"

namespace cambium_node {

namespace {

// The conditions of a write. A call of writeIf makes it, fills it, and uses it once, so one thread at a time has it.
class Conditions {
 public:
  static constexpr std::uint32_t kKind = 0x636f6e64;
  Conditions() : rep_(cambium_writeconditions_create()) {}
  Conditions(const Conditions&) = delete;
  Conditions& operator=(const Conditions&) = delete;
  ~Conditions() { cambium_writeconditions_destroy(rep_); }

  [[nodiscard]] cambium_writeconditions_t* get() const { return rep_; }
  // The handle of a family, which is kept.
  cambium_column_family_handle_t* Keep(std::shared_ptr<Family> family) {
    families_.push_back(std::move(family));
    return families_.back()->handle();
  }

 private:
  cambium_writeconditions_t* rep_;
  std::vector<std::shared_ptr<Family>> families_;
};

using WriteOne = std::function<unsigned char(cambium_t* db, const cambium_writeoptions_t* options, Error* error)>;

// A call that returns whether it has written.
napi_value WriteWith(const Args& args, const char* name, std::uint32_t flags, WriteOne write,
                     std::function<void()> done = nullptr) {
  const auto& database = DatabaseAt(args, 1);
  Core* const core = &database->core();
  auto written = std::make_shared<bool>(false);
  return PerformOn(
      args.env(), args.Bool(0), name, database, Work::kWrite,
      [=](Error* error) {
        const WriteOptions options(flags);
        *written = write(core->db(), options.get(), error) != 0;
      },
      [=](napi_env env) { return FromBool(env, *written); }, std::move(done));
}

// (isSync, database, family, key, value, flags) -> whether it was written
napi_value PutIfAbsent(const Args& args) {
  const auto& database = DatabaseAt(args, 1);
  database->CheckOpen();
  const auto family = FamilyAt(args, 2, *database);
  const std::string key = args.CopyBytes(3, "the key");
  const std::string value = args.CopyBytes(4, "the value");
  return WriteWith(args, "cambium:putIfAbsent", args.Uint32(5), [=](auto* db, const auto* options, Error* error) {
    return cambium_put_if_absent_cf(db, options, family->handle(), key.data(), key.size(), value.data(), value.size(),
                                    error->Out());
  });
}

// (isSync, database, family, key, expected, value, flags) -> whether it was written
napi_value CompareAndSet(const Args& args) {
  const auto& database = DatabaseAt(args, 1);
  database->CheckOpen();
  const auto family = FamilyAt(args, 2, *database);
  const std::string key = args.CopyBytes(3, "the key");
  const std::string expected = args.CopyBytes(4, "the expected value");
  const std::string value = args.CopyBytes(5, "the value");
  return WriteWith(args, "cambium:compareAndSet", args.Uint32(6), [=](auto* db, const auto* options, Error* error) {
    return cambium_compare_and_set_cf(db, options, family->handle(), key.data(), key.size(), expected.data(),
                                      expected.size(), value.data(), value.size(), error->Out());
  });
}

// (isSync, database, family, key, expected, flags) -> whether it was deleted
napi_value CompareAndDelete(const Args& args) {
  const auto& database = DatabaseAt(args, 1);
  database->CheckOpen();
  const auto family = FamilyAt(args, 2, *database);
  const std::string key = args.CopyBytes(3, "the key");
  const std::string expected = args.CopyBytes(4, "the expected value");
  return WriteWith(args, "cambium:compareAndDelete", args.Uint32(5), [=](auto* db, const auto* options, Error* error) {
    return cambium_compare_and_delete_cf(db, options, family->handle(), key.data(), key.size(), expected.data(),
                                         expected.size(), error->Out());
  });
}

napi_value NewConditions(const Args& args) { return Wrap(args.env(), std::make_shared<Conditions>()); }

// (conditions, database, family, key)
napi_value AddIsAbsent(const Args& args) {
  Conditions& conditions = *args.Get<Conditions>(0);
  const auto& database = DatabaseAt(args, 1);
  database->CheckOpen();
  cambium_column_family_handle_t* const family = conditions.Keep(FamilyAt(args, 2, *database));
  const Bytes key(args.env(), args[3], "the key");
  cambium_writeconditions_is_absent_cf(conditions.get(), family, key.data(), key.size());
  return Undefined(args.env());
}

// (conditions, database, family, key, value)
napi_value AddHasValue(const Args& args) {
  Conditions& conditions = *args.Get<Conditions>(0);
  const auto& database = DatabaseAt(args, 1);
  database->CheckOpen();
  cambium_column_family_handle_t* const family = conditions.Keep(FamilyAt(args, 2, *database));
  const Bytes key(args.env(), args[3], "the key");
  const Bytes value(args.env(), args[4], "the value");
  cambium_writeconditions_has_value_cf(conditions.get(), family, key.data(), key.size(), value.data(), value.size());
  return Undefined(args.env());
}

// (isSync, database, batch, conditions, flags) -> whether it was written
napi_value WriteIf(const Args& args) {
  const auto& database = DatabaseAt(args, 1);
  database->CheckOpen();
  const auto batch = args.Get<Batch>(2);
  static_cast<void>(batch->get());
  const auto conditions = args.Get<Conditions>(3);
  const std::uint32_t flags = args.Uint32(4);
  if (args.Bool(0)) database->CheckSync(Work::kWrite);
  batch->Begin();
  return WriteWith(
      args, "cambium:writeIf", flags,
      [=](auto* db, const auto* options, Error* error) {
        return cambium_write_if(db, options, conditions->get(), batch->unchecked(), error->Out());
      },
      [=] { batch->End(); });
}

}  // namespace

void ExportConditionalWrites(napi_env env, napi_value exports) {
  Export<PutIfAbsent>(env, exports, "putIfAbsent");
  Export<CompareAndSet>(env, exports, "compareAndSet");
  Export<CompareAndDelete>(env, exports, "compareAndDelete");
  Export<NewConditions>(env, exports, "newConditions");
  Export<AddIsAbsent>(env, exports, "conditionsIsAbsent");
  Export<AddHasValue>(env, exports, "conditionsHasValue");
  Export<WriteIf>(env, exports, "writeIf");
}

}  // namespace cambium_node
