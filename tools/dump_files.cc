#include "dump_files.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "backup/backup_record.h"
#include "describe.h"
#include "draw.h"
#include "index/run.h"
#include "index/run_footer.h"
#include "inspect/segment_walk.h"
#include "io/whole_file.h"
#include "key_text.h"
#include "manifest/file_names.h"
#include "options/options_file.h"
#include "util/checksum.h"
#include "vlog/segment_footer.h"
#include "vlog/value_reader.h"

namespace cambium::tool {
namespace {

using Json = nlohmann::ordered_json;

// Ends a walk when the output is closed.
Status Enough() { return Status::ShutdownInProgress("the output is closed"); }
Status UnlessEnough(const Status& s) { return s.IsShutdownInProgress() ? Status::OK() : s; }

std::string BaseOf(const std::string& path) { return path.substr(path.rfind('/') + 1); }

std::string PlaceOf(const std::string& file, std::uint64_t offset) { return file + ":" + std::to_string(offset); }

std::string Padded(std::string text, std::size_t width) {
  if (text.size() < width) text.append(width - text.size(), ' ');
  return text;
}

}  // namespace

bool DumpChoice::Wants(const Comparator& order, Slice key) const {
  if (from.has_value() && order.Compare(key, *from) < 0) return false;
  if (to.has_value() && order.Compare(key, *to) >= 0) return false;
  return !prefix.has_value() || key.starts_with(*prefix);
}

void FileDumper::Write(const Json& json, const std::string& text) {
  if (choice_.json) {
    out_->WriteLine(json);
  } else {
    out_->Write(text);
  }
}

void FileDumper::Report(const std::string& problem) {
  problems_->Add(problem);
  Write({{"type", "problem"}, {"what", problem}}, "problem: " + problem + "\n");
}

Status FileDumper::ReportDamage(const Status& s) {
  if (!s.IsCorruption()) return s;
  Report(std::string(s.message()));
  return Status::OK();
}

Result<FileDumper::Opened> FileDumper::Open(const std::string& path) {
  Opened opened;
  FileSystem& fs = *FileSystem::Default();
  CAMBIUM_RETURN_IF_ERROR(fs.Open(path, OpenMode::kReadOnly, {}, &opened.file));
  FileInfo info;
  CAMBIUM_RETURN_IF_ERROR(opened.file->GetInfo(&info));
  if (!info.is_regular) return Status::InvalidArgument(path + ": is not a regular file");
  opened.size = info.size;
  std::string bytes(kFileHeaderSize, '\0');
  std::size_t have = 0;
  CAMBIUM_RETURN_IF_ERROR(opened.file->Read(0, bytes.size(), bytes.data(), &have));
  bytes.resize(have);
  CAMBIUM_TRY(opened.header, DecodeFileHeader(bytes, path));
  return opened;
}

// ---- The log ----

Status FileDumper::DumpSegment(const SegmentInfo& info) {
  const std::string path = FilePath(database_->path(), FileKindOf(info.kind), info.number);
  Json json{{"type", "segment"}};
  json.update(Describe(info));
  const bool is_open = !info.sealed;
  Write(json, "segment " + BaseOf(path) + ": " + NameOf(info.kind) + (is_open ? ", not sealed" : ", sealed") +
                  ", slot " + std::to_string(static_cast<std::uint32_t>(info.slot)) +
                  (info.punched.empty() ? "" : ", " + std::to_string(info.punched.size()) + " values punched") +
                  (info.cut == 0 ? "" : ", cut at " + std::to_string(info.cut)) + "\n");
  const std::shared_ptr<Segment>& segment = database_->segments().Find(info.slot);
  if (segment == nullptr) {
    // Opening the database has counted this problem; note it here too, at its file.
    Write({{"type", "note"}, {"what", path + ": cannot be read"}}, "note: " + path + ": cannot be read\n");
    return Status::OK();
  }
  if (info.kind == SegmentKind::kLargeValue) return DumpLargeValue(path);
  FileInfo file;
  CAMBIUM_RETURN_IF_ERROR(segment->file().GetInfo(&file));
  return WalkLog(segment->file(), segment->seed(), info.sealed ? info.sealed_length : file.size, &info);
}

Status FileDumper::DumpLog(const std::string& path) {
  CAMBIUM_TRY(const Opened opened, Open(path));
  CAMBIUM_TRY(const std::uint64_t footer, FindFooter(*opened.file, opened.header.Seed(), opened.size));
  Write({{"type", "segment"}, {"file", BaseOf(path)}, {"kind", NameOf(opened.header.kind)}, {"footer", footer != 0}},
        "segment " + BaseOf(path) + ": " + NameOf(opened.header.kind) +
            (footer != 0 ? ", with a footer" : ", without a footer") + "\n");
  return WalkLog(*opened.file, opened.header.Seed(), footer != 0 ? footer : opened.size, nullptr);
}

Status FileDumper::WalkLog(const File& file, std::uint64_t seed, std::uint64_t end, const SegmentInfo* info) {
  const std::string name = BaseOf(file.path());
  // The end of the log is known if the segment is sealed or recovery says so. Otherwise it is the end of the last
  // record that validates.
  std::optional<std::uint64_t> log_end;
  if (info != nullptr && database_->has_tail()) log_end = database_->LogEndOf(*info);
  FileInfo facts;
  CAMBIUM_RETURN_IF_ERROR(file.GetInfo(&facts));
  const bool is_sealed = info != nullptr ? info->sealed : end != facts.size;
  bool is_whole = true;
  SegmentWalkCallbacks callbacks;
  callbacks.on_record = [&](const ScannedRecord& record) {
    progress_.Show(record.end(), end);
    return DumpRecord(name, info, record.offset, record.header, record.key, record.stored_value);
  };
  callbacks.on_damage = [&](const DamagedStretch& damage) {
    const bool is_tail = !is_sealed && (log_end.has_value() ? damage.offset >= *log_end : damage.end == end);
    const std::string what = PlaceOf(file.path(), damage.offset) + ": " + damage.reason;
    if (is_tail) {
      Write({{"type", "note"}, {"what", what}, {"end", damage.end}}, "note: the log ends here: " + what + "\n");
    } else {
      is_whole = false;
      Report(what + "; continues at " + std::to_string(damage.end));
    }
    return out_->is_closed() ? Enough() : Status::OK();
  };
  std::uint64_t found_end = 0;
  const std::vector<std::uint64_t> none;
  const Status s =
      WalkSegment(file, seed, info == nullptr ? kFileHeaderSize : info->FirstRecord(), end,
                  info == nullptr ? none : info->punched, callbacks, &found_end);
  if (is_sealed && s.ok() && found_end < end && is_whole && !out_->is_closed()) {
    Report(PlaceOf(file.path(), found_end) + ": the records end before the segment does");
  }
  return ReportDamage(UnlessEnough(s));
}

Status FileDumper::DumpRecord(const std::string& name, const SegmentInfo* info, std::uint64_t offset,
                              const RecordHeader& header, Slice key, Slice stored) {
  if (out_->is_closed()) return Enough();
  const InspectedDatabase::Family* const family = database_ == nullptr ? nullptr : database_->FindFamily(header.family);
  const Comparator& order = family == nullptr ? *BytewiseComparator() : *family->comparator;
  if (choice_.chooses() && (IsControl(header.op) || !choice_.Wants(order, key))) return Status::OK();
  RecordFate fate;
  if (info != nullptr) {
    CAMBIUM_TRY(fate, FateOf(database_, *info, offset, header, key));
  }
  const bool is_hole = info != nullptr && std::ranges::binary_search(info->punched, offset);
  Json json{{"type", "record"},
            {"file", name},
            {"offset", offset},
            {"size", header.RecordSize()},
            {"sequence", header.sequence},
            {"family", header.family},
            {"op", NameOf(header.op)},
            {"key", Format(key, choice_.hex)},
            {"value_size", header.value_size},
            {"codec", NameOf(header.codec)},
            {"batch_index", header.batch_index},
            {"last_of_batch", (header.marks & kLastOfBatch) != 0},
            {"write_time", header.write_time},
            {"durable_sequence", header.DurableSequence()}};
  std::string more;
  if (header.op == RecordOp::kDeleteRange) {
    json["end"] = Format(stored, choice_.hex);
    more += " to " + Format(stored, choice_.hex);
  }
  SegmentLink link;
  if (header.op == RecordOp::kLink && DecodeSegmentLink(stored, &link)) {
    json["before"] = {{"segment", link.number}, {"length", link.length}, {"last_sequence", link.last_sequence}};
    more += "after segment " + std::to_string(link.number) + " of " + std::to_string(link.length) + " bytes";
  }
  LargeValueRef ref;
  if (header.op == RecordOp::kPutLarge && DecodeLargeValueRef(stored, &ref)) {
    json["large_value"] = {{"file", FileName(FileKind::kLargeValue, ref.number)}, {"file_size", ref.file_size}};
    more += " in " + FileName(FileKind::kLargeValue, ref.number);
  }
  if (is_hole) json["punched"] = true, more += " punched";
  const bool is_marked = info != nullptr;
  if (is_marked) {
    json["mark"] = NameOf(fate.mark);
    json["newest"] = fate.is_newest;
    if (*fate.why != '\0') json["why"] = fate.why;
    if (fate.moved_to != ValueAddress()) {
      const std::shared_ptr<Segment>& segment = database_->segments().Find(fate.moved_to.slot());
      const std::string place = segment == nullptr
                                    ? "slot " + std::to_string(static_cast<std::uint32_t>(fate.moved_to.slot()))
                                    : PlaceOf(BaseOf(segment->path()), fate.moved_to.offset());
      json["newest_at"] = place;
      more += ", newest at " + place;
    }
  }
  std::string text = "  " + Padded(PlaceOf(name, offset), 20) + " ";
  if (is_marked)
    text +=
        Padded(std::string(NameOf(fate.mark)) + (fate.is_newest && fate.mark == RecordMark::kPending ? "*" : ""), 9);
  text += Padded(NameOf(header.op), 7) + " seq " + Padded(std::to_string(header.sequence), 8) + " ";
  if (!IsControl(header.op)) {
    text += "family " + std::to_string(header.family) + " " + Abbreviate(key, choice_.hex, 80) + " (" +
            std::to_string(header.value_size) + " bytes)";
  }
  text += more;
  if (is_marked && *fate.why != '\0') text += std::string("  [") + fate.why + "]";
  Write(json, text + "\n");
  return Status::OK();
}

Status FileDumper::DumpLargeValue(const std::string& path) {
  CAMBIUM_TRY(const Opened opened, Open(path));
  const std::string place = PlaceOf(path, kLargeRecordOffset);
  std::string bytes(kRecordHeaderSize, '\0');
  std::size_t have = 0;
  CAMBIUM_RETURN_IF_ERROR(opened.file->Read(kLargeRecordOffset, bytes.size(), bytes.data(), &have));
  RecordHeader header;
  const bool is_header = have == bytes.size() && DecodeRecordHeader(bytes.data(), opened.header.Seed(),
                                                                    kLargeRecordOffset, &header) == HeaderCheck::kValid;
  if (!is_header || header.key_size > kMaxKeySize) {
    Report(place + ": record header checksum mismatch");
    return Status::OK();
  }
  // Reads key and value in pieces: a value may have any size.
  constexpr std::size_t kPiece = 1u << 20;
  const std::uint64_t body = header.key_size + header.value_size;
  std::string key;
  std::string piece(kPiece, '\0');
  Checksum64Stream checksum(0);
  bool is_whole = true;
  for (std::uint64_t done = 0; done < body && is_whole; done += have) {
    const auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(kPiece, body - done));
    CAMBIUM_RETURN_IF_ERROR(
        opened.file->Read(kLargeRecordOffset + kRecordHeaderSize + done, wanted, piece.data(), &have));
    is_whole = have == wanted;
    checksum.Update({piece.data(), have});
    if (key.size() < header.key_size)
      key.append(piece.data(), std::min<std::size_t>(have, header.key_size - key.size()));
    progress_.Show(done, body);
    if (out_->is_closed()) return Status::OK();
  }
  const SegmentInfo* info = nullptr;
  if (database_ != nullptr) {
    const auto found = database_->state().segments.find(opened.header.number);
    if (found != database_->state().segments.end()) info = &found->second;
  }
  CAMBIUM_RETURN_IF_ERROR(UnlessEnough(DumpRecord(BaseOf(path), info, kLargeRecordOffset, header, key, {})));
  if (!is_whole) {
    Report(PlaceOf(path, opened.size) + ": record is truncated");
  } else if (checksum.Digest() != header.body_checksum) {
    Report(place + ": record checksum mismatch");
  }
  return Status::OK();
}

