// Backup engines.
#include "database.h"

namespace cambium_node {

namespace {

class Engine final : public Closable {
 public:
  Engine(napi_env env, cambium_backup_engine_t* engine) : Closable(env, "backup engine"), engine_(engine) {}
  [[nodiscard]] cambium_backup_engine_t* get() const { return engine_; }
  void Unreference() { CloseUnreferenced(); }

 protected:
  void CloseBlocking(Error*) override { cambium_backup_engine_close(std::exchange(engine_, nullptr)); }

 private:
  cambium_backup_engine_t* engine_;
};

// The native part of the JavaScript object. It closes the engine when the object is collected.
struct EngineRef {
  static constexpr std::uint32_t kKind = 0x656e6769;
  explicit EngineRef(std::shared_ptr<Engine> its) : engine(std::move(its)) {}
  EngineRef(const EngineRef&) = delete;
  EngineRef& operator=(const EngineRef&) = delete;
  ~EngineRef() {
    if (!IsForked()) engine->Unreference();
  }
  std::shared_ptr<Engine> engine;
};

const std::shared_ptr<Engine>& EngineAt(const Args& args, std::size_t i) {
  const auto& engine = args.Get<EngineRef>(i)->engine;
  engine->CheckOpen();
  return engine;
}

// A call of an engine alone.
napi_value PerformOnEngine(const Args& args, const std::shared_ptr<Engine>& engine,
                           std::function<void(cambium_backup_engine_t*, Error*)> call) {
  return Perform(
      args.env(), false, "cambium:backup", {engine},
      [engine, call = std::move(call)](Error* error) { call(engine->get(), error); }, &FinishUndefined);
}

// (spec, directory, isReadOnly) -> engine
napi_value OpenEngine(const Args& args) {
  auto options = std::make_shared<Options>(args.env(), args[0]);
  const std::string directory = args.Name(1, "the directory");
  const bool is_read_only = args.Bool(2);
  auto engine = std::make_shared<cambium_backup_engine_t*>(nullptr);
  return Perform(
      args.env(), false, "cambium:openBackups", {},
      [=](Error* error) {
        *engine = is_read_only
                      ? cambium_backup_engine_open_for_read_only(options->get(), directory.c_str(), error->Out())
                      : cambium_backup_engine_open(options->get(), directory.c_str(), error->Out());
      },
      [=](napi_env env) { return Wrap(env, std::make_shared<EngineRef>(std::make_shared<Engine>(env, *engine))); });
}

napi_value CloseEngine(const Args& args) { return args.Get<EngineRef>(0)->engine->Close(); }

// (engine, database, flush)
napi_value CreateBackup(const Args& args) {
  const auto& engine = EngineAt(args, 0);
  const auto& database = DatabaseAt(args, 1);
  const bool flushes = args.Bool(2);
  Core* const core = &database->core();
  return Perform(
      args.env(), false, "cambium:createBackup", {engine, database},
      [=](Error* error) {
        cambium_backup_engine_create_new_backup_flush(engine->get(), core->db(), flushes ? 1 : 0, error->Out());
      },
      &FinishUndefined);
}

// (engine, path)
napi_value CreateBackupOffline(const Args& args) {
  const std::string path = args.Name(1, "the path");
  return PerformOnEngine(args, EngineAt(args, 0), [=](cambium_backup_engine_t* engine, Error* error) {
    cambium_backup_engine_create_new_backup_offline(engine, path.c_str(), error->Out());
  });
}

// (engine, verifyChecksums)
napi_value SetVerifyChecksums(const Args& args) {
  const auto& engine = EngineAt(args, 0);
  if (engine->IsBusy()) throw Failure{"Resource busy: a call of the backup engine has not ended"};
  cambium_backup_engine_set_verify_checksums(engine->get(), args.Bool(1) ? 1 : 0);
  return Undefined(args.env());
}

napi_value StopBackup(const Args& args) {
  cambium_backup_engine_stop_backup(EngineAt(args, 0)->get());
  return Undefined(args.env());
}

// (engine, backups to keep)
napi_value PurgeBackups(const Args& args) {
  const std::uint32_t kept = args.Uint32(1);
  return PerformOnEngine(args, EngineAt(args, 0), [=](cambium_backup_engine_t* engine, Error* error) {
    cambium_backup_engine_purge_old_backups(engine, kept, error->Out());
  });
}

// (engine, id)
napi_value DeleteBackup(const Args& args) {
  const std::uint32_t id = args.Uint32(1);
  return PerformOnEngine(args, EngineAt(args, 0), [=](cambium_backup_engine_t* engine, Error* error) {
    cambium_backup_engine_delete_backup(engine, id, error->Out());
  });
}

napi_value CollectGarbage(const Args& args) {
  return PerformOnEngine(args, EngineAt(args, 0), [](cambium_backup_engine_t* engine, Error* error) {
    cambium_backup_engine_garbage_collect(engine, error->Out());
  });
}

// (engine, id, withChecksums)
napi_value VerifyBackup(const Args& args) {
  const std::uint32_t id = args.Uint32(1);
  const bool with_checksums = args.Bool(2);
  return PerformOnEngine(args, EngineAt(args, 0), [=](cambium_backup_engine_t* engine, Error* error) {
    cambium_backup_engine_verify_backup(engine, id, with_checksums ? 1 : 0, error->Out());
  });
}

// (engine, directory, id or undefined for the latest)
napi_value RestoreBackup(const Args& args) {
  const std::string directory = args.Name(1, "the directory");
  const bool is_latest = args.IsNothing(2);
  const std::uint32_t id = is_latest ? 0 : args.Uint32(2);
  return PerformOnEngine(args, EngineAt(args, 0), [=](cambium_backup_engine_t* engine, Error* error) {
    if (is_latest) {
      cambium_backup_engine_restore_db_from_latest_backup(engine, directory.c_str(), error->Out());
    } else {
      cambium_backup_engine_restore_db_from_backup(engine, directory.c_str(), id, error->Out());
    }
  });
}

// (engine) -> a list of objects
napi_value ListBackups(const Args& args) {
  const auto& engine = EngineAt(args, 0);
  using Info = const cambium_backup_engine_info_t;
  auto info = std::make_shared<std::unique_ptr<Info, void (*)(Info*)>>(nullptr, &cambium_backup_engine_info_destroy);
  return Perform(
      args.env(), false, "cambium:listBackups", {engine},
      [=](Error*) { info->reset(cambium_backup_engine_get_backup_info(engine->get())); },
      [=](napi_env env) {
        Info* const all = info->get();
        const int count = cambium_backup_engine_info_count(all);
        napi_value list = nullptr;
        Check(env, napi_create_array_with_length(env, static_cast<std::size_t>(count), &list));
        for (int i = 0; i < count; ++i) {
          napi_value backup = nullptr;
          Check(env, napi_create_object(env, &backup));
          const auto set = [&](const char* name, napi_value value) {
            Check(env, napi_set_named_property(env, backup, name, value));
          };
          set("id", FromNumber(env, cambium_backup_engine_info_backup_id(all, i)));
          set("timestamp", FromNumber(env, static_cast<double>(cambium_backup_engine_info_timestamp(all, i))));
          set("size", FromNumber(env, static_cast<double>(cambium_backup_engine_info_size(all, i))));
          set("files", FromNumber(env, cambium_backup_engine_info_number_files(all, i)));
          set("sequenceNumber", FromUint64(env, cambium_backup_engine_info_sequence_number(all, i)));
          set("checked", FromBool(env, cambium_backup_engine_info_is_checked(all, i) != 0));
          Check(env, napi_set_element(env, list, static_cast<std::uint32_t>(i), backup));
        }
        return list;
      });
}

// (engine) -> ids
napi_value ListCorruptedBackups(const Args& args) {
  const auto& engine = EngineAt(args, 0);
  auto ids = std::make_shared<std::vector<std::uint32_t>>();
  return Perform(
      args.env(), false, "cambium:listBackups", {engine},
      [=](Error*) {
        std::size_t count = 0;
        std::uint32_t* const list = cambium_backup_engine_get_corrupted_backups(engine->get(), &count);
        if (list != nullptr) ids->assign(list, list + count);
        cambium_free(list);
      },
      [=](napi_env env) {
        napi_value list = nullptr;
        Check(env, napi_create_array_with_length(env, ids->size(), &list));
        for (std::size_t i = 0; i < ids->size(); ++i) {
          Check(env, napi_set_element(env, list, static_cast<std::uint32_t>(i), FromNumber(env, (*ids)[i])));
        }
        return list;
      });
}

}  // namespace

void ExportBackups(napi_env env, napi_value exports) {
  Export<OpenEngine>(env, exports, "openBackups");
  Export<CloseEngine>(env, exports, "closeBackups");
  Export<CreateBackup>(env, exports, "createBackup");
  Export<CreateBackupOffline>(env, exports, "createBackupOffline");
  Export<SetVerifyChecksums>(env, exports, "setVerifyChecksums");
  Export<StopBackup>(env, exports, "stopBackup");
  Export<PurgeBackups>(env, exports, "purgeBackups");
  Export<DeleteBackup>(env, exports, "deleteBackup");
  Export<CollectGarbage>(env, exports, "collectGarbage");
  Export<VerifyBackup>(env, exports, "verifyBackup");
  Export<RestoreBackup>(env, exports, "restoreBackup");
  Export<ListBackups>(env, exports, "listBackups");
  Export<ListCorruptedBackups>(env, exports, "listCorruptedBackups");
}

}  // namespace cambium_node
