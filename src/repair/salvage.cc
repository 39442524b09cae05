#include "repair/salvage.h"

#include <algorithm>

#include "vlog/record_format.h"
#include "vlog/value_reader.h"

namespace cambium {

namespace {

bool Covers(const SalvagedFamily& family, const SalvagedFamily::Ranges& layer, Slice key) {
  return layer.ranges->Covers(key) && (!layer.from.has_value() || family.order->Compare(key, *layer.from) >= 0);
}
bool MayHave(const SalvagedFamily::Gaps& layer, Slice key) {
  return layer.keys.Contains(key) && (layer.filter == nullptr || layer.filter->MayContain(key));
}

}  // namespace

bool SalvagedFamily::IsDeleted(Slice key) const {
  return std::ranges::any_of(ranges, [&](const Ranges& layer) { return Covers(*this, layer, key); });
}

bool SalvagedFamily::IsDeletedForSure(Slice key) const {
  const auto newest = std::ranges::find_if(ranges, [&](const Ranges& layer) { return Covers(*this, layer, key); });
  return newest != ranges.end() && std::ranges::none_of(gaps, [&](const Gaps& layer) {
           return layer.depth <= newest->depth && MayHave(layer, key);
         });
}

bool SalvagedFamily::IsInDoubt(Slice key) const {
  return std::ranges::any_of(gaps, [&](const Gaps& layer) { return MayHave(layer, key); });
}

bool Salvage::IsNamed(const std::string& name) const {
  return std::ranges::find(wanted, name, &ColumnFamilyDescriptor::name) != wanted.end();
}

ColumnFamilyOptions Salvage::OptionsOf(const std::string& name) const {
  const auto find = [this](const std::string& wanted_name) {
    return std::ranges::find(wanted, wanted_name, &ColumnFamilyDescriptor::name);
  };
  if (const auto named = find(name); named != wanted.end()) return named->options;
  ColumnFamilyOptions options;
  // All families share the log, so they have the same blob_file_size.
  if (!wanted.empty()) options.blob_file_size = wanted.front().options.blob_file_size;
  const auto first = find(kDefaultColumnFamilyName);
  if (first != wanted.end()) options.index_type = first->options.index_type;
  return options;
}

void Salvage::ReportLost(const RepairLoss& loss) {
  ++report->lost;
  if (how.on_lost) how.on_lost(loss);
}

void Salvage::ReportLost(const SalvagedFamily& family, Slice key, const std::string& what) {
  ReportLost({family.name, key.ToString(), std::nullopt, std::nullopt, 1, what});
}

void Salvage::ReportLost(const SalvagedFamily& family, const KeySpan& span, std::uint64_t entries,
                       const std::string& what) {
  ReportLost({family.name, std::nullopt, span.from, span.to, entries, what});
}

void Salvage::Advance(std::uint64_t bytes) {
  constexpr std::uint64_t kBetween = 1u << 20;
  bytes_done_ += bytes;
  if (!how.progress || bytes_done_ < bytes_reported_ + kBetween) return;
  bytes_reported_ = bytes_done_;
  how.progress(std::min(bytes_done_, bytes_all), bytes_all);
}

Status Salvage::ReadAt(std::uint32_t family, Slice key, ValueAddress address, Slice* value, SequenceNumber* sequence) {
  const Comparator* const order = families.at(family).order;
  const ValueQuery query = {address, family, key, true, order->EqualMeansSameBytes() ? nullptr : order};
  *sequence = 0;
  *value = Slice();
  CAMBIUM_TRY(const ValuePlace place, LocateValue(segments, query));
  if (buffer.size() < place.size) buffer.resize(place.size);
  std::size_t have = 0;
  CAMBIUM_RETURN_IF_ERROR(place.segment->file().Read(place.offset, place.size, buffer.data(), &have));
  Advance(have);
  RecordHeader header;
  if (have >= kRecordHeaderSize &&
      DecodeRecordHeader(buffer.data(), place.segment->seed(), place.offset, &header) == HeaderCheck::kValid) {
    *sequence = header.sequence;
  }
  return ParseValue(place, query, {buffer.data(), have}, &buffer, value);
}

std::string Salvage::PlaceOf(ValueAddress address) const {
  const std::shared_ptr<Segment>& segment = segments.Find(address.slot());
  if (segment == nullptr) return "slot " + std::to_string(static_cast<std::uint32_t>(address.slot()));
  const std::uint64_t offset = address.kind() == EntryKind::kLargeValue ? kLargeRecordOffset : address.offset();
  return segment->path() + ":" + std::to_string(offset);
}

}  // namespace cambium