// ---- The index ----

Status FileDumper::DumpIndexSegment(const std::string& path, const Comparator& order, std::uint64_t end,
                                    const std::function<bool(PageId)>& live) {
  CAMBIUM_TRY(const Opened opened, Open(path));
  if (end == 0) end = opened.size;
  Write({{"type", "index segment"}, {"file", BaseOf(path)}, {"page_size", opened.header.page_size}, {"length", end}},
        "index segment " + BaseOf(path) + ": page size " + std::to_string(opened.header.page_size) + ", " +
            std::to_string(end) + " bytes\n");
  return WalkPagesOf(opened, order, end, live);
}

Status FileDumper::DumpRun(const std::string& path, const Comparator& order) {
  CAMBIUM_TRY(Opened opened, Open(path));
  const Result<RunFooter> footer = ReadRunFooter(*opened.file, opened.size, opened.header);
  CAMBIUM_RETURN_IF_ERROR(ReportDamage(footer.status()));
  if (!footer.ok()) return WalkPagesOf(opened, order, opened.size, nullptr);
  Write({{"type", "run"},
         {"file", BaseOf(path)},
         {"page_size", opened.header.page_size},
         {"height", footer->root.height},
         {"entries", footer->root.entry_count},
         {"tombstones", footer->tombstone_count},
         {"range_deletes", footer->range_count},
         {"value_bytes", footer->root.value_bytes},
         {"filter_bytes", footer->filter_size},
         {"smallest", Format(footer->smallest_key, choice_.hex)},
         {"largest", Format(footer->largest_key, choice_.hex)},
         {"largest_is_open", footer->largest_is_open}},
        "run " + BaseOf(path) + ": " + std::to_string(footer->root.entry_count) + " entries, " +
            std::to_string(footer->tombstone_count) + " tombstones, " + std::to_string(footer->range_count) +
            " range deletes, keys " + Abbreviate(footer->smallest_key, choice_.hex, 80) + " to " +
            Abbreviate(footer->largest_key, choice_.hex, 80) + "\n");
  if (footer->range_count != 0) {
    std::string bytes(footer->ranges_size, '\0');
    std::size_t have = 0;
    CAMBIUM_RETURN_IF_ERROR(opened.file->Read(footer->ranges_offset(), bytes.size(), bytes.data(), &have));
    const std::string place = PlaceOf(path, footer->ranges_offset());
    const bool is_right =
        have == bytes.size() &&
        Checksum64(bytes, SeedAt(opened.header.Seed(), footer->ranges_offset())) == footer->ranges_checksum;
    const Result<RangeDeletes> ranges =
        is_right ? RangeDeletes::Decode(bytes, &order) : Status::Corruption("range deletes checksum mismatch");
    if (!ranges.ok()) CAMBIUM_RETURN_IF_ERROR(ReportDamage(ranges.status().WithContext(place)));
    for (std::size_t i = 0; ranges.ok() && choice_.entries && i < ranges->count(); ++i) {
      Write({{"type", "range delete"},
             {"file", BaseOf(path)},
             {"begin", Format(ranges->begin(i), choice_.hex)},
             {"end", Format(ranges->end(i), choice_.hex)}},
            "  range delete " + Format(ranges->begin(i), choice_.hex) + " to " + Format(ranges->end(i), choice_.hex) +
                "\n");
    }
  }
  return WalkPagesOf(opened, order, footer->filter_offset, nullptr);
}

