#include "transactions/isolation/simulated_program.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "io/sim/sim_file_system.h"
#include "testing/hook_scope.h"
#include "testing/mutant_scope.h"
#include "transactions/isolation/checker.h"
#include "transactions/isolation/keys.h"
#include "transactions/isolation/life.h"

namespace cambium::testing::isolation {
namespace {

constexpr const char* kPath = "/db";

// A disk, and the moment before it was copied: what was acknowledged earlier is on it.
struct Copy {
  Time time = kNever;
  SimImage image;
};

// Ends the power of a file system at its n-th change, and keeps the disk as it was then; before that, copies the disk
// now and then. Each second sync takes some time, as on a device, so that other calls meet it.
class Switch {
 public:
  // `life`: may be null; there are no copies then.
  Switch(std::shared_ptr<SimFileSystem> fs, std::uint64_t at, std::uint64_t copy_every, LifeContext* life)
      : fs_(std::move(fs)), copy_every_(copy_every), life_(life), left_(at), hook_(fs_, [this](const SimOp& op) {
          See(op);
        }) {}

  // If it has not happened yet. Any thread.
  void TurnOff() {
    if (is_off_.exchange(true)) return;
    if (life_ != nullptr) {
      off_.time = life_->Now();
      life_->has_ended.store(true);
    }
    off_.image = fs_->Snapshot();
    fs_->PowerOff();
  }
  // Once no other thread uses the file system.
  [[nodiscard]] const Copy& off() const { return off_; }
  [[nodiscard]] const std::vector<Copy>& copies() const { return copies_; }

 private:
  void See(const SimOp& op) {
    const std::uint64_t left = op.phase == SimPhase::kBefore ? left_.fetch_sub(1) : 0;
    if (left == 1) TurnOff();
    const bool copies = left > 1 && life_ != nullptr && left % copy_every_ == 0 && !is_off_.load();
    if (copies) {
      const std::lock_guard lock(mutex_);
      if (copies_.size() < kCopiesMax) {
        const Time now = life_->Now();
        copies_.push_back({now, fs_->Snapshot()});
      }
    }
    const bool takes_time = op.phase == SimPhase::kInside && op.index % 2 == 0;
    if (takes_time) std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
  static constexpr std::size_t kCopiesMax = 8;

  const std::shared_ptr<SimFileSystem> fs_;
  const std::uint64_t copy_every_;
  LifeContext* const life_;
  std::atomic<std::uint64_t> left_;
  std::atomic<bool> is_off_{false};
  Copy off_;
  std::mutex mutex_;
  std::vector<Copy> copies_;  // mutex_
  const HookScope hook_;      // after all that it uses
};

class Program {
 public:
  Program(const ProgramPlan& plan, ProgramFigures* figures) : plan_(plan), figures_(*figures), prng_(plan.seed) {}

  std::string Run() {
    fs_ = std::make_shared<SimFileSystem>();
    next_id_ = 2;
    for (std::uint64_t life = 0; life < plan_.lives; ++life) {
      std::string wrong = RunLife(life);
      if (!wrong.empty()) return "life " + std::to_string(life) + ": " + wrong;
    }
    Store store;
    std::string wrong = OpenAndCheck(&store);
    if (wrong.empty() && !store.Close().ok()) wrong = "the last Close has failed";
    return wrong;
  }

 private:
  Options NewOptions() {
    Options options = RandomOptions(prng_.Next(), plan_.is_patient);
    options.file_system = fs_;
    return options;
  }

  // Opens the database, and checks the life before.
  std::string OpenAndCheck(Store* store) {
    const Options options = NewOptions();
    const MutantScope mutant(plan_.mutant);
    const Status s = store->Open(options, kPath, plan_.kind);
    if (!s.ok()) return "Open: " + s.ToString();
    State found;
    std::string wrong = store->Observe(&found);
    if (!wrong.empty()) return "after Open: " + wrong;
    if (!has_history_) {
      biography_.Begin(SetUpState());
      static_cast<void>(biography_.Read({}, &history_));  // a life without transactions
      has_history_ = true;
    }
    for (const TxRecord& tx : history_.transactions) {
      const bool writes = !tx.ops.empty() && tx.ops.back().kind != Op::Kind::kRead;
      if (tx.outcome == Outcome::kCommitted && writes && !found.receipts.contains(tx.id)) ++figures_.lost;
    }
    return biography_.End(history_, end_, std::move(found));
  }

