// SharedLibrary: another store's library, if it is installed. It is loaded at run time, so that the tool also runs
// without it.
#pragma once

#include <dlfcn.h>

#include <initializer_list>
#include <memory>
#include <string>

#include "cambium/status.h"

namespace cambium::tool {

class SharedLibrary {
 public:
  // Loads the first of these names that can be loaded. NotSupported if none can.
  Status Load(std::initializer_list<const char*> names) {
    for (const char* const name : names) {
      handle_.reset(::dlopen(name, RTLD_NOW | RTLD_LOCAL));
      if (handle_ != nullptr) return Status::OK();
    }
    const char* const why = ::dlerror();
    return Status::NotSupported(std::string(*names.begin()) + " is not installed" + (why == nullptr ? "" : std::string(": ") + why));
  }
  template <typename Function>
  Status Find(const char* name, Function** function) const {
    *function = reinterpret_cast<Function*>(::dlsym(handle_.get(), name));
    return *function != nullptr ? Status::OK() : Status::NotSupported(std::string("the library has no ") + name);
  }

 private:
  struct Closer {
    void operator()(void* handle) const { ::dlclose(handle); }
  };
  std::unique_ptr<void, Closer> handle_;
};

}  // namespace cambium::tool
