// SPDX-License-Identifier: Apache-2.0
// What a run of clients leaves behind.
#pragma once

#include <vector>

#include "host/gemini/burst_monitor.h"
#include "host/gemini/token_scheduler.h"
#include "host/gemini/unified_memory.h"

namespace smk::gemini {

// Why a token's slice ended.
enum class TokenEnd : std::uint8_t {
  kHeld,       // it had not when the run did
  kExpired,    // its quota was over
  kKernelEnd,  // revoked: the last kernel had ended, and there was no time for another (Fig. 7,
               // first case)
  kLaunch,     // revoked: a launch came, and there was no time for it (Fig. 7, second case)
  kLeft,       // its client ended
};
const char* Name(TokenEnd end);

struct TokenRecord {
  Token token;
  Nanoseconds end = 0;  // of the slice: later than the expiry by the overuse
  std::uint64_t kernels = 0;
  TokenEnd reason = TokenEnd::kHeld;
  Nanoseconds overuse() const {
    return end > token.expiry() ? end - token.expiry() : Nanoseconds{0};
  }
};

struct BurstRecord {
  std::size_t client = 0;
  Burst burst;
};

// At a time: what the scheduler holds for each client's allocation of its window, and the time of
// each client's kernels since the start.
struct ShareSample {
  Nanoseconds time = 0, window = 0;
  std::vector<Nanoseconds> allocated, executed;
};

struct ClientRecord {
  std::vector<Nanoseconds> latencies;  // of the jobs that ended, from their arrival
  Nanoseconds executed = 0;            // time of its kernels
  Nanoseconds started = kNeverNs, ended = kNeverNs;
  Nanoseconds waited = 0;      // for tokens
  std::uint64_t kernels = 0;   // launched
  bool out_of_memory = false;  // an allocation was refused, which ended it
};

struct TenantResult {
  Nanoseconds time = 0;   // when the run ended
  Nanoseconds busy = 0;   // a kernel was on the GPU
  bool together = false;  // kernels of several clients may have been on the GPU at a time
  std::vector<ClientRecord> clients;
  std::vector<TokenRecord> tokens;  // in the order in which they were granted
  std::vector<BurstRecord> bursts;  // in the order of their ends
  std::vector<ShareSample> samples;
  UnifiedMemory::Counts memory;
  std::uint64_t events = 0;
};

}  // namespace smk::gemini
