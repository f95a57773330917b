// SPDX-License-Identifier: Apache-2.0
// The bits of smk_pkg::policy_t, and the policy that registers hold after a reset: Yosys 0.23 knows no
// parameter of a type, nor $bits of one. In the order of the fields, the first one highest; lint finds a
// width that is not the type's. The values are those of PolicyConfig in model/control/control_plane.h.
`ifndef SMK_POLICY_SVH
`define SMK_POLICY_SVH

`define SMK_POLICY_WIDTH \
  (3 + 2 + 7 + smk_pkg::KernelCntWidth + smk_pkg::NumKernels * smk_pkg::TbCntWidth + \
   smk_pkg::QuotaWidth + smk_pkg::LingerWidth + smk_pkg::ScaleWidth + 4 * 16 + 3 + 4 + \
   smk_pkg::LossWidth + smk_pkg::TokenWindowWidth + smk_pkg::TokenQuotaWidth + \
   2 * smk_pkg::NumKernels * smk_pkg::TokenShareWidth + smk_pkg::ChimeraLimitWidth + \
   smk_pkg::ChimeraLineWidth)

`define SMK_POLICY_DEFAULT \
  {3'(smk_pkg::DispatchPartitioned), 2'(smk_pkg::PreemptSwitch), 1'(smk_pkg::WarpPolicyGto), \
   1'b0, 1'b1, 1'b1, 1'(smk_pkg::EpochSpent), 1'b0, 1'b0, \
   smk_pkg::KernelCntWidth'(smk_pkg::NumKernels), \
   {smk_pkg::NumKernels{smk_pkg::TbCntWidth'(0)}}, \
   smk_pkg::QuotaWidth'(10000), smk_pkg::LingerWidth'(2), smk_pkg::ScaleWidth'(1), \
   16'd20000, 16'd5000, 16'd5000, 16'd0, 3'd2, 4'd2, smk_pkg::LossWidth'(78643), \
   smk_pkg::TokenWindowWidth'(20), smk_pkg::TokenQuotaWidth'(131072), \
   {smk_pkg::NumKernels{smk_pkg::TokenShareWidth'(0)}}, \
   {smk_pkg::NumKernels{smk_pkg::TokenShareWidth'(1024)}}, \
   smk_pkg::ChimeraLimitWidth'(18240), smk_pkg::ChimeraLineWidth'(5)}

`endif
