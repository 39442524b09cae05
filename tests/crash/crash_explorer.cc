#include "crash/crash_explorer.h"

#include <algorithm>
#include <utility>

#include "testing/program/engine_rules.h"
#include "testing/hook_scope.h"
#include "testing/program/program_database.h"
#include "testing/program/read_all.h"
#include "util/checksum.h"

namespace cambium::testing {
namespace {

// Keeps one of the offered items, each with the same probability.
template <typename T>
class Reservoir {
 public:
  explicit Reservoir(Prng* prng) : prng_(prng) {}
  template <typename Make>
  void Offer(Make make) {
    if (prng_->OneIn(++seen_)) kept_ = make();
  }
  [[nodiscard]] const std::optional<T>& kept() const { return kept_; }

 private:
  Prng* prng_;
  std::uint64_t seen_ = 0;
  std::optional<T> kept_;
};

// Adds the read counts of a file system to *all when it is destroyed.
class CountReads {
 public:
  CountReads(std::shared_ptr<SimFileSystem> fs, SimReadCounts* all) : fs_(std::move(fs)), all_(all) {}
  ~CountReads() { *all_ += fs_->read_counts(); }
  CountReads(const CountReads&) = delete;
  CountReads& operator=(const CountReads&) = delete;

 private:
  const std::shared_ptr<SimFileSystem> fs_;
  SimReadCounts* const all_;
};

bool IsQuotaFault(FaultClass fault) { return fault == FaultClass::kNoSpace || fault == FaultClass::kNoSpaceLate; }

// A checksum of all that a process can see on the disk: names, sizes and bytes, on the device and in the page cache.
std::uint64_t FingerprintOf(const SimImage& image) {
  Checksum64Stream all(0);
  const auto add_number = [&](std::uint64_t n) { all.Update(Slice(reinterpret_cast<const char*>(&n), sizeof(n))); };
  const auto add_names = [&](const auto& names) {
    for (const auto& [name, inode] : names) {
      all.Update(name);
      add_number(inode);
    }
    add_number(names.size());
  };
  const auto add_content = [&](const SimContent& content) {
    content.ForEachWrittenBlock(0, content.size(), [&](std::uint64_t block) {
      char bytes[SimContent::kBlockSize];
      content.Read(block * SimContent::kBlockSize, SimContent::kBlockSize, bytes);
      add_number(block);
      all.Update(Slice(bytes, sizeof(bytes)));
    });
    add_number(content.size());
    add_number(content.allocated_bytes());
  };
  for (const SimRef<SimInode>& inode : image.disk().inodes()) {
    add_number(inode->id);
    add_names(inode->names);
    add_content(inode->device);
    if (inode->cache_differs) add_content(inode->cache);
  }
  return all.Digest();
}

std::string Describe(const SimOp& op) {
  return "before operation " + std::to_string(op.index) + " (" + SimOpName(op.kind) + " " + std::string(op.path) + ")";
}

}  // namespace

const char* FaultClassName(FaultClass fault) {
  static const char* const kNames[kFaultClasses] = {"no fault",
                                                    "sync drops pages, cache keeps them",
                                                    "sync drops pages, cache reverts",
                                                    "sync fails falsely",
                                                    "sync fails late",
                                                    "write error",
                                                    "read error",
                                                    "other error",
                                                    "no space",
                                                    "no space, reported late"};
  return kNames[static_cast<int>(fault)];
}

CrashExplorer::CrashExplorer(const Program& program, std::uint64_t seed, const ExplorerSettings& settings)
    : program_(program),
      settings_(settings),
      prng_(seed),
      next_operation_id_(program.operations.empty() ? 1 : program.operations.back().id + 1000) {}

CrashExplorer::~CrashExplorer() = default;

SimOptions CrashExplorer::SimOptionsFor(std::uint64_t seed) const {
  SimOptions options;
  options.seed = seed;
  options.names = settings_.names;
  program_.config.ApplyTo(&options);
  options.shuffle_reads = seed % 2 == 0;
  return options;
}

// If a lying sync has dropped a page, the next append to it writes the whole page again, and the database cannot know.
// Torn or garbage sectors of that write would damage bytes that were synced long before, so they are left out.
DamageMix CrashExplorer::MixFor(const Captured& captured) const {
  DamageMix mix = settings_.mix;
  if (captured.lied_to) mix.torn_per_mille = mix.garbage_per_mille = 0;
  return mix;
}

std::string CrashExplorer::Run() {
  if (std::string wrong = RunFirstLife(); !wrong.empty()) return wrong;
  for (const Captured& captured : captured_) {
    if (std::string wrong = CheckCaptured(captured); !wrong.empty()) return wrong;
  }
  return "";
}

// Reservoir sampling: every operation has the same chance, although their number is not known in advance.
void CrashExplorer::Capture(const Captured& captured) {
  ++seen_;
  if (captured_.size() < settings_.images_max) {
    captured_.push_back(captured);
  } else if (const std::uint64_t place = prng_.Uniform(seen_); place < captured_.size()) {
    captured_[place] = captured;
  }
}

void CrashExplorer::AddFault(SimFileSystem* fs) {
  SimFault fault;
  fault.status = Status::IOError("injected fault");
  switch (settings_.fault) {
    case FaultClass::kNone:
    case FaultClass::kNoSpace:
    case FaultClass::kNoSpaceLate: return;
    case FaultClass::kWriteError:
      fault.kind = SimOpKind::kWrite;
      fault.nth = 1 + prng_.Skewed(7);
      fault.short_bytes = prng_.OneIn(2) ? 0 : prng_.Skewed(14);
      fault.takes_effect = prng_.OneIn(4);
      fault.sticky = prng_.OneIn(4);
      break;
    case FaultClass::kReadError:
      fault.kind = SimOpKind::kRead;
      fault.nth = 1 + prng_.Skewed(9);
      fault.sticky = prng_.OneIn(4);
      break;
    case FaultClass::kOtherError:
      fault.matches = [](SimOpKind kind, const std::string&) {
        return kind != SimOpKind::kWrite && kind != SimOpKind::kRead && kind != SimOpKind::kSync &&
               kind != SimOpKind::kSyncDirectory;
      };
      fault.nth = 1 + prng_.Skewed(8);
      fault.sticky = prng_.OneIn(8);
      fault.takes_effect = prng_.OneIn(4);
      break;
    default:
      fault.matches = [](SimOpKind kind, const std::string&) {
        return kind == SimOpKind::kSync || kind == SimOpKind::kSyncDirectory;
      };
      fault.nth = 1 + prng_.Skewed(6);
      fault.partial_drop = prng_.OneIn(2);
      fault.sync = settings_.fault == FaultClass::kSyncDropKeepCache     ? SyncFailure::kDropKeepCache
                   : settings_.fault == FaultClass::kSyncDropRevertCache ? SyncFailure::kDropRevertCache
                   : settings_.fault == FaultClass::kSyncFalse           ? SyncFailure::kFalse
                                                                         : SyncFailure::kLate;
      break;
  }
  fs->AddFault(fault);
}

// The state that the helpers of RunFirstLife share.
struct CrashExplorer::FirstLife {
  FirstLife(const Program& program, std::shared_ptr<SimFileSystem> file_system, FaultClass fault_class)
      : fs(std::move(file_system)),
        fault(fault_class),
        database(program.config, fs, program.seed),
        timeline_of_lie(NewTimeline(program)) {}

