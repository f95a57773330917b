// SPDX-License-Identifier: Apache-2.0
// sim_package: every function of smk_pkg as a port, for tests.
module sim_package (
  input  smk_pkg::sm_mask_t     sms_i,
  input  smk_pkg::kernel_mask_t kernels_i,
  input  smk_pkg::slot_mask_t   slots_i,
  input  smk_pkg::warp_mask_t   warps_i,
  input  smk_pkg::grant_mask_t  grants_i,
  input  logic [63:0]           bits_i,
  input  logic [6:0]            from_i,
  input  logic [6:0]            limit_i,
  output smk_pkg::sm_mask_t     lowest_sm_o,
  output smk_pkg::kernel_mask_t lowest_kernel_o,
  output smk_pkg::slot_mask_t   lowest_slot_o,
  output smk_pkg::slot_mask_t   highest_slot_o,
  output smk_pkg::warp_mask_t   lowest_warp_o,
  output smk_pkg::sm_id_t       sm_o,
  output smk_pkg::kernel_id_t   kernel_o,
  output smk_pkg::tb_slot_t     slot_o,
  output smk_pkg::warp_id_t     warp_o,
  output smk_pkg::grant_warp_t  grant_o,
  output logic [63:0]           highest_one_o,
  output logic [5:0]            index_o,
  output logic [63:0]           between_o
);
  assign lowest_sm_o     = smk_pkg::lowest_sm(sms_i);
  assign lowest_kernel_o = smk_pkg::lowest_kernel(kernels_i);
  assign lowest_slot_o   = smk_pkg::lowest_slot(slots_i);
  assign highest_slot_o  = smk_pkg::highest_slot(slots_i);
  assign lowest_warp_o   = smk_pkg::lowest_warp(warps_i);
  assign sm_o            = smk_pkg::index_of_sm(lowest_sm_o);
  assign kernel_o        = smk_pkg::index_of_kernel(lowest_kernel_o);
  assign slot_o          = smk_pkg::index_of_slot(lowest_slot_o);
  assign warp_o          = smk_pkg::index_of_warp(lowest_warp_o);
  assign grant_o         = smk_pkg::index_of_grant(grants_i & (~grants_i + 1'b1));
  assign highest_one_o   = smk_pkg::highest_one(bits_i);
  assign index_o         = smk_pkg::index_of(highest_one_o);
  assign between_o       = smk_pkg::bits_between(from_i, limit_i);
endmodule
