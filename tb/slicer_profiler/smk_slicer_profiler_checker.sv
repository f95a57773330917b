// SPDX-License-Identifier: Apache-2.0
// smk_slicer_profiler_checker: what is sampled is what the SM held, and every point once.
`include "smk_assert.svh"

module smk_slicer_profiler_checker (
  input logic                  clk_i,
  input logic                  rst_ni,
  input logic                  start_i,
  input logic                  stop_i,
  input logic                  again,
  input logic                  window_o,
  input smk_pkg::sm_id_t       count_sm_o,
  input logic                  give_valid_o,
  input smk_pkg::sm_id_t       give_sm_o,
  input smk_pkg::kernel_id_t   give_kernel_o,
  input smk_pkg::tb_cnt_t      give_tbs_o,
  input logic                  sample_valid_o,
  input smk_pkg::kernel_id_t   sample_kernel_o,
  input smk_pkg::tb_cnt_t      sample_tbs_o,
  input logic                  plan_o,
  input logic                  profiling_o,
  input logic                  again_q,
  input smk_pkg::kernel_mask_t kernels_o,
  input smk_pkg::kernel_id_t   priority_kernel_o,
  input smk_pkg::tb_cnt_vec_t  most_q
);
  localparam int unsigned NumKernels = smk_pkg::NumKernels;
  localparam int unsigned NumSms     = smk_pkg::NumSms;
  localparam int unsigned Points     = smk_pkg::LimitTbs + 1;

  // What each SM was given last; whose counts were read; which points are known.
  logic [NumSms-1:0][smk_pkg::KernelWidth-1:0] kernel_q;
  logic [NumSms-1:0][smk_pkg::TbCntWidth-1:0]  tbs_q;
  smk_pkg::sm_id_t            sm_q;
  logic [NumKernels*64-1:0]   known_q;
  logic [$clog2(NumKernels*64)-1:0] point;
  assign point = {sample_kernel_o, 6'(sample_tbs_o)};
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      sm_q <= '0;
      known_q <= '0;
    end else begin
      sm_q <= count_sm_o;
      if (give_valid_o) kernel_q[give_sm_o] <= give_kernel_o;
      if (give_valid_o) tbs_q[give_sm_o]    <= give_tbs_o;
      if (sample_valid_o) known_q[point] <= 1'b1;
      if (start_i || again) known_q <= '0;
    end
  end
  // A sample is of the kernel and the TBs that its SM was given; each is taken once.
  `SMK_ASSERT(SampleOfItsSm_A, sample_valid_o |-> kernel_q[sm_q] == sample_kernel_o &&
              tbs_q[sm_q] == sample_tbs_o && sample_tbs_o != '0)
  `SMK_ASSERT(SampledOnce_A, sample_valid_o |-> !known_q[point])
  // Conservation: when the plan is asked for, every point of the curve is known, and no other; of all
  // kernels, or of the one that is sampled again.
  for (genvar k = 0; k < NumKernels; k++) begin : gen_kernel
    logic [Points-1:0] all_points;
    logic              wanted;
    assign wanted     = kernels_o[k] && (!again_q || 32'(priority_kernel_o) == k);
    assign all_points = (Points'(1) << (32'(most_q.kernel[k]) + 1)) - Points'(2);
    `SMK_ASSERT(CurveIsWhole_A, plan_o && !start_i && !stop_i |->
                known_q[64*k +: Points] == (wanted ? all_points : '0))
  end
  // SMs are given nothing else during a window.
  `SMK_ASSERT(WindowIsQuiet_A, window_o && profiling_o && $past(window_o) |-> !give_valid_o)
endmodule

bind smk_slicer_profiler smk_slicer_profiler_checker u_checker (.*);