  // A sync has lied: it returned OK although it dropped data (kSyncLate).
  [[nodiscard]] bool lied_to() const { return fault == FaultClass::kSyncLate && fs->fault_hits() > 0; }
  void LiftFaults() const {
    fs->ClearFaults();
    fs->SetQuota(~std::uint64_t{0});
  }
  void NoteSync(const SimOp& op) {
    if (!IsFailedSync(op)) return;
    sync_failed_ever = cache_is_doubted = true;
    if (!op.status->IsNoSpace()) sync_failed = true;
  }
  void OnOpen() {
    sync_failed = cache_is_doubted = false;
    if (rules != nullptr) rules->OnOpen();
  }
  [[nodiscard]] Runner::Policy MakePolicy() {
    Runner::Policy policy;
    policy.faults = fault != FaultClass::kNone;
    policy.lift_faults = [this] { LiftFaults(); };
    policy.sync_has_failed = [this] { return sync_failed; };
    policy.cache_is_doubted = [this] { return cache_is_doubted; };
    policy.unsynced_is_gone = [this] { return cache_is_doubted && fault == FaultClass::kSyncDropRevertCache; };
    return policy;
  }

  const std::shared_ptr<SimFileSystem> fs;
  const FaultClass fault;
  ProgramDatabase database;
  bool sync_failed = false;            // since this Open, with an error other than NoSpace
  bool sync_failed_ever = false;       // with any error
  bool cache_is_doubted = false;       // a sync failed since this Open, with any error
  std::unique_ptr<EngineRules> rules;  // null: not checked
  // The operations that were synced before the device lied, and the timeline at that time. Acknowledgements after the
  // lie prove nothing, so a timeline that begins after it proves nothing either.
  std::size_t synced_before_lie = 0;
  std::shared_ptr<Timeline> timeline_of_lie;
  std::optional<Runner> runner;
};

std::string CrashExplorer::RunFirstLife() {
  SimOptions sim_options = SimOptionsFor(program_.seed);
  sim_options.delayed_allocation = settings_.fault == FaultClass::kNoSpaceLate;
  const auto fs = std::make_shared<SimFileSystem>(sim_options);
  const CountReads count_reads(fs, &read_counts_);
  FirstLife life(program_, fs, settings_.fault);
  const HookScope watch_syncs(fs, [&](const SimOp& op) { life.NoteSync(op); });
  if (settings_.rules && settings_.fault != FaultClass::kSyncLate) {
    life.rules = std::make_unique<EngineRules>(fs, kSimDatabasePath);
  }
  life.database.OnOpen([&] { life.OnOpen(); });
  life.runner.emplace(program_, &life.database, life.timeline_of_lie, life.MakePolicy());
  if (life.rules != nullptr && settings_.fault == FaultClass::kNone) {
    life.runner->OnSyncAcknowledged([&] { return life.rules->CheckSynced(); });
  }
  const HookScope take_images(fs, [&](const SimOp& op) {
    // If the sync of a new database's parent directory fails, Open removes the directory, so that the next Open creates
    // its name again. A kill just before that leaves a name that cannot be told from a durable one.
    if (op.kind == SimOpKind::kRemoveDirectory) return;
    if (op.phase == SimPhase::kBefore) CaptureFirstLife(life, Describe(op));
  });

  AddFault(fs.get());
  if (std::string wrong = OpenFirstLife(&life); !wrong.empty()) return wrong;
  if (std::string wrong = RunOperations(&life); !wrong.empty()) return wrong;
  fault_hits_ += fs->fault_hits();
  if (life.database.get() == nullptr) return "";
  return EndFirstLife(&life);
}

void CrashExplorer::CaptureFirstLife(const FirstLife& life, std::string where) {
  if (life.lied_to() && life.runner->timeline() != life.timeline_of_lie) return;
  Captured captured;
  captured.image = life.fs->Snapshot();
  captured.timeline = life.runner->timeline();
  captured.bound = life.runner->timeline()->bound();
  if (life.lied_to()) captured.bound.synced = std::min(captured.bound.synced, life.synced_before_lie);
  if (life.lied_to()) captured.bound.filtered = 0;
  captured.kill_keeps_all = !life.sync_failed_ever && !life.lied_to();
  captured.lied_to = life.lied_to();
  captured.where = std::move(where);
  Capture(captured);
}

std::string CrashExplorer::OpenFirstLife(FirstLife* life) {
  Status opened = life->database.Open();
  if (!opened.ok() && settings_.fault != FaultClass::kNone) {
    if (!opened.IsIOError()) return "life 1: Open on a failing device returned " + opened.ToString();
    life->LiftFaults();
    opened = life->database.Open();
  }
  return opened.ok() ? "" : "life 1: Open: " + opened.ToString();
}

// A quota is reached for a part of the program, and then lifted.
std::string CrashExplorer::RunOperations(FirstLife* life) {
  Runner& runner = *life->runner;
  const std::size_t count = program_.operations.size();
  const std::size_t full_from = IsQuotaFault(settings_.fault) ? prng_.Uniform(count + 1) : count + 1;
  const std::size_t full_to = full_from + prng_.Between(1, 12);
  for (std::size_t i = 0; i < count; ++i) {
    if (i == full_from) life->fs->SetQuota(life->fs->probe().allocated_bytes() + prng_.Skewed(15));
    if (i == full_to) life->fs->SetQuota(~std::uint64_t{0});
    // A background job that failed may be reported once more. After that no error is allowed, except if a sync failed
    // in the background: that is fatal, whenever it is reported.
    if (i > full_to + 1 && IsQuotaFault(settings_.fault) && !life->cache_is_doubted) runner.ForbidErrors();
    if (!life->lied_to()) {
      life->synced_before_lie = runner.timeline()->synced_count();
      life->timeline_of_lie = runner.timeline();
    }
    std::string wrong = runner.Run(program_.operations[i]);
    // After the device has lied, the outcome of operations is not checked.
    if (life->lied_to() && (!wrong.empty() || runner.timeline() != life->timeline_of_lie)) break;
    if (wrong.empty() && life->rules != nullptr) wrong = life->rules->violation();
    if (!wrong.empty()) return "life 1: " + wrong;
    if (life->database.get() == nullptr) break;
  }
  return "";
}

std::string CrashExplorer::EndFirstLife(FirstLife* life) {
  Runner& runner = *life->runner;
  CaptureFirstLife(*life, "at the end");
  life->LiftFaults();
  if (!life->lied_to()) {
    if (std::string wrong = runner.CheckAll(); !wrong.empty()) return "life 1, at the end: " + wrong;
  }
  runner.ReleaseAll();
  if (prng_.OneIn(2)) {
    const Status closed = life->database.Close();
    if (!closed.ok() && settings_.fault == FaultClass::kNone) return "life 1: Close: " + closed.ToString();
    if (closed.ok() && life->sync_failed) return "life 1: Close returned OK after a failed sync";
    if (closed.ok() && !life->lied_to()) runner.timeline()->AcknowledgeSync(runner.timeline()->commit_count());
    CaptureFirstLife(*life, "after Close");
  }
  life->fs->PowerOff();
  life->database.Drop();
  if (life->rules != nullptr && !life->rules->violation().empty()) {
    return "life 1, at the end: " + life->rules->violation();
  }
  return "";
}

std::string CrashExplorer::CheckCaptured(const Captured& captured) {
  const std::size_t variants = prng_.Between(settings_.variants_min, settings_.variants_max);
  const bool nothing_to_lose = captured.image.Units().empty() && captured.image.in_flight().empty();
  for (std::size_t v = 0; v < variants; ++v) {
    const std::uint64_t pick = prng_.Uniform(10);
    const Crash crash = pick < 7 ? Crash::kPower : pick < 9 ? Crash::kKill : Crash::kKillThenPower;
    std::string how = "life 1, crash " + captured.where + ", ";
    SimImage image = captured.image;
    if (crash != Crash::kPower) image = image.Kill(prng_);
    if (crash != Crash::kKill) {
      CutReport report;
      image = image.DrawCrash(prng_, MixFor(captured), &report);
      how += std::string(crash == Crash::kKillThenPower ? "killed, then cut: " : "power cut: ") + report.ToString();
    } else {
      how += "killed";
    }
    const bool power_cut = crash != Crash::kKill || !captured.kill_keeps_all;
    Captured from = captured;
    from.cache_survives = crash == Crash::kKill;
    if (std::string wrong = CheckRecovery(image, from, power_cut, how, 1, std::nullopt); !wrong.empty()) return wrong;
    if (nothing_to_lose) break;
  }
  return "";
}

std::string CrashExplorer::Difference(const Exact& found, const std::optional<Exact>& wanted) {
  if (!wanted.has_value() || (wanted->hash == found.hash && wanted->sequence == found.sequence)) return "";
  return "this recovery ended at sequence number " + std::to_string(found.sequence) + ", the one before it at " +
         std::to_string(wanted->sequence);
}

std::string CrashExplorer::CheckRecovery(const SimImage& image, const Captured& from, bool power_cut,
                                         const std::string& how, int life, const std::optional<Exact>& exact) {
  ++images_;
  const bool may_go_on = life < settings_.lives_max;
  const bool cut_recovery = may_go_on && prng_.Uniform(100) < settings_.cut_recovery_percent;
  const bool live_on = may_go_on && prng_.Uniform(100) < settings_.live_on_percent;
  const bool cut_after = from.cache_survives && prng_.OneIn(2);
  Timeline::Match match;
  // Two cuts often leave the same files. A recovery with the same write buffer, which only reads them, finds what the
  // first one found. But the image may have been taken later, when more had been acknowledged.
  const auto fs = std::make_shared<SimFileSystem>(image, SimOptionsFor(images_));
  const CountReads count_reads(fs, &read_counts_);
  ProgramDatabase database(program_.config, fs, program_.seed + images_ * 7919);
  const std::pair key(FingerprintOf(image), database.next_write_buffer_size());
  if (const auto same = recovered_.find(key);
      same != recovered_.end() && !cut_recovery && !live_on && !cut_after) {
    ++images_seen_before_;
    const std::string wrong = Mismatch(same->second, from, power_cut, exact, &match);
    return wrong.empty() ? "" : how + "\n  " + wrong;
  }
  std::optional<Captured> during;
  const Status opened = cut_recovery ? OpenAndCapture(&database, fs, from, &during) : database.Open();
  if (!opened.ok()) {
    if (from.lied_to && opened.IsCorruption()) return "";
    return how + "\n  Open: " + opened.ToString();
  }
  Contents contents;
  std::string wrong = ReadAll(database.get(), {}, program_.config.comparator, program_.universe, &contents,
                              program_.config.filter.get());
  if (!wrong.empty()) return how + "\n  " + wrong;
  if (!contents.status.ok()) {
    if (from.lied_to) return "";
    return how + "\n  reading: " + contents.status.ToString();
  }
  Recovered found{{contents.hash, database->GetLatestSequenceNumber()}, std::move(contents.values)};
  if (wrong = Mismatch(found, from, power_cut, exact, &match); !wrong.empty()) return how + "\n  " + wrong;
  if (from.lied_to) return "";
  if (wrong = database.Verify(); !wrong.empty()) return how + "\n  after recovery, " + wrong;

  const Exact same = found.exact;
  recovered_.try_emplace(key, std::move(found));
  if (during.has_value()) {
    // After a power cut nothing is unsynced, so the next recovery must find the same state. After a kill it may find
    // another one.
    wrong = CrashInRecovery(*std::move(during), power_cut, how, life,
                            from.cache_survives ? std::nullopt : std::optional<Exact>(same));
    if (!wrong.empty()) return wrong;
  }
  if (live_on) {
    return LiveOn(&database, fs, std::make_shared<Timeline>(from.timeline->After(match)), how, life + 1);
  }
  return cut_after ? CutAfterRecovery(*fs, from.timeline->After(match), how, same) : "";
}

std::string CrashExplorer::Mismatch(const Recovered& found, const Captured& from, bool power_cut,
                                    const std::optional<Exact>& exact, Timeline::Match* match) {
  std::string wrong;
  const bool is_found = from.timeline->Find(from.bound, power_cut, found.exact.hash, found.exact.sequence, found.values,
                                            match, &wrong);
  return is_found ? Difference(found.exact, exact) : wrong;
}

Status CrashExplorer::OpenAndCapture(ProgramDatabase* database, const std::shared_ptr<SimFileSystem>& fs,
                                     const Captured& from, std::optional<Captured>* during) {
  Reservoir<Captured> one(&prng_);
  Status opened;
  {
    const HookScope hook(fs, [&](const SimOp& op) {
      if (op.phase != SimPhase::kBefore) return;
      one.Offer([&] {
        Captured captured = from;
        captured.image = fs->Snapshot();
        captured.where = Describe(op);
        return captured;
      });
    });
    opened = database->Open();
  }
  *during = one.kept();
  return opened;
}

std::string CrashExplorer::CrashInRecovery(Captured captured, bool power_cut, const std::string& how, int life,
                                           const std::optional<Exact>& exact) {
  CutReport report;
  const bool kill = prng_.OneIn(3);
  const SimImage again =
      kill ? captured.image.Kill(prng_) : captured.image.DrawCrash(prng_, MixFor(captured), &report);
  const std::string how_again = how + "\n  then a crash in recovery " + captured.where + ", " +
                                (kill ? "killed" : "power cut: " + report.ToString());
  captured.cache_survives = kill;
  return CheckRecovery(again, captured, power_cut || !kill, how_again, life + 1, exact);
}

std::string CrashExplorer::CutAfterRecovery(const SimFileSystem& fs, Timeline timeline, const std::string& how,
                                            const Exact& exact) {
  Captured now;
  now.timeline = std::make_shared<Timeline>(std::move(timeline));
  now.bound = now.timeline->bound();
  CutReport report;
  const SimImage cut = fs.DrawCrash(prng_, settings_.mix, &report);
  return CheckRecovery(cut, now, true, how + "\n  then a power cut right after recovery: " + report.ToString(),
                       settings_.lives_max, exact);
}

std::string CrashExplorer::LiveOn(ProgramDatabase* database, std::shared_ptr<SimFileSystem> fs,
                                  std::shared_ptr<Timeline> timeline, const std::string& how, int life) {
  ProgramShape shape;
  shape.operations = prng_.Between(1, 25);
  shape.value_size_max = 6000;
  shape.batch_size_max = 8;
  shape.reads = prng_.OneIn(3);
  shape.reopen = false;
  shape.long_keys = false;
  const std::vector<Operation> operations = DrawOperations(program_, prng_, shape, next_operation_id_);
  next_operation_id_ += operations.size();
  Runner runner(program_, database, std::move(timeline), {});
  Reservoir<Captured> one(&prng_);
  const auto offer = [&](const std::string& where) {
    one.Offer([&] {
      Captured captured;
      captured.image = fs->Snapshot();
      captured.timeline = runner.timeline();
      captured.bound = runner.timeline()->bound();
      captured.where = where;
      return captured;
    });
  };
  {
    const HookScope hook(fs, [&](const SimOp& op) {
      if (op.phase == SimPhase::kBefore) offer(Describe(op));
    });
    for (const Operation& op : operations) {
      if (std::string wrong = runner.Run(op); !wrong.empty()) {
        return how + "\nlife " + std::to_string(life) + ": " + wrong;
      }
    }
    offer("at the end");
  }
  runner.ReleaseAll();
  Captured captured = *one.kept();
  const bool kill = prng_.OneIn(4);
  captured.cache_survives = kill;
  CutReport report;
  const SimImage image = kill ? captured.image.Kill(prng_) : captured.image.DrawCrash(prng_, settings_.mix, &report);
  std::string description = how + "\nlife " + std::to_string(life) + ":";
  for (const Operation& op : operations) description += "\n  " + op.ToString();
  description += "\n  crash " + captured.where + ", " + (kill ? "killed" : "power cut: " + report.ToString());
  return CheckRecovery(image, captured, !kill, description, life, std::nullopt);
}

}  // namespace cambium::testing
