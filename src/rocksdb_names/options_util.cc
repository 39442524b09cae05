#include "cambium/rocksdb_names/rocksdb/utilities/options_util.h"

#include <utility>

#include "cambium/convenience.h"
#include "rocksdb_names/hints_file.h"
#include "rocksdb_names/to_cambium.h"
#include "util/result.h"

namespace rocksdb::inline on_cambium {

Status LoadLatestOptions(const ConfigOptions& config, const std::string& path, DBOptions* options,
                         std::vector<ColumnFamilyDescriptor>* families, std::shared_ptr<Cache>* cache) {
  cambium::ConfigOptions its_config;
  its_config.ignore_unknown_options = config.ignore_unknown_options;
  for (const Comparator* const each : config.comparators) its_config.comparators.push_back(each->OnCambium());
  cambium::DBOptions its_options;
  std::vector<cambium::ColumnFamilyDescriptor> its_families;
  CAMBIUM_RETURN_IF_ERROR(cambium::LoadLatestOptions(its_config, path, &its_options, &its_families));

  DBOptions loaded;
  loaded.Same() = its_options;
  std::vector<ColumnFamilyDescriptor> loaded_families;
  for (const cambium::ColumnFamilyDescriptor& each : its_families) {
    ColumnFamilyDescriptor& made = loaded_families.emplace_back(each.name, ColumnFamilyOptions());
    CAMBIUM_RETURN_IF_ERROR(FromCambium(each.options, config.comparators, &made.options));
    if (cache != nullptr && *cache != nullptr) {
      made.options.table_factory->GetOptions<BlockBasedTableOptions>()->block_cache = *cache;
    }
  }
  CAMBIUM_RETURN_IF_ERROR(ReadHintsFile(FilesOf(its_options), path, &loaded, &loaded_families));
  *options = std::move(loaded);
  *families = std::move(loaded_families);
  return Status::OK();
}

}  // namespace rocksdb::inline on_cambium
