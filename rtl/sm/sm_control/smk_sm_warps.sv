// SPDX-License-Identifier: Apache-2.0
// smk_sm_warps: what each scheduler hears of its warps; part of smk_sm_tables.
//
// Purpose     Gives each scheduler its share of the warps that stop, that leave and that start: warp
//             slot w is slot w / NumSchedulers of scheduler w mod NumSchedulers.
// Paper       [SMK] Fig. 3.
// Interface   Masks are wires. start_valid_o: pulse (S5) to one scheduler; warp and kernel are for
//             all.
// Latency     Masks 0 cycles, starts 1.
// Throughput  One start per cycle.
// Reset       No warp starts.
// Model       model/control/sm/sm_control.h   Doc  docs/blocks/sm_control.md
`include "smk_assert.svh"

module smk_sm_warps (
  input  logic                              clk_i,
  input  logic                              rst_ni,
  input  smk_pkg::warp_mask_t               stop_warps_i,
  input  smk_pkg::warp_mask_t               leave_warps_i,
  // A warp of a kernel starts, on this scheduler (one-hot).
  input  logic                              start_i,
  input  smk_pkg::warp_id_t                 start_warp_i,
  input  smk_pkg::kernel_id_t               start_kernel_i,
  input  logic [smk_pkg::NumSchedulers-1:0] start_scheduler_i,
  output smk_pkg::scheduler_warps_t         stop_warps_o,
  output smk_pkg::scheduler_warps_t         leave_warps_o,
  output logic [smk_pkg::NumSchedulers-1:0] start_valid_o,
  output logic [smk_pkg::GrantWidth-1:0]    start_warp_o,
  output logic [smk_pkg::GrantWidth-1:0]    start_warp_n_o,
  output smk_pkg::kernel_id_t               start_kernel_o
);
  localparam int unsigned NumSchedulers     = smk_pkg::NumSchedulers;
  localparam int unsigned WarpsPerScheduler = smk_pkg::WarpsPerScheduler;
  localparam int unsigned GrantWidth        = smk_pkg::GrantWidth;

  logic [NumSchedulers-1:0] start_valid_q;
  logic [GrantWidth-1:0]    start_warp_q, start_warp_n_q;
  smk_pkg::kernel_id_t start_kernel_q;

  // Every n-th bit is drawn together in a few steps: only wires, and whole words for a simulation.
  function automatic logic [63:0] runs_of(input int unsigned width);
    for (int unsigned b = 0; b < 64; b++) runs_of[b] = b % (width * NumSchedulers) < width;
  endfunction
  localparam logic [63:0] Runs1 = runs_of(1), Runs2 = runs_of(2), Runs4 = runs_of(4);
  localparam logic [63:0] Runs8 = runs_of(8), Runs16 = runs_of(16), Runs32 = runs_of(32);
  localparam int unsigned Gap = NumSchedulers - 1;
  function automatic logic [WarpsPerScheduler-1:0] every_nth(input logic [63:0] warps);
    logic [63:0] drawn;
    drawn     = warps & Runs1;
    drawn     = (drawn | (drawn >> Gap)) & Runs2;
    drawn     = (drawn | (drawn >> (2 * Gap))) & Runs4;
    drawn     = (drawn | (drawn >> (4 * Gap))) & Runs8;
    drawn     = (drawn | (drawn >> (8 * Gap))) & Runs16;
    drawn     = (drawn | (drawn >> (16 * Gap))) & Runs32;
    every_nth = WarpsPerScheduler'(drawn);
  endfunction
  for (genvar s = 0; s < NumSchedulers; s++) begin : gen_warps
    assign leave_warps_o.scheduler[s] = every_nth(64'(leave_warps_i) >> s);
    assign stop_warps_o.scheduler[s]  = every_nth(64'(stop_warps_i) >> s);
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      start_valid_q  <= '0;
      start_warp_q   <= '0;
      start_warp_n_q <= '1;
      start_kernel_q <= '0;
    end else begin
      start_valid_q <= start_scheduler_i;
      // Counts with start_valid_q only. No enable: the warp is known late.
      start_warp_q   <= start_warp_i[smk_pkg::WarpWidth-1 -: GrantWidth];
      start_warp_n_q <= ~start_warp_i[smk_pkg::WarpWidth-1 -: GrantWidth];
      if (start_i) start_kernel_q <= start_kernel_i;
    end
  end
  assign start_valid_o  = start_valid_q;
  assign start_warp_o   = start_warp_q;
  assign start_warp_n_o = start_warp_n_q;
  assign start_kernel_o = start_kernel_q;

  // One scheduler hears of a warp that starts: its own.
  `SMK_ASSERT(StartHasScheduler_M, start_scheduler_i == (start_i ?
              NumSchedulers'(1) << (start_warp_i % smk_pkg::WarpWidth'(NumSchedulers)) : '0))
  // No warp is lost on the way to the schedulers.
  `SMK_ASSERT(WarpsConserved_A, $countones(leave_warps_o) == $countones(leave_warps_i) &&
              $countones(stop_warps_o) == $countones(stop_warps_i))
endmodule
