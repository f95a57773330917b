// SPDX-License-Identifier: Apache-2.0
#include "machine/run_checks.h"

#include "base/error.h"

namespace smk {
namespace {

constexpr std::array<const char*, TbLedger::kPlaces> kPlaceNames = {"not started", "resident",
                                                                    "saved", "flushed", "complete"};

const char* PlaceName(TbLedger::Place place) { return kPlaceNames[static_cast<unsigned>(place)]; }

}  // namespace

void RunChecks::Fail(Cycle cycle, unsigned sm, const std::string& what) {
  std::string message = "cycle " + std::to_string(cycle) + ": ";
  if (sm != kNoSm) message += "SM " + std::to_string(sm) + ": ";
  throw CheckFailure(message + what);
}

std::string TbLedger::Name(KernelId kernel, TbId tb) {
  return "kernel " + std::to_string(Index(kernel)) + " TB " + std::to_string(Index(tb));
}

void TbLedger::BeginLaunch(KernelId kernel, std::uint32_t first_tb, std::uint32_t tb_count) {
  Slot& slot = slots_[Index(kernel)];
  slot.open = true;
  slot.first_tb = first_tb;
  slot.place.assign(tb_count, Place::kNew);
  slot.count = {};
  slot.count[0] = tb_count;
  slot.dispatched = 0;
}

void TbLedger::EndLaunch(KernelId kernel, Cycle now) {
  Slot& slot = slots_[Index(kernel)];
  checks_.Require(slot.open, now, RunChecks::kNoSm, [&] {
    return "kernel " + std::to_string(Index(kernel)) + " is done but no launch is running";
  });
  const std::uint64_t complete = slot.count[static_cast<unsigned>(Place::kComplete)];
  checks_.Require(complete == slot.place.size(), now, RunChecks::kNoSm, [&] {
    return "kernel " + std::to_string(Index(kernel)) + " is done with " + std::to_string(complete) +
           " of " + std::to_string(slot.place.size()) + " TBs complete";
  });
  slot.open = false;
}

void TbLedger::Dispatch(KernelId kernel, TbId tb, bool restore, unsigned sm, Cycle now) {
  Slot& slot = slots_[Index(kernel)];
  checks_.Require(Has(slot, tb), now, sm,
                  [&] { return Name(kernel, tb) + " starts but is not of a running launch"; });
  const Place from = At(&slot, tb);
  const bool legal =
      restore ? from == Place::kSaved : from == Place::kNew || from == Place::kFlushed;
  checks_.Require(legal, now, sm, [&] {
    return Name(kernel, tb) + (restore ? " is restored but it is " : " starts but it is ") +
           PlaceName(from);
  });
  slot.dispatched += from == Place::kNew;
  Move(&slot, tb, Place::kResident);
}

void TbLedger::Leave(KernelId kernel, TbId tb, Place to, unsigned sm, Cycle now) {
  Slot& slot = slots_[Index(kernel)];
  const Place from = At(&slot, tb);
  checks_.Require(from == Place::kResident, now, sm, [&] {
    return Name(kernel, tb) + " becomes " + PlaceName(to) + " but it is " + PlaceName(from);
  });
  Move(&slot, tb, to);
}

void TbLedger::Balance(KernelId kernel, std::uint64_t resident, Cycle now) {
  const Slot& slot = slots_[Index(kernel)];
  const auto count = [&](Place place) { return slot.count[static_cast<unsigned>(place)]; };
  checks_.Require(count(Place::kResident) == resident, now, RunChecks::kNoSm, [&] {
    return "kernel " + std::to_string(Index(kernel)) + " has " + std::to_string(resident) +
           " TBs on the SMs but " + std::to_string(count(Place::kResident)) + " are resident";
  });
  const std::uint64_t accounted = count(Place::kResident) + count(Place::kSaved) +
                                  count(Place::kFlushed) + count(Place::kComplete);
  checks_.Require(slot.dispatched == accounted, now, RunChecks::kNoSm, [&] {
    return "kernel " + std::to_string(Index(kernel)) + " dispatched " +
           std::to_string(slot.dispatched) + " TBs but " + std::to_string(accounted) +
           " are accounted for";
  });
}

void TbLedger::Move(Slot* slot, TbId tb, Place to) {
  Place& place = At(slot, tb);
  --slot->count[static_cast<unsigned>(place)];
  ++slot->count[static_cast<unsigned>(to)];
  place = to;
}

}  // namespace smk
