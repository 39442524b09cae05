#include "core.h"

#include <utility>

namespace cambium_node {

namespace {

// The open databases of the process, by number. Never destroyed: threads of the library may outlive main().
struct Registry {
  std::mutex mutex;
  std::map<std::uint64_t, Core*> open;
  std::uint64_t last_number = 0;
};
Registry& TheRegistry() {
  static auto* const registry = new Registry;
  return *registry;
}

}  // namespace

Family::Family(std::shared_ptr<Core> core, cambium_column_family_handle_t* handle, Order order)
    : core_(std::move(core)), handle_(handle), id_(cambium_column_family_handle_get_id(handle)), order_(order) {
  std::size_t length = 0;
  char* const name = cambium_column_family_handle_get_name(handle, &length);
  name_.assign(name, length);
  cambium_free(name);
}

Family::~Family() {
  const std::lock_guard lock(core_->mutex_);
  core_->all_.erase(this);
  if (handle_ != nullptr) cambium_column_family_handle_destroy(handle_);
}

Core::Core(std::string path, bool is_read_only, std::shared_ptr<Options> options)
    : path_(std::move(path)), is_read_only_(is_read_only), options_(std::move(options)) {
  Keep(options_);
}

void Core::Keep(const std::shared_ptr<Options>& options) {
  if (options->order() == Order::kFunction) has_comparator_.store(true);
  if (options->has_filter()) has_filter_.store(true);
  kept_.push_back(options);
}

void Core::Add(const std::string& name, cambium_column_family_handle_t* handle, Order order) {
  auto family = std::make_shared<Family>(shared_from_this(), handle, order);
  all_.insert(family.get());
  by_name_[name] = std::move(family);
}

LockOptions::LockOptions(const std::int64_t (&numbers)[4]) : options_(cambium_transactiondb_options_create()) {
  cambium_transactiondb_options_set_max_num_locks(options_, numbers[0]);
  cambium_transactiondb_options_set_num_stripes(options_, static_cast<std::size_t>(numbers[1]));
  cambium_transactiondb_options_set_transaction_lock_timeout(options_, numbers[2]);
  cambium_transactiondb_options_set_default_lock_timeout(options_, numbers[3]);
}

std::shared_ptr<Core> Core::Open(const std::string& path, bool is_read_only, std::shared_ptr<Options> options,
                                 std::shared_ptr<NamedOptions> families, std::shared_ptr<LockOptions> locks,
                                 Error* error) {
  const std::shared_ptr<Core> core(new Core(path, is_read_only, options));
  if (families == nullptr && locks != nullptr) {
    core->transaction_db_ = cambium_transactiondb_open(options->get(), locks->get(), path.c_str(), error->Out());
    core->db_ = cambium_transactiondb_as_db(core->transaction_db_);
    if (core->db_ == nullptr) return nullptr;
    core->Add("default", cambium_get_default_column_family_handle(core->db_), options->order());
  } else if (families == nullptr) {
    core->db_ = is_read_only ? cambium_open_for_read_only(options->get(), path.c_str(), error->Out())
                             : cambium_open(options->get(), path.c_str(), error->Out());
    if (core->db_ == nullptr) return nullptr;
    core->Add("default", cambium_get_default_column_family_handle(core->db_), options->order());
  } else {
    std::vector<cambium_column_family_handle_t*> handles(families->names.size());
    if (locks != nullptr) {
      core->transaction_db_ = cambium_transactiondb_open_column_families(
          options->get(), locks->get(), path.c_str(), families->count(), families->c_names.data(),
          families->c_options.data(), handles.data(), error->Out());
      core->db_ = cambium_transactiondb_as_db(core->transaction_db_);
    } else {
      const auto open = is_read_only ? &cambium_open_for_read_only_column_families : &cambium_open_column_families;
      core->db_ = open(options->get(), path.c_str(), families->count(), families->c_names.data(),
                       families->c_options.data(), handles.data(), error->Out());
    }
    if (core->db_ == nullptr) return nullptr;
    for (std::size_t i = 0; i < handles.size(); ++i) {
      core->Keep(families->options[i]);
      core->Add(families->names[i], handles[i], families->options[i]->order());
    }
  }
  Registry& registry = TheRegistry();
  const std::lock_guard lock(registry.mutex);
  core->number_ = ++registry.last_number;
  registry.open[core->number_] = core.get();
  return core;
}

std::shared_ptr<Core> Core::Attach(std::uint64_t number) {
  Registry& registry = TheRegistry();
  const std::lock_guard lock(registry.mutex);
  const auto found = registry.open.find(number);
  if (found == registry.open.end()) return nullptr;
  // The thread that compares may end before the others.
  if (found->second->has_comparator()) {
    throw Failure{"Not implemented: a database with a comparator in JavaScript cannot be shared"};
  }
  found->second->was_shared_.store(true);
  ++found->second->users_;
  return found->second->shared_from_this();
}

void Core::Leave(Error* error) {
  {
    Registry& registry = TheRegistry();
    const std::lock_guard lock(registry.mutex);
    if (--users_ > 0) return;
    registry.open.erase(number_);
  }
  Close(error);
}

void Core::Close(Error* error) {
  std::map<std::string, std::shared_ptr<Family>> released;
  {
    const std::lock_guard lock(mutex_);
    for (Family* const family : all_) {
      cambium_column_family_handle_destroy(std::exchange(family->handle_, nullptr));
    }
    released.swap(by_name_);
  }
  cambium_t* const db = std::exchange(db_, nullptr);
  // All that belonged to the database is gone, so only memory can have been missing. Nothing would close it later.
  if (cambium_close_with_status(db, error->Out()) == 0) cambium_close(db);
}

std::shared_ptr<Family> Core::DefaultFamily() const {
  const std::lock_guard lock(mutex_);
  const auto found = by_name_.find("default");
  return found == by_name_.end() ? nullptr : found->second;
}

std::vector<std::shared_ptr<Family>> Core::Families() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::shared_ptr<Family>> families;
  for (const auto& [name, family] : by_name_) families.push_back(family);
  return families;
}

std::shared_ptr<Family> Core::CreateFamily(const std::string& name, std::shared_ptr<Options> options, Error* error) {
  // Before the family exists, because a call that begins meanwhile must know of its functions.
  {
    const std::lock_guard lock(mutex_);
    Keep(options);
  }
  cambium_column_family_handle_t* const handle =
      cambium_create_column_family(db_, options->get(), name.c_str(), error->Out());
  if (handle == nullptr) return nullptr;
  const std::lock_guard lock(mutex_);
  Add(name, handle, options->order());
  return by_name_[name];
}

void Core::DropFamily(const std::shared_ptr<Family>& family, Error* error) {
  cambium_drop_column_family(db_, family->handle(), error->Out());
  if (error->IsSet()) return;
  const std::lock_guard lock(mutex_);
  const auto found = by_name_.find(family->name());
  if (found != by_name_.end() && found->second == family) by_name_.erase(found);
}

}  // namespace cambium_node