Status FileDumper::WalkPagesOf(const Opened& opened, const Comparator& order, std::uint64_t end,
                               const std::function<bool(PageId)>& live) {
  const std::string& path = opened.file->path();
  const std::string name = BaseOf(path);
  if (opened.header.page_size < kPageSizeMin || !IsLegalPageSize(opened.header.page_size)) {
    Report(PlaceOf(path, 80) + ": page size " + std::to_string(opened.header.page_size));
    return Status::OK();
  }
  // The walk needs a file of its own that it can share.
  std::unique_ptr<File> again;
  CAMBIUM_RETURN_IF_ERROR(FileSystem::Default()->Open(path, OpenMode::kReadOnly, {}, &again));
  const IndexFile file(std::shared_ptr<File>(std::move(again)), opened.header, nullptr);
  PageWalkCallbacks callbacks;
  callbacks.on_page = [&](const WalkedPage& page) {
    if (out_->is_closed()) return Enough();
    progress_.Show(page.offset, end);
    DumpPage(name, page, live);
    if (choice_.entries && page.view->is_leaf()) DumpEntries(name, page, order);
    return Status::OK();
  };
  callbacks.on_damage = [&](const DamagedStretch& damage) {
    Report(damage.reason + (damage.end < end ? "; continues at " + std::to_string(damage.end) : ""));
    return out_->is_closed() ? Enough() : Status::OK();
  };
  return ReportDamage(UnlessEnough(WalkPages(file, end, callbacks)));
}

