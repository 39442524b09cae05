#include "api/write_preparer.h"

#include <cassert>
#include <string>

#include "vlog/record_format.h"

namespace cambium {

Status CheckSizes(const Family& family, Slice key, Slice value) {
  const std::size_t key_size_max = MaxKeySizeFor(static_cast<std::uint32_t>(family.options().page_size));
  if (key.size() > key_size_max) {
    return Status::InvalidArgument("key of " + std::to_string(key.size()) + " bytes; the most is " +
                                   std::to_string(key_size_max) + " with this page_size");
  }
  if (value.size() > kMaxValueBytes) {
    return Status::InvalidArgument("value of " + std::to_string(value.size()) + " bytes; the most is " +
                                   std::to_string(kMaxValueBytes));
  }
  return Status::OK();
}

PreparedBatch::Rules WritePreparer::RulesOf(const Family& family) const {
  const OptionsInForce& its = family.in_force();
  return {its.separate_from, its.codec, static_cast<std::uint32_t>(db_.options.clock->WallSeconds()),
          db_.meter.is_on() ? &db_.meter : nullptr};
}

Status WritePreparer::AddPut(const WriteOptions& options, const Family& family, Slice key, Slice value,
                             PreparedWrite* write) {
  CAMBIUM_RETURN_IF_ERROR(CheckSizes(family, key, value));
  CAMBIUM_RETURN_IF_ERROR(disk_keeper_.CheckGrowth());
  if (value.size() <= family.options().large_value_size) {
    write->batch.Put(family.id, key, value);
    return Status::OK();
  }
  LargeValueRef ref;
  ValueAddress address;
  CAMBIUM_RETURN_IF_ERROR(space_keeper_.Await(options, value.size()));  // before the file takes space
  std::uint64_t& number = write->large.emplace_back(0);  // first: a file that was made is never forgotten
  if (Status s = large_values_.Write(family, key, value, !options.no_slowdown, &number, &ref, &address); !s.ok()) {
    write->large.pop_back();
    return s;
  }
  assert(number == ref.number);
  write->batch.PutLarge(family.id, key, ref, address);
  return Status::OK();
}

}  // namespace cambium
