// Options as text: in strings, and in the OPTIONS file of a database. Names and syntax are RocksDB's.
//
//   cambium::Options options;
//   cambium::Status s = cambium::GetOptionsFromString({}, "create_if_missing=true; write_buffer_size=16M", &options);
//
// Text is "name=value;name=value". Space around names and values does not count, and a value may stand in braces. Whole
// numbers may end in K, M, G or T (1024, its square, and so on); truth is true or false; enumerators go by name, and so
// do comparators. Objects, such as file_system, have no text: they come from the base. docs/OPTIONS.md has all names.
//
// InvalidArgument names the option, its value, and what is legal; an unknown name, a name given twice, and a value out
// of range are errors, and *out is unchanged then.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cambium/column_family.h"
#include "cambium/comparator.h"
#include "cambium/file_system.h"
#include "cambium/options.h"
#include "cambium/status.h"

namespace cambium {

// `base` with what the text says changed. A comparator is the library's own of that name, or the base's.
Status GetDBOptionsFromString(const DBOptions& base, const std::string& text, DBOptions* out);
Status GetColumnFamilyOptionsFromString(const ColumnFamilyOptions& base, const std::string& text,
                                        ColumnFamilyOptions* out);
Status GetOptionsFromString(const Options& base, const std::string& text, Options* out);

// All options that have a text; what the functions above read.
Status GetStringFromDBOptions(std::string* text, const DBOptions& options, const std::string& delimiter = ";");
Status GetStringFromColumnFamilyOptions(std::string* text, const ColumnFamilyOptions& options,
                                        const std::string& delimiter = ";");

// How an OPTIONS file is read.
struct ConfigOptions {
  // Options, and kinds of sections, that this version does not know are passed over. Otherwise they are
  // InvalidArgument, and a file of a later format NotSupported.
  bool ignore_unknown_options = false;
  std::shared_ptr<FileSystem> file_system;  // the operating system's if null; goes to the options that are read
  // Comparators of the caller's own, found by their names. They must outlive the databases.
  std::vector<const Comparator*> comparators;
};

// The options that were in force when the newest OPTIONS file of the database at `path`, open or not, was written: all
// that DB::Open needs, but for objects other than the file system. error_if_exists is among them. NotFound if it has none; Corruption, naming file
// and offset, if it is damaged; InvalidArgument if an option, or a comparator, is not known here.
Status LoadLatestOptions(const ConfigOptions& config, const std::string& path, DBOptions* options,
                         std::vector<ColumnFamilyDescriptor>* families);

}  // namespace cambium