  std::string RunLife(std::uint64_t number) {
    Store store;
    std::string wrong = OpenAndCheck(&store);
    if (!wrong.empty()) return wrong;
    LifeContext life;
    life.store = &store;
    life.era = number / 2;
    life.is_patient = plan_.is_patient;
    life.claims_serializable = plan_.claims_serializable;
    life.next_id.store(next_id_);
    life.rest = [] { std::this_thread::sleep_for(std::chrono::milliseconds(1)); };
    std::vector<std::string> journals(kClients + 1);
    const auto journal_of = [&journals](std::uint32_t i) {
      return [&to = journals[i]](const std::string& line) { to += line; };
    };
    const bool closes = prng_.OneIn(5);
    const std::uint64_t before = fs_->operations();
    Switch power(fs_, closes ? ~std::uint64_t{0} : 1 + prng_.Uniform(2 * operations_), operations_ / 8, &life);
    {
      const MutantScope mutant(plan_.mutant);
      wrong = RunClients(&life, plan_.transactions, prng_.Next(), journal_of, &figures_.clients);
    }
    if (!life.has_ended.load()) operations_ = std::max<std::uint64_t>(fs_->operations() - before, 100);
    next_id_ = life.next_id.load();
    history_ = {};
    const std::string malformed = biography_.Read(journals, &history_);
    if (!malformed.empty()) return malformed;
    if (!wrong.empty()) return wrong;
    wrong = EndLife(closes, &store, &power);
    for (const Copy& copy : power.copies()) {
      if (wrong.empty()) wrong = CheckCopy(copy);
    }
    return wrong;
  }

  // Cuts the power of the copy, opens it, and compares it with the history of the life.
  std::string CheckCopy(const Copy& copy) {
    Options options = NewOptions();
    options.file_system = std::make_shared<SimFileSystem>(copy.image.DrawCrash(prng_));
    const MutantScope mutant(plan_.mutant);
    Store store;
    const Status s = store.Open(options, kPath, plan_.kind);
    if (!s.ok()) return "Open of a copy: " + s.ToString();
    ++figures_.copies;
    State found;
    const std::string wrong = store.Observe(&found);
    if (!wrong.empty()) return "a copy: " + wrong;
    return CheckEnd(history_, {.lost_power = true, .at = copy.time, .is_copy = true}, found);
  }

  std::string EndLife(bool closes, Store* store, Switch* power) {
    end_ = {};
    if (closes) {
      const Status s = store->Close();
      ++figures_.closes;
      return s.ok() ? "" : "Close: " + s.ToString();
    }
    power->TurnOff();
    static_cast<void>(store->Close());  // fails, since every call of the file system does
    end_.at = power->off().time;
    const std::uint64_t how = prng_.Uniform(3);
    if (how == 0) {
      ++figures_.kills;
      fs_ = std::make_shared<SimFileSystem>(power->off().image.Kill(prng_));
      return "";
    }
    end_.lost_power = true;
    ++figures_.cuts;
    fs_ = std::make_shared<SimFileSystem>(how == 1 ? power->off().image.DrawCrash(prng_)
                                                   : power->off().image.Kill(prng_).DrawCrash(prng_));
    if (prng_.OneIn(2)) CutRecovery();
    return "";
  }

  void CutRecovery() {
    Switch power(fs_, 1 + prng_.Uniform(40), 1, nullptr);
    {
      Store store;
      static_cast<void>(store.Open(NewOptions(), kPath, plan_.kind));
      power.TurnOff();
    }
    ++figures_.recoveries_cut;
    fs_ = std::make_shared<SimFileSystem>(power.off().image.DrawCrash(prng_));
  }

  const ProgramPlan plan_;
  ProgramFigures& figures_;
  Prng prng_;
  std::shared_ptr<SimFileSystem> fs_;
  Biography biography_;
  bool has_history_ = false;
  History history_;
  LifeEnd end_;
  std::uint64_t next_id_ = 2;
  std::uint64_t operations_ = 1000;  // calls that change the disk in a life
};

}  // namespace

std::string RunProgram(const ProgramPlan& plan, ProgramFigures* figures) { return Program(plan, figures).Run(); }

}  // namespace cambium::testing::isolation
