// SPDX-License-Identifier: Apache-2.0
#include "machine/context_store.h"

#include <algorithm>
#include <string>

#include "machine/address_space.h"

namespace smk {
namespace {

std::string Hex(std::uint64_t value) {
  static const char* const kDigits = "0123456789abcdef";
  std::string text;
  do {
    text.insert(text.begin(), kDigits[value % 16]);
    value /= 16;
  } while (value != 0);
  return "0x" + text;
}

}  // namespace

ContextStore::Buffer& ContextStore::At(const Launch& launch, KernelId kernel, std::uint64_t address,
                                       unsigned sm, Cycle now) {
  constexpr std::uint64_t kMaxBuffers = 65536;
  const std::uint64_t offset = address - launch.context_base;
  const std::uint64_t index = offset / launch.context_stride;
  const std::uint64_t buffers = std::min(kMaxBuffers, kContextBytes / launch.context_stride);
  const bool start =
      address >= launch.context_base && offset % launch.context_stride == 0 && index < buffers;
  checks_.Require(start, now, sm, [&] {
    return "address " + Hex(address) + " is not a context buffer of kernel " +
           std::to_string(Index(kernel));
  });
  std::vector<Buffer>& of_kernel = buffers_[Index(kernel)];
  if (of_kernel.size() <= index) of_kernel.resize(std::max<std::size_t>(index + 1, 64));
  return of_kernel[index];
}

void ContextStore::Put(const Launch& launch, std::uint64_t address, const TbContext& context,
                       unsigned sm, Cycle now) {
  Buffer& buffer = At(launch, context.kernel, address, sm, now);
  checks_.Require(!buffer.full, now, sm, [&] {
    return "kernel " + std::to_string(Index(context.kernel)) + " TB " +
           std::to_string(Index(context.tb)) + " is saved over the context of TB " +
           std::to_string(Index(buffer.context.tb));
  });
  buffer.full = true;
  buffer.context = context;
  ++held_;
}

const TbContext& ContextStore::Take(const Launch& launch, KernelId kernel, TbId tb,
                                    std::uint64_t address, unsigned sm, Cycle now) {
  Buffer& buffer = At(launch, kernel, address, sm, now);
  const auto name = [&] {
    return "kernel " + std::to_string(Index(kernel)) + " TB " + std::to_string(Index(tb));
  };
  checks_.Require(buffer.full, now, sm,
                  [&] { return name() + " is restored from an empty context buffer"; });
  const TbContext& context = buffer.context;
  const bool same = context.kernel == kernel && context.tb == tb && context.launch == launch.number;
  checks_.Require(same, now, sm, [&] {
    return name() + " of launch " + std::to_string(launch.number) +
           " is restored from the context of kernel " + std::to_string(Index(context.kernel)) +
           " TB " + std::to_string(Index(context.tb)) + " of launch " +
           std::to_string(context.launch);
  });
  buffer.full = false;
  --held_;
  return context;
}

void ContextTraffic::Begin(const ContextRequest& request, const Launch& launch) {
  Move& move = moves_[Index(request.tb_slot)];
  move = Move{};
  move.started = true;
  move.store = request.store;
  move.base = request.address - std::uint64_t{request.line} * kLineBytes;
  std::fill_n(seen_.begin() + static_cast<std::ptrdiff_t>(Index(request.tb_slot) * words_),
              (launch.context_lines + 63) / 64, 0);
}

bool ContextTraffic::See(const ContextRequest& request) {
  std::uint64_t& seen = seen_[Index(request.tb_slot) * words_ + request.line / 64];
  const std::uint64_t bit = std::uint64_t{1} << (request.line % 64);
  const bool first = (seen & bit) == 0;
  seen |= bit;
  return first;
}

void ContextTraffic::Accept(const ContextRequest& request, const Launch& launch, KernelId kernel,
                            Cycle now) {
  const unsigned sm = Index(sm_);
  Move& move = moves_[Index(request.tb_slot)];
  const auto name = [&](const char* what) {
    return "context line " + std::to_string(request.line) + " of the TB in slot " +
           std::to_string(Index(request.tb_slot)) + what;
  };
  const bool in_context =
      request.line < launch.context_lines && launch.context_lines <= most_lines_;
  checks_.Require(in_context, now, sm, [&] { return name(" is beyond its context"); });
  // A TB that was restored may leave again: the direction changes once all lines are loaded.
  if (!move.started || (move.store != request.store && move.lines == launch.context_lines)) {
    Begin(request, launch);
  }
  const bool place = move.store == request.store &&
                     request.address == move.base + std::uint64_t{request.line} * kLineBytes;
  checks_.Require(place, now, sm, [&] { return name(" has the wrong direction or address"); });
  checks_.Require(See(request), now, sm, [&] { return name(" is sent twice"); });
  ++move.lines;
  Cycle done = now + 1;
  if (!ideal_) {
    const MemoryAccess access =
        request.store ? MemoryAccess::kContextStore : MemoryAccess::kContextLoad;
    bytes_[Index(kernel)] += kLineBytes;
    if (in_turn_) {
      Ask(request, kernel, access, now);
      return;
    }
    done = memory_.Access(sm_, kernel, access, request.address, now);
  }
  move.done = std::max(move.done, done);
  in_flight_.Push(done);
}

void ContextTraffic::Ask(const ContextRequest& request, KernelId kernel, MemoryAccess access,
                         Cycle now) {
  const Ticket ticket = open_.Open(request.tb_slot);
  open_.Expect(ticket,
               memory_.Ask(sm_, kernel, access, request.address, ticket | kContextTicket, now));
  open_.Close(ticket);
  in_flight_.Push(kNever);
}

void ContextTraffic::Answer(Ticket ticket, Cycle done) {
  const auto* const entry = open_.Answer(ticket & ~kContextTicket, done);
  if (entry == nullptr) return;
  Move& move = moves_[Index(entry->owner)];
  move.done = std::max(move.done, entry->done);
  in_flight_.Replace(kNever, entry->done);
}

std::uint64_t ContextTraffic::Finish(TbSlot slot, bool store, const Launch& launch, Cycle now) {
  const Move& move = moves_[Index(slot)];
  const bool whole =
      move.started && move.store == store && move.lines == launch.context_lines && move.done <= now;
  checks_.Require(whole, now, Index(sm_), [&] {
    return "the TB in slot " + std::to_string(Index(slot)) +
           (store ? " leaves before its context is stored: "
                  : " starts before its context is loaded: ") +
           std::to_string(move.started && move.store == store ? move.lines : 0) + " of " +
           std::to_string(launch.context_lines) + " lines";
  });
  return move.base;
}

}  // namespace smk