void FileDumper::DumpPage(const std::string& name, const WalkedPage& page, const std::function<bool(PageId)>& live) {
  const PageView& view = *page.view;
  std::string scratch;
  const std::uint32_t keys = view.key_count();
  const std::string first = keys == 0 ? "" : view.key(0, &scratch).ToString();
  const std::string last = keys == 0 ? "" : view.key(keys - 1, &scratch).ToString();
  Json json{{"type", "page"},
            {"file", name},
            {"offset", page.offset},
            {"size", page.stored_bytes},
            {"page", view.is_leaf() ? "leaf" : "branch"},
            {"level", view.level()},
            {"count", view.count()},
            {"first", Format(first, choice_.hex)},
            {"last", Format(last, choice_.hex)},
            {"used", view.used_bytes()},
            {"raw_size", view.bytes().size()},
            {"compressed", page.is_compressed},
            {"filter_blocks", view.filter().count},
            {"value_bytes", view.value_bytes()}};
  if (live) json["mark"] = live(view.id()) ? "live" : "dead";
  Write(json, "  " + Padded(PlaceOf(name, page.offset), 20) + " " +
                  (live ? Padded(live(view.id()) ? "live" : "dead", 9) : "") +
                  (view.is_leaf() ? "leaf" : "branch of level " + std::to_string(view.level())) + ", " +
                  std::to_string(view.count()) + (view.is_leaf() ? " entries, " : " children, ") +
                  std::to_string(view.used_bytes()) + " of " + std::to_string(view.bytes().size()) + " bytes" +
                  (page.is_compressed ? ", compressed to " + std::to_string(page.stored_bytes) : "") + ", " +
                  Abbreviate(first, choice_.hex, 40) + " to " + Abbreviate(last, choice_.hex, 40) + "\n");
}

