// SPDX-License-Identifier: Apache-2.0
#include "machine/token_meter.h"

#include <algorithm>

namespace smk {

void TokenMeter::Count(const TokenView& token) {
  if (token.user != user_) over_ = 0;
  user_ = token.user;
  over_ = token.over ? over_ + 1 : 0;
  for (unsigned k = 0; k < kNumKernels; ++k) {
    TokenStats& stats = stats_[k];
    if (token.given && (token.holder >> k & 1) != 0) ++stats.tokens;
    if ((token.user >> k & 1) == 0) continue;
    ++stats.cycles;
    if (!token.over) continue;
    ++stats.overuse_cycles;
    stats.overuse_max = std::max(stats.overuse_max, over_);
  }
}

}  // namespace smk
