// Options as text: in strings, and in a database's OPTIONS file. Names and syntax are RocksDB's.
//
//   cambium::Options options;
//   cambium::Status s = cambium::GetOptionsFromString({}, "create_if_missing=true; write_buffer_size=16M", &options);
//
// The text is "name=value;name=value". Spaces around names and values are ignored; a value may be enclosed in braces.
// Whole numbers may end in K, M, G or T (1024, its square, and so on); truth values are true or false; enumerators and
// comparators are given by name. Objects, such as file_system, have no text form: they are taken from the base.
// docs/OPTIONS.md lists all names.
//
// Errors are an unknown name, a name given twice, and a value out of range. InvalidArgument names the option, its
// value, and the legal range; *out is then unchanged.
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

// Sets *out to `base` with the changes of the text. A comparator name must be the library's own or the base's.
Status GetDBOptionsFromString(const DBOptions& base, const std::string& text, DBOptions* out);
Status GetColumnFamilyOptionsFromString(const ColumnFamilyOptions& base, const std::string& text,
                                        ColumnFamilyOptions* out);
Status GetOptionsFromString(const Options& base, const std::string& text, Options* out);

// Writes all options that have a text form, as the functions above read them.
Status GetStringFromDBOptions(std::string* text, const DBOptions& options, const std::string& delimiter = ";");
Status GetStringFromColumnFamilyOptions(std::string* text, const ColumnFamilyOptions& options,
                                        const std::string& delimiter = ";");

// How an OPTIONS file is read.
struct ConfigOptions {
  // If true, options and sections that this version does not know are skipped. If false they are InvalidArgument, and a
  // file of a later format is NotSupported.
  bool ignore_unknown_options = false;
  std::shared_ptr<FileSystem> file_system;  // null: the operating system's. The returned options get it too
  // Comparators of the caller's own, found by name. They must outlive the databases.
  std::vector<const Comparator*> comparators;
};

// Reads the newest OPTIONS file of the database at `path`, open or not: everything that DB::Open needs, error_if_exists
// included, except objects other than the file system. NotFound if the database has no such file; Corruption, naming
// file and offset, if it is damaged; InvalidArgument if this version does not know an option or comparator in it.
Status LoadLatestOptions(const ConfigOptions& config, const std::string& path, DBOptions* options,
                         std::vector<ColumnFamilyDescriptor>* families);

}  // namespace cambium
