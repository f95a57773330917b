// SPDX-License-Identifier: Apache-2.0
// What the TBs of each SM take, smk_sm_usage, apart from the driver: see sim_driver.
//
// Purpose     One model per SM, evaluated only while a TB comes to this SM or leaves it, and until
//             shares follow.
// Interface   As that of ApartBlock, with a port per SM, and one for what TBs need, which all hear.
#pragma once

#include <cstring>
#include <string>
#include <vector>

#include "base/sm_mask.h"
#include "cosim/apart_block.h"

namespace smk {

template <typename Model, unsigned Sms>
class ApartUsages {
 public:
  // `scope` is that of the block that has them.
  ApartUsages(VerilatedContext* context, const std::string& scope) {
    sms_.reserve(Sms);
    for (unsigned sm = 0; sm < Sms; ++sm) {
      sms_.emplace_back(context, scope + " gen_sm[" + std::to_string(sm) + "]");
    }
  }

  template <typename Need, typename Ports>
  void Reset(const Need& need, const Ports& hear) {
    for (unsigned sm = 0; sm < Sms; ++sm) {
      (*sms_[sm].unit())->need_i = need;
      sms_[sm].Reset(hear[sm]);
    }
  }
  template <typename Need, typename Ports>
  void Hear(const Need& need, const Ports& hear) {
    const bool needs = std::memcmp(&(*sms_[0].unit())->need_i, &need, sizeof need) != 0;
    for (unsigned sm = 0; sm < Sms; ++sm) {
      if (needs) {
        (*sms_[sm].unit())->need_i = need;
        sms_[sm].Touch();
      }
      if (sms_[sm].Hear(hear[sm]) || needs) look_.Set(sm);
    }
  }
  template <typename Ports>
  bool Edge(bool all, Ports* say) {
    if (!all && look_.None()) return false;
    bool says = false;
    for (const unsigned sm : all ? SmMask::First(Sms) : look_) {
      says |= sms_[sm].Edge(all, &(*say)[sm]);
      if (!sms_[sm].busy()) look_.Clear(sm);
    }
    return says;
  }
  template <typename Visitor>
  void VisitUnits(Visitor visit) {
    for (auto& sm : sms_) visit(sm.unit());
  }

 private:
  std::vector<ApartBlock<Model>> sms_;
  SmMask look_;  // heard something, or are busy
};

}  // namespace smk