void FileDumper::DumpEntries(const std::string& name, const WalkedPage& page, const Comparator& order) {
  const PageView& view = *page.view;
  std::string scratch;
  for (std::uint32_t i = 0; i < view.count(); ++i) {
    const Slice key = view.key(i, &scratch);
    if (choice_.chooses() && !choice_.Wants(order, key)) continue;
    const Entry entry = view.entry(i);
    Json its{{"type", "entry"},
             {"file", name},
             {"page", page.offset},
             {"key", Format(key, choice_.hex)},
             {"kind", NameOf(entry.kind)}};
    std::string text = "    " + Abbreviate(key, choice_.hex, 80) + "  " + NameOf(entry.kind);
    if (entry.HasAddress()) {
      its["slot"] = static_cast<std::uint32_t>(entry.address.slot());
      its["offset"] = entry.address.offset();
      its["size"] = entry.address.size();
      text += " at slot " + std::to_string(static_cast<std::uint32_t>(entry.address.slot())) + ", offset " +
              std::to_string(entry.address.offset()) + ", " + std::to_string(entry.address.size()) + " bytes";
    } else if (entry.kind == EntryKind::kInline) {
      its["value_size"] = entry.inline_value.size();
      text += ", " + std::to_string(entry.inline_value.size()) + " bytes";
      if (entry.version() != 0) {
        its["version"] = entry.version();
        text += ", version " + std::to_string(entry.version());
      }
    }
    Write(its, text + "\n");
  }
}

