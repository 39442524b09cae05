#include "database.h"

namespace cambium_node {

namespace {

// [reference, name, id, order]
napi_value DescribeFamily(napi_env env, const std::shared_ptr<Database>& database,
                          const std::shared_ptr<Family>& family) {
  auto ref = std::make_shared<FamilyRef>();
  ref->database = database;
  ref->family = family;
  napi_value list = nullptr;
  Check(env, napi_create_array_with_length(env, 4, &list));
  Check(env, napi_set_element(env, list, 0, Wrap(env, std::move(ref))));
  Check(env, napi_set_element(env, list, 1, FromText(env, family->name())));
  Check(env, napi_set_element(env, list, 2, FromNumber(env, family->id())));
  Check(env, napi_set_element(env, list, 3, FromNumber(env, static_cast<double>(family->order()))));
  return list;
}

// (database) -> the open families, as DescribeFamily returns them
napi_value Families(const Args& args) {
  const auto& database = DatabaseAt(args, 0);
  database->CheckOpen();
  napi_value list = nullptr;
  Check(args.env(), napi_create_array(args.env(), &list));
  std::uint32_t i = 0;
  for (const auto& family : database->core().Families()) {
    Check(args.env(), napi_set_element(args.env(), list, i++, DescribeFamily(args.env(), database, family)));
  }
  return list;
}

// (isSync, database, name, spec) -> a family, as DescribeFamily returns it
napi_value CreateFamily(const Args& args) {
  const auto database = DatabaseAt(args, 1);
  database->CheckOpen();
  const std::string name = args.Name(2, "the name of a column family");
  auto options = std::make_shared<Options>(args.env(), args[3]);
  if (options->order() == Order::kFunction && database->core().was_shared()) {
    throw Failure{
        "Not implemented: a database that threads share cannot have a column family with a comparator in JavaScript"};
  }
  auto family = std::make_shared<std::shared_ptr<Family>>();
  return PerformOn(
      args.env(), args.Bool(0), "cambium:createColumnFamily", database, Work::kWrite,
      [=](Error* error) { *family = database->core().CreateFamily(name, options, error); },
      [=](napi_env env) { return DescribeFamily(env, database, *family); });
}

// (isSync, database, family)
napi_value DropFamily(const Args& args) {
  const auto database = DatabaseAt(args, 1);
  const auto family = FamilyAt(args, 2, *database);
  return PerformOn(args.env(), args.Bool(0), "cambium:dropColumnFamily", database, Work::kWrite,
                   [=](Error* error) { database->core().DropFamily(family, error); });
}

}  // namespace

void ExportFamilies(napi_env env, napi_value exports) {
  Export<Families>(env, exports, "families");
  Export<CreateFamily>(env, exports, "createFamily");
  Export<DropFamily>(env, exports, "dropFamily");
}

}  // namespace cambium_node
