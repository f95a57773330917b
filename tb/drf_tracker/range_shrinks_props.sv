// SPDX-License-Identifier: Apache-2.0
// Proofs of smk_range_shrinks, from its ports alone: a question that has held for seven cycles is
// answered as the range of rK recomputed at once.
`include "formal.svh"

module formal_range_shrinks (
  input logic                      clk_i,
  // Another question from the next cycle on.
  input logic                      change_i,
  input smk_pkg::kernel_mask_t     active_i,
  input smk_pkg::total_share_vec_t share_i,
  input smk_pkg::total_share_vec_t floor_i,
  input smk_pkg::share_vec_t       tb_share_i,
  input logic                      count_running_sms_i,
  input smk_pkg::kernel_id_t       kernel_i,
  input logic                      kernel_starts_i,
  input smk_pkg::kernel_id_t       victim_i,
  input smk_pkg::tb_cnt_t          victim_tbs_i,
  input logic                      victim_stops_i
);
  localparam int unsigned NumKernels = smk_pkg::NumKernels;
  localparam int unsigned Width      = smk_pkg::TotalShareWidth;
  localparam int unsigned Steps      = 7;

  `FORMAL_RESET
  // The question, and for how many cycles before this one it has been the same.
  smk_pkg::kernel_mask_t     active_q;
  smk_pkg::total_share_vec_t share_q;
  smk_pkg::total_share_vec_t floor_q;
  smk_pkg::share_vec_t       tb_share_q;
  logic                      count_running_sms_q;
  smk_pkg::kernel_id_t       kernel_q;
  logic                      kernel_starts_q;
  smk_pkg::kernel_id_t       victim_q;
  smk_pkg::tb_cnt_t          victim_tbs_q;
  logic                      victim_stops_q;
  logic [2:0]                held_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni || change_i)      held_q <= '0;
    else if (held_q != 3'(Steps)) held_q <= held_q + 1'b1;
    if (!rst_ni || change_i) begin
      active_q <= active_i;
      share_q <= share_i;
      floor_q <= floor_i;
      tb_share_q <= tb_share_i;
      count_running_sms_q <= count_running_sms_i;
      kernel_q <= kernel_i;
      kernel_starts_q <= kernel_starts_i;
      victim_q <= victim_i;
      victim_tbs_q <= victim_tbs_i;
      victim_stops_q <= victim_stops_i;
    end
  end

  // rK of each kernel, now and afterwards, and what is required of the tracker.
  smk_pkg::total_share_vec_t decided;
  typedef struct packed {logic [NumKernels-1:0][15:0] kernel;} amounts_t;
  amounts_t                  now, after;
  logic [NumKernels-1:0]     good;
  for (genvar k = 0; k < NumKernels; k++) begin : gen_kernel
    logic [15:0]      its_now, its_after;
    logic [Width-1:0] its_share, its_floor;
    assign its_share = share_q.kernel[k];
    assign its_floor = floor_q.kernel[k];
    formal_share u_share (
      .share_i   ({{(16-Width){its_share[Width-1]}}, its_share}),
      .floor_i   ({{(16-Width){its_floor[Width-1]}}, its_floor}),
      .tb_share_i(16'(tb_share_q.kernel[k])),
      .whole_i   (count_running_sms_q ? 16'(smk_pkg::ShareWhole) : 16'd0),
      .comes_i   (kernel_q == smk_pkg::KernelWidth'(k)),
      .starts_i  (kernel_starts_q),
      .goes_i    (victim_q == smk_pkg::KernelWidth'(k)),
      .tbs_i     (victim_tbs_q),
      .stops_i   (victim_stops_q),
      .now_o     (its_now),
      .after_o   (its_after),
      .good_o    (good[k])
    );
    assign after.kernel[k]   = its_after;
    assign now.kernel[k]     = its_now;
    assign decided.kernel[k] = its_now[Width-1:0];
  end
  `ASSUME(SharesInRange_M, good == '1)
  `ASSUME(VictimIsAnother_M, kernel_q != victim_q)

  logic shrinks;
  smk_range_shrinks u_dut (
    .clk_i, .rst_ni,
    .active_i           (active_q),
    .share_i            (share_q),
    .floor_i            (floor_q),
    .tb_share_i         (tb_share_q),
    .count_running_sms_i(count_running_sms_q),
    .kernel_starts_i    (kernel_starts_q),
    .victim_tbs_i       (victim_tbs_q),
    .victim_stops_i     (victim_stops_q),
    .decided_i(decided),
    .kernel_i (smk_pkg::NumKernels'(1) << kernel_q),
    .victim_i (smk_pkg::NumKernels'(1) << victim_q),
    .shrinks_o(shrinks)
  );

  // Highest less lowest of the active kernels; none is below zero.
  logic [15:0] range_now, range_after;
  formal_range u_now (.active_i(active_q), .amount_i(now), .range_o(range_now));
  formal_range u_after (.active_i(active_q), .amount_i(after), .range_o(range_after));
  // A preemption is said to make the range smaller exactly when it does.
  `PROVE(AnswerIsTheRange_A, held_q != 3'(Steps) ||
         shrinks == (active_q != '0 && range_after < range_now))
endmodule

// Highest less lowest; zero if there is none.
module formal_range (
  input  smk_pkg::kernel_mask_t            active_i,
  input  logic [16*smk_pkg::NumKernels-1:0] amount_i,
  output logic [15:0]                      range_o
);
  logic [15:0] low, high;
  always_comb begin
    low  = '1;
    high = '0;
    for (int unsigned k = 0; k < smk_pkg::NumKernels; k++) begin
      if (active_i[k] && amount_i[16*k +: 16] < low)  low = amount_i[16*k +: 16];
      if (active_i[k] && amount_i[16*k +: 16] > high) high = amount_i[16*k +: 16];
    end
  end
  assign range_o = active_i == '0 ? '0 : high - low;
endmodule

// rK of one kernel, now and when a TB of it comes and may start to run on the SM, or so many go and
// may be its last there; and what the tracker says of it: see ShareInRange_A there.
module formal_share (
  input  logic signed [15:0] share_i,
  input  logic signed [15:0] floor_i,
  input  logic signed [15:0] tb_share_i,
  input  logic signed [15:0] whole_i,
  input  logic               comes_i,
  input  logic               starts_i,
  input  logic               goes_i,
  input  smk_pkg::tb_cnt_t   tbs_i,
  input  logic               stops_i,
  output logic signed [15:0] now_o,
  output logic signed [15:0] after_o,
  output logic               good_o
);
  logic signed [15:0] share, least, gone;
  assign gone    = 16'(tbs_i) * tb_share_i;
  assign share   = comes_i ? share_i + tb_share_i : goes_i ? share_i - gone : share_i;
  assign least   = (comes_i && starts_i) ? floor_i + whole_i :
                   (goes_i && stops_i)   ? floor_i - whole_i : floor_i;
  assign now_o   = share_i > floor_i ? share_i : floor_i;
  assign after_o = share > least ? share : least;
  // It is not below zero, and the TBs that go are on one SM.
  localparam logic signed [15:0] Whole = smk_pkg::ShareWhole;
  localparam logic signed [15:0] All   = smk_pkg::NumSms * smk_pkg::ShareWhole;
  assign good_o = share_i + All >= 0 && share_i <= All + All && floor_i >= 0 && floor_i <= All &&
                  least >= 0 && tb_share_i <= Whole && gone <= Whole;
endmodule