// ---- The rest ----

Status FileDumper::DumpManifest(const std::string& path) {
  const std::string name = BaseOf(path);
  Write({{"type", "manifest"}, {"file", name}}, "manifest " + name + "\n");
  ManifestRead read;
  const Status s = ReadManifestFile(
      *FileSystem::Default(), path,
      [&](const ManifestRecordSeen& record) {
        Json json{{"type", "edit"}, {"file", name}};
        const Json its = Describe(record, choice_.hex);
        json.update({{"offset", its["offset"]}, {"size", its["size"]}, {"record", its["type"]}, {"edit", its["edit"]}});
        Write(json, "  " + Padded(PlaceOf(name, record.offset), 28) + its["type"].get<std::string>() + ", " +
                        std::to_string(record.size) + " bytes\n" + DrawJsonAsText(its["edit"], 4));
      },
      &read);
  return ReportDamage(s);
}

Status FileDumper::DumpOptions(const std::string& path) {
  const Result<OptionsFileText> text = ReadOptionsFile(*FileSystem::Default(), path);
  if (!text.ok()) return ReportDamage(text.status());
  const auto dump = [&](const std::string& section, const OptionTexts& options) {
    for (const auto& option : options) {
      Write({{"type", "option"}, {"section", section}, {"name", option.first}, {"value", option.second}},
            "[" + section + "] " + option.first + "=" + option.second + "\n");
    }
  };
  if (text->adds_to != 0) dump("Version", {{"adds_to", std::to_string(text->adds_to)}});
  for (const std::string& name : text->dropped) dump("DroppedCFOptions", {{"name", name}});
  if (text->adds_to == 0) dump("DBOptions", text->db);
  for (const auto& [name, options] : text->families) dump("CFOptions \"" + name + "\"", options);
  return Status::OK();
}

Status FileDumper::DumpBackupRecord(const std::string& path) {
  CAMBIUM_TRY(const std::string bytes, ReadWholeFile(*FileSystem::Default(), path, kBackupRecordSizeMax));
  const Result<BackupRecord> record = DecodeBackupRecord(bytes, ParseBackupRecordName(BaseOf(path)), path);
  if (!record.ok()) return ReportDamage(record.status());
  Write({{"type", "backup"},
         {"id", record->id},
         {"created", record->created_seconds},
         {"sequence", record->sequence},
         {"metadata", record->metadata}},
        "backup " + std::to_string(record->id) + ": sequence " + std::to_string(record->sequence) + ", created " +
            std::to_string(record->created_seconds) + ", " + record->metadata + "\n");
  for (const BackupFile& file : record->files) {
    const std::string name = FileName(file.name.kind, file.name.number);
    Write({{"type", "file"}, {"name", name}, {"bytes", file.length}, {"stored", file.stored}},
          "  " + name + "  " + std::to_string(file.length) + " bytes, as " + file.stored + "\n");
  }
  return Status::OK();
}

Status FileDumper::DumpHeader(const std::string& path) {
  CAMBIUM_TRY(const Opened opened, Open(path));
  Write({{"type", "header"},
         {"file", BaseOf(path)},
         {"kind", NameOf(opened.header.kind)},
         {"number", opened.header.number},
         {"epoch", opened.header.epoch},
         {"created", opened.header.created_seconds},
         {"page_size", opened.header.page_size},
         {"database_id", IdText(opened.header.database_id)},
         {"file_id", IdText(opened.header.file_id)},
         {"size", opened.size}},
        "file " + BaseOf(path) + ": " + NameOf(opened.header.kind) + ", number " +
            std::to_string(opened.header.number) + ", epoch " + std::to_string(opened.header.epoch) + ", " +
            std::to_string(opened.size) + " bytes, id " + IdText(opened.header.file_id) + "\n");
  return Status::OK();
}

}  // namespace cambium::tool
