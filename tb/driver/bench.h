// SPDX-License-Identifier: Apache-2.0
// The driver with SMs that do what a test tells them: they hold TBs, and let them finish or leave
// only when asked. Checks by itself that every TB is dispatched exactly once, in order, comes back
// from where it was saved, and that no SM is ever given more than it holds.
#pragma once

#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <set>

#include "common/oracle.h"
#include "control/driver/driver.h"

namespace smk {

struct BenchTb {
  unsigned kernel = 0;
  unsigned tb = 0;
  bool leaving = false;
  bool counted = false;  // leaves because of kPreempt
};

struct BenchSm {
  std::vector<BenchTb> tbs;
  std::deque<std::pair<unsigned, unsigned>> loading;  // kernel and buffer of restored TBs
  std::deque<SmEvent> outbox;
  bool settle_due = false;
  unsigned missing = 0;  // victims that the last kPreempt did not find
  std::vector<SmCommand> plan;
  std::array<unsigned, kMaxKernels> quota{};
  std::optional<PreemptMode> evict_mode;  // of the last kEvict
  bool ready = true;                      // gives the credit of a command back
  bool owes = false;                      // has taken a command and not yet given its credit back
  bool waits = false;                     // says that the TB that came waits for a gap, once
  bool waited = false;                    // has said so of the last command
  bool asks = false;                      // waits for a buffer
  bool withdrawn = false;                 // or for the answer that there is none
  unsigned asks_for = 0;                  // kernel
};

// `D` is a Driver, or something that is stepped like one.
template <typename D>
class DriverBenchOf {
 public:
  template <typename... Args>
  explicit DriverBenchOf(const ControlConfig& config, const PolicyConfig& policy, Args... args)
      : config_(config), driver_(config, policy, args...), sms_(config.num_sms) {}

  // One cycle; `host` pulses in it. Skips the driver when it has nothing to do and `lazy` is set.
  void Cycle(const HostInputs& host = {}) {
    ++now_;
    bool input = host.launch_valid || host.tick;
    for (unsigned sm = 0; sm < config_.num_sms; ++sm) input |= PutEvent(sm);
    TakeCommands();
    for (unsigned sm = 0; sm < config_.num_sms; ++sm) {
      input |= registers_[sm].buffer_request || registers_[sm].buffer_withdraw ||
               registers_[sm].profile_valid || registers_[sm].sample_valid ||
               registers_[sm].command_credit || registers_[sm].command_waits;
    }
    if (lazy && !input && !driver_.awake()) return;
    Driver::Inputs in;
    in.host = host;
    in.sm = &registers_;
    driver_.Step(in, now_, &host_out_, &log_);
    to_sm_ = driver_.state().to_sm;
    for (unsigned k = 0; k < kNumKernels; ++k) done_[k] += host_out_.kernel_done >> k & 1;
    for (unsigned sm = 0; sm < config_.num_sms; ++sm) AfterDriver(sm);
  }
  bool Quiet() const {
    bool quiet = !driver_.awake();
    for (const BenchSm& sm : sms_) quiet &= sm.outbox.empty();
    return quiet;
  }
  void Launch(unsigned kernel, const ResourceVector& need, unsigned tbs,
              std::uint64_t context_base = 0, unsigned first_tb = 0) {
    HostInputs host;
    host.launch_valid = true;
    host.launch_kernel = static_cast<KernelId>(kernel);
    host.launch.need = need;
    host.launch.first_tb = first_tb;
    host.launch.tb_count = tbs;
    host.launch.context_base = context_base;
    fresh_[kernel] = first_tb;
    finished_[kernel] = 0;
    need_[kernel] = need;
    Cycle(host);
    EXPECT_EQ(host_out_.launch_error, LaunchError::kNone);
  }
  // The TB with this index on the SM finishes.
  void Finish(unsigned sm, unsigned index) {
    const BenchTb tb = Remove(sm, index);
    ++finished_[tb.kernel];
    SmEvent event = EventOf(EventKind::kFinished, tb);
    Send(sm, event);
  }
  // A leaving TB has left; its buffer was granted before.
  void Leave(unsigned sm, unsigned index, unsigned buffer, bool flush = false) {
    const BenchTb tb = Remove(sm, index);
    SmEvent event = EventOf(flush ? EventKind::kFlushed : EventKind::kSaved, tb);
    event.buffer = static_cast<std::uint16_t>(buffer);
    away_[tb.kernel][tb.tb] = {buffer, flush};
    Send(sm, event);
  }
  // Asks for a buffer; it may come later.
  void Ask(unsigned sm, unsigned kernel) {
    registers_[sm].buffer_request = true;
    registers_[sm].buffer_kernel = static_cast<KernelId>(kernel);
    sms_[sm].asks = true;
    sms_[sm].asks_for = kernel;
  }
  // The TB with this index finishes while a buffer for it is asked for. A buffer that comes all the
  // same is given back.
  void Withdraw(unsigned sm, unsigned index) {
    registers_[sm].buffer_withdraw = true;
    sms_[sm].withdrawn = true;
    Finish(sm, index);
  }
  // Asks for a buffer; nothing if it does not come within four cycles.
  std::optional<unsigned> AskForBuffer(unsigned sm, unsigned kernel) {
    Ask(sm, kernel);
    for (int i = 0; i < 4 && sms_[sm].asks; ++i) Cycle();
    if (sms_[sm].asks) return std::nullopt;
    return granted_[sm];
  }
  // The oldest restored context has been read.
  void FreeBuffer(unsigned sm) {
    SmEvent event;
    event.kind = EventKind::kBufferFree;
    event.kernel = static_cast<KernelId>(sms_[sm].loading.front().first);
    event.buffer = static_cast<std::uint16_t>(sms_[sm].loading.front().second);
    sms_[sm].loading.pop_front();
    Send(sm, event);
  }
  bool CanSettle(unsigned sm) const {
    if (!sms_[sm].settle_due) return false;
    for (const BenchTb& tb : sms_[sm].tbs) {
      if (tb.leaving) return false;
    }
    return true;
  }
  // Nobody has to leave any more.
  void Settle(unsigned sm) {
    SmEvent event;
    event.kind = EventKind::kSettled;
    event.shortfall = static_cast<std::uint8_t>(sms_[sm].missing);
    sms_[sm].settle_due = false;
    sms_[sm].missing = 0;
    Send(sm, event);
  }
  ResourceVector Taken(unsigned sm, std::optional<unsigned> except = {}) const {
    ResourceVector sum;
    for (const BenchTb& tb : sms_[sm].tbs) {
      if (tb.kernel != except) sum += need_[tb.kernel];
    }
    return sum;
  }
  unsigned Resident(unsigned kernel, unsigned sm) const {
    unsigned n = 0;
    for (const BenchTb& tb : sms_[sm].tbs) n += tb.kernel == kernel ? 1 : 0;
    return n;
  }

