// SPDX-License-Identifier: Apache-2.0
// smk_kernel_table_checker: only kernels that can run are taken, and only known ones progress.
`include "smk_assert.svh"

module smk_kernel_table_checker (
  input logic                   clk_i,
  input logic                   rst_ni,
  input logic                   launch_fire_o,
  input logic [smk_pkg::KernelWidth:0] launch_kernel_i,
  input smk_pkg::kernel_descriptor_t   launch_i,
  input smk_pkg::kernel_mask_t  dispatch_new_i,
  input smk_pkg::sm_mask_t      finished_valid_i,
  input smk_pkg::sm_kernel_id_t finished_kernel_i,
  input smk_pkg::kernel_mask_t  active_o,
  input smk_pkg::need_vec_t     need_o,
  input smk_pkg::tb_id_vec_t    remaining_o,
  input smk_pkg::tb_id_vec_t    next_tb_o
);
  localparam int unsigned NumSms = smk_pkg::NumSms;

  for (genvar k = 0; k < smk_pkg::NumKernels; k++) begin : gen_kernel
    smk_pkg::tb_need_t need;
    assign need = need_o.kernel[k];
    // A TB of a kernel that runs fits into an empty SM: others are refused at their launch.
    `SMK_ASSERT(NeedFits_A, active_o[k] |-> need.threads != '0 &&
                32'(need.registers) <= smk_pkg::LimitRegisters &&
                32'(need.shared_memory) <= smk_pkg::LimitSharedMemory &&
                32'(need.threads) <= smk_pkg::LimitThreads)
  end
  for (genvar sm = 0; sm < NumSms; sm++) begin : gen_sm
    // A TB that finishes is one of a kernel that runs.
    `SMK_ASSERT(FinishedIsKnown_M, finished_valid_i[sm] |-> active_o[finished_kernel_i.sm[sm]])
  end
  // A launch begins with its first TB and has as many as it says.
  smk_pkg::kernel_id_t launched;
  assign launched = launch_kernel_i[smk_pkg::KernelWidth-1:0];
  `SMK_ASSERT(LaunchBeginsAtFirstTb_A, launch_fire_o |=>
              next_tb_o.kernel[$past(launched)] == $past(launch_i.first_tb) &&
              remaining_o.kernel[$past(launched)] == $past(launch_i.tb_count))
  // A TB that was handed out is not handed out again (S5).
  for (genvar k = 0; k < smk_pkg::NumKernels; k++) begin : gen_handed_out
    `SMK_ASSERT(HandedOutIsTaken_A, dispatch_new_i[k] |=> next_tb_o.kernel[k] ==
                $past(next_tb_o.kernel[k]) + smk_pkg::TbIdWidth'(1))
  end
endmodule

bind smk_kernel_table smk_kernel_table_checker u_checker (.*);
