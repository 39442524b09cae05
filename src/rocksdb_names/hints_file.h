// ROCKSDB_OPTIONS, a file in the directory of a database: the hints that it was opened with, for LoadLatestOptions. It
// has the form of an OPTIONS file (options/options_file.h), with only the hints that differ from RocksDB's defaults;
// those of a family's tables begin with "block_based_table.". Without such hints there is no file.
//
// Cambium itself does not know the file: checkpoints and backups leave it out, and DestroyDB of Cambium leaves it there.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "cambium/file_system.h"
#include "cambium/rocksdb_names/rocksdb/db.h"

namespace rocksdb::inline on_cambium {

// The file system of a database with these options.
[[nodiscard]] cambium::FileSystem& FilesOf(const cambium::DBOptions& options);

// Writes the file, synced and as a whole, or removes it.
Status WriteHintsFile(cambium::FileSystem& fs, const std::string& directory, const DBOptions& options,
                      const std::map<std::string, ColumnFamilyOptions>& families);
// Sets the hints of the options and of the families that the file names; OK without a file.
Status ReadHintsFile(cambium::FileSystem& fs, const std::string& directory, DBOptions* options,
                     std::vector<ColumnFamilyDescriptor>* families);
// OK if there is none.
Status RemoveHintsFile(cambium::FileSystem& fs, const std::string& directory);

}  // namespace rocksdb::inline on_cambium