  bool lazy = false;
  unsigned spare_victims = 0;  // so many of the victims asked for are not found

  D& driver() { return driver_; }
  BenchSm& sm(unsigned i) { return sms_[i]; }
  const BenchSm& sm(unsigned i) const { return sms_[i]; }
  SmToDriver& registers(unsigned i) { return registers_[i]; }
  // The buffer of the last request that was granted.
  unsigned granted(unsigned i) const { return granted_[i]; }
  std::vector<Decision>& log() { return log_; }
  const HostOutputs& host_out() const { return host_out_; }
  const DriverToSm& to_sm(unsigned i) const { return to_sm_[i]; }
  const ResourceVector& need(unsigned kernel) const { return need_[kernel]; }
  unsigned finished(unsigned kernel) const { return finished_[kernel]; }
  unsigned done(unsigned kernel) const { return done_[kernel]; }
  smk::Cycle now() const { return now_; }
  // Dispatched for the first time so far.
  unsigned fresh(unsigned kernel) const { return fresh_[kernel]; }

 private:
  struct Away {
    unsigned buffer;
    bool restart;
  };

  static SmEvent EventOf(EventKind kind, const BenchTb& tb) {
    SmEvent event;
    event.kind = kind;
    event.kernel = static_cast<KernelId>(tb.kernel);
    event.tb = static_cast<TbId>(tb.tb);
    event.counted = tb.counted;
    return event;
  }
  BenchTb Remove(unsigned sm, unsigned index) {
    const BenchTb tb = sms_[sm].tbs[index];
    sms_[sm].tbs.erase(sms_[sm].tbs.begin() + index);
    return tb;
  }
  void Send(unsigned sm, SmEvent event) {
    event.valid = true;
    sms_[sm].outbox.push_back(event);
  }
  // The SM's event register in this cycle; an acknowledged kind is not followed by another.
  bool PutEvent(unsigned i) {
    registers_[i].event = SmEvent{};
    registers_[i].command_credit = sms_[i].owes && sms_[i].ready;
    registers_[i].command_waits =
        sms_[i].owes && !sms_[i].ready && sms_[i].waits && !sms_[i].waited;
    sms_[i].waited = sms_[i].owes && (sms_[i].waited || registers_[i].command_waits);
    sms_[i].waits = false;
    sms_[i].owes = sms_[i].owes && !registers_[i].command_credit;
    auto& outbox = sms_[i].outbox;
    if (outbox.empty() || (awaits_ack_[i] && NeedsAck(outbox.front().kind))) return false;
    registers_[i].event = outbox.front();
    awaits_ack_[i] |= NeedsAck(outbox.front().kind);
    outbox.pop_front();
    return true;
  }
  void AfterDriver(unsigned i) {
    registers_[i].profile_valid = registers_[i].sample_valid = false;
    registers_[i].buffer_request = registers_[i].buffer_withdraw = false;
    if (to_sm_[i].event_ack) awaits_ack_[i] = false;
    if (!to_sm_[i].buffer_valid && !to_sm_[i].buffer_none) return;
    BenchSm& sm = sms_[i];
    EXPECT_TRUE(sm.asks) << "SM " << i << " did not ask";
    sm.asks = false;
    if (to_sm_[i].buffer_none) {
      EXPECT_TRUE(sm.withdrawn) << "SM " << i << " still asked";
    } else {
      granted_[i] = to_sm_[i].buffer;
      if (sm.withdrawn) sm.loading.emplace_back(sm.asks_for, granted_[i]);
    }
    sm.withdrawn = false;
  }
  void TakeCommands() {
    for (unsigned i = 0; i < config_.num_sms; ++i) {
      if (!to_sm_[i].command_valid) continue;
      EXPECT_FALSE(sms_[i].owes) << "SM " << i << " was sent a command without a credit";
      sms_[i].owes = true;
      Execute(i, to_sm_[i].command);
    }
  }
  void Execute(unsigned i, const SmCommand& c) {
    BenchSm& sm = sms_[i];
    const unsigned k = Index(c.kernel);
    switch (c.op) {
      case CommandOp::kDispatch:
        Dispatch(i, c);
        break;
      case CommandOp::kPreempt: {
        unsigned found = 0;
        const unsigned most = c.count - std::min<unsigned>(c.count, spare_victims);
        for (BenchTb& tb : sm.tbs) {
          if (tb.kernel != k || tb.leaving || found == most) continue;
          tb.leaving = tb.counted = true;
          ++found;
        }
        sm.missing = c.count - found;
        sm.settle_due = true;
        break;
      }
      case CommandOp::kPartition:
        if (c.first) sm.plan.clear();
        sm.plan.push_back(c);
        if (c.last) EvictAll(&sm);
        break;
      case CommandOp::kEvict:
        sm.evict_mode = c.mode;
        EvictAll(&sm);
        break;
      case CommandOp::kQuota:
        sm.quota[k] = c.quota;
        break;
    }
  }
  static void EvictAll(BenchSm* sm) {
    for (BenchTb& tb : sm->tbs) tb.leaving = true;
    sm->settle_due = true;
  }
  void Dispatch(unsigned i, const SmCommand& c) {
    const unsigned k = Index(c.kernel), tb = Index(c.tb);
    const auto away = away_[k].find(tb);
    if (away == away_[k].end()) {
      EXPECT_EQ(tb, fresh_[k]) << "kernel " << k << ": dispatched out of order or twice";
      EXPECT_FALSE(c.restore);
      ++fresh_[k];
    } else {
      EXPECT_EQ(c.restore, !away->second.restart);
      if (c.restore) {
        EXPECT_EQ(c.buffer, away->second.buffer);
        sms_[i].loading.emplace_back(k, c.buffer);
      }
      away_[k].erase(away);
    }
    sms_[i].tbs.push_back({k, tb});
    EXPECT_TRUE(oracle::Fits(Taken(i), config_.limits)) << "SM " << i << " has no room";
  }

  ControlConfig config_;
  D driver_;
  std::vector<BenchSm> sms_;
  std::array<SmToDriver, kMaxSms> registers_{};
  std::array<DriverToSm, kMaxSms> to_sm_{};
  std::array<bool, kMaxSms> awaits_ack_{};
  std::array<unsigned, kMaxSms> granted_{};
  HostOutputs host_out_;
  std::vector<Decision> log_;
  smk::Cycle now_ = 0;
  std::array<ResourceVector, kMaxKernels> need_{};
  std::array<unsigned, kMaxKernels> fresh_{}, finished_{}, done_{};
  std::array<std::map<unsigned, Away>, kMaxKernels> away_;
};

using DriverBench = DriverBenchOf<Driver>;

}  // namespace smk
