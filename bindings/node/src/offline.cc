// Calls for databases that are not open.
#include "database.h"

namespace cambium_node {

namespace {

napi_value FromTexts(napi_env env, const std::vector<std::string>& texts) {
  napi_value list = nullptr;
  Check(env, napi_create_array_with_length(env, texts.size(), &list));
  for (std::size_t i = 0; i < texts.size(); ++i) {
    Check(env, napi_set_element(env, list, static_cast<std::uint32_t>(i), FromText(env, texts[i])));
  }
  return list;
}

// (path, spec)
napi_value DestroyDatabase(const Args& args) {
  const std::string path = args.Name(0, "the path");
  auto options = std::make_shared<Options>(args.env(), args[1]);
  return Perform(
      args.env(), false, "cambium:destroy", {},
      [=](Error* error) { cambium_destroy_db(options->get(), path.c_str(), error->Out()); }, &FinishUndefined);
}

// (path, spec)
napi_value RepairDatabase(const Args& args) {
  const std::string path = args.Name(0, "the path");
  auto options = std::make_shared<Options>(args.env(), args[1]);
  return Perform(
      args.env(), false, "cambium:repair", {},
      [=](Error* error) { cambium_repair_db(options->get(), path.c_str(), error->Out()); }, &FinishUndefined);
}

// (path, spec, families, out, includeUnproven) -> {lost, unproven}
napi_value SalvageDatabase(const Args& args) {
  const std::string path = args.Name(0, "the path");
  auto options = std::make_shared<Options>(args.env(), args[1]);
  auto families = std::make_shared<NamedOptions>(args.env(), args[2]);
  const std::string out = args.Name(3, "the path of the new database");
  const unsigned char unproven = args.Bool(4) ? 1 : 0;
  auto lost = std::make_shared<std::pair<std::uint64_t, std::uint64_t>>();
  return Perform(
      args.env(), false, "cambium:salvage", {},
      [=](Error* error) {
        cambium_salvage_db_column_families(options->get(), path.c_str(), families->count(), families->c_names.data(),
                                           families->c_options.data(), out.c_str(), unproven, &lost->first,
                                           &lost->second, error->Out());
      },
      [=](napi_env env) {
        napi_value result = nullptr;
        Check(env, napi_create_object(env, &result));
        Check(env, napi_set_named_property(env, result, "lost", FromNumber(env, static_cast<double>(lost->first))));
        Check(env,
              napi_set_named_property(env, result, "unproven", FromNumber(env, static_cast<double>(lost->second))));
        return result;
      });
}

// (path, spec, families, deep) -> problems
napi_value VerifyDatabase(const Args& args) {
  const std::string path = args.Name(0, "the path");
  auto options = std::make_shared<Options>(args.env(), args[1]);
  auto families = std::make_shared<NamedOptions>(args.env(), args[2]);
  const unsigned char deep = args.Bool(3) ? 1 : 0;
  auto problems = std::make_shared<std::vector<std::string>>();
  return Perform(
      args.env(), false, "cambium:verify", {},
      [=](Error* error) {
        char** list = nullptr;
        std::size_t count = 0;
        if (families->names.empty()) {
          cambium_verify_db(options->get(), path.c_str(), deep, &list, &count, error->Out());
        } else {
          cambium_verify_db_column_families(options->get(), path.c_str(), families->count(), families->c_names.data(),
                                            families->c_options.data(), deep, &list, &count, error->Out());
        }
        for (std::size_t i = 0; i < count; ++i) problems->emplace_back(list[i]);
        cambium_string_list_destroy(list, count);
      },
      [=](napi_env env) { return FromTexts(env, *problems); });
}

// (path, spec) -> names
napi_value ListFamilies(const Args& args) {
  const std::string path = args.Name(0, "the path");
  auto options = std::make_shared<Options>(args.env(), args[1]);
  auto names = std::make_shared<std::vector<std::string>>();
  return Perform(
      args.env(), false, "cambium:listColumnFamilies", {},
      [=](Error* error) {
        std::size_t count = 0;
        char** const list = cambium_list_column_families(options->get(), path.c_str(), &count, error->Out());
        for (std::size_t i = 0; i < count; ++i) names->emplace_back(list[i]);
        cambium_list_column_families_destroy(list, count);
      },
      [=](napi_env env) { return FromTexts(env, *names); });
}

// (path, spec, directory)
napi_value CheckpointOffline(const Args& args) {
  const std::string path = args.Name(0, "the path");
  auto options = std::make_shared<Options>(args.env(), args[1]);
  const std::string directory = args.Name(2, "the directory");
  return Perform(
      args.env(), false, "cambium:checkpointOffline", {},
      [=](Error* error) { cambium_checkpoint_offline(options->get(), path.c_str(), directory.c_str(), error->Out()); },
      &FinishUndefined);
}

// (path, ignoreUnknown) -> [text of the database, name, text of the family, name, ...]
napi_value LoadLatestOptions(const Args& args) {
  const std::string path = args.Name(0, "the path");
  const unsigned char ignores = args.Bool(1) ? 1 : 0;
  auto texts = std::make_shared<std::vector<std::string>>();
  return Perform(
      args.env(), false, "cambium:loadLatestOptions", {},
      [=](Error* error) {
        cambium_options_t* db_options = nullptr;
        std::size_t count = 0;
        char** names = nullptr;
        cambium_options_t** family_options = nullptr;
        cambium_load_latest_options(path.c_str(), ignores, nullptr, 0, &db_options, &count, &names, &family_options,
                                    error->Out());
        if (error->IsSet()) return;
        const auto add = [&](const cambium_options_t* options) {
          char* const text = cambium_options_to_string(options, error->Out());
          if (text != nullptr) texts->emplace_back(text);
          cambium_free(text);
        };
        add(db_options);
        for (std::size_t i = 0; i < count; ++i) {
          texts->emplace_back(names[i]);
          add(family_options[i]);
        }
        cambium_load_latest_options_destroy(db_options, names, family_options, count);
      },
      [=](napi_env env) { return FromTexts(env, *texts); });
}

}  // namespace

void ExportOffline(napi_env env, napi_value exports) {
  Export<DestroyDatabase>(env, exports, "destroy");
  Export<RepairDatabase>(env, exports, "repair");
  Export<SalvageDatabase>(env, exports, "salvage");
  Export<VerifyDatabase>(env, exports, "verify");
  Export<ListFamilies>(env, exports, "listColumnFamilies");
  Export<CheckpointOffline>(env, exports, "checkpointOffline");
  Export<LoadLatestOptions>(env, exports, "loadLatestOptions");
}

}  // namespace cambium_node
