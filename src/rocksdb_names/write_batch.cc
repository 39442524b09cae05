#include "cambium/rocksdb_names/rocksdb/write_batch.h"

#include <utility>

namespace rocksdb::inline on_cambium {
namespace {

// A handler of the program's, for Cambium.
class HandlerOnCambium final : public cambium::WriteBatch::Handler {
 public:
  explicit HandlerOnCambium(WriteBatch::Handler* user) : user_(user) {}
  // Not called: Cambium calls PutCF and DeleteCF instead.
  Status Put(Slice key, Slice value) override { return user_->PutCF(0, key, value); }
  Status Delete(Slice key) override { return user_->DeleteCF(0, key); }
  Status PutCF(std::uint32_t family, Slice key, Slice value) override { return user_->PutCF(family, key, value); }
  Status DeleteCF(std::uint32_t family, Slice key) override { return user_->DeleteCF(family, key); }
  Status SingleDeleteCF(std::uint32_t family, Slice key) override { return user_->SingleDeleteCF(family, key); }
  Status DeleteRangeCF(std::uint32_t family, Slice begin, Slice end) override {
    return user_->DeleteRangeCF(family, begin, end);
  }
  bool Continue() override { return user_->Continue(); }

 private:
  WriteBatch::Handler* const user_;
};

Status NotForFamilies(const char* function) {
  return Status::InvalidArgument("the handler of a write batch does not override " + std::string(function) +
                                 ", and takes only the default family");
}

}  // namespace

WriteBatch::WriteBatch(const std::string& rep) {
  Status made = FromData(rep, this);
  if (!made.ok()) static_cast<void>(Refuse(std::move(made)));
}

Status WriteBatch::PutLogData(const Slice& /*blob*/) {
  return Refuse(Status::NotSupported("data for readers of the log are not in this version"));
}

Status WriteBatch::Iterate(Handler* handler) const {
  HandlerOnCambium form(handler);
  return cambium::WriteBatch::Iterate(&form);
}

Status WriteBatch::Handler::PutCF(std::uint32_t family, const Slice& key, const Slice& value) {
  if (family != 0) return NotForFamilies("PutCF");
  Put(key, value);
  return Status::OK();
}
Status WriteBatch::Handler::DeleteCF(std::uint32_t family, const Slice& key) {
  if (family != 0) return NotForFamilies("DeleteCF");
  Delete(key);
  return Status::OK();
}
Status WriteBatch::Handler::SingleDeleteCF(std::uint32_t family, const Slice& key) {
  if (family != 0) return NotForFamilies("SingleDeleteCF");
  SingleDelete(key);
  return Status::OK();
}
Status WriteBatch::Handler::DeleteRangeCF(std::uint32_t /*family*/, const Slice& /*begin*/, const Slice& /*end*/) {
  return Status::InvalidArgument("the handler of a write batch does not override DeleteRangeCF");
}
Status WriteBatch::Handler::MergeCF(std::uint32_t family, const Slice& key, const Slice& operand) {
  if (family != 0) return NotForFamilies("MergeCF");
  Merge(key, operand);
  return Status::OK();
}

}  // namespace rocksdb::inline on_cambium
