// SPDX-License-Identifier: Apache-2.0
// Proofs of smk_kernel_table, from its ports alone: TBs of one kernel, any, are counted here.
`include "formal.svh"

// In place of the counter in parts: one register, which down_counter is proved to equal.
module smk_down_counter #(
  parameter int unsigned      Width       = 32,
  parameter int unsigned      AmountWidth = 1,
  parameter int unsigned      LowWidth    = 8,
  parameter logic [Width-1:0] ResetValue  = '0
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  input  logic                   load_i,
  input  logic [Width-1:0]       value_i,
  input  logic [AmountWidth-1:0] amount_i,
  output logic [Width-1:0]       count_o,
  output logic                   ends_o
);
  logic [Width-1:0] less;
  assign less   = count_o - Width'(amount_i);
  assign ends_o = less == '0;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni)     count_o <= ResetValue;
    else if (load_i) count_o <= value_i;
    else             count_o <= less;
  end
endmodule

module formal_kernel_table (
  input logic                            clk_i,
  input logic                            launch_valid_i,
  input logic [smk_pkg::KernelWidth:0]   launch_kernel_i,
  input smk_pkg::kernel_descriptor_t     launch_i,
  input smk_pkg::kernel_mask_t           dispatch_new_i,
  input smk_pkg::sm_mask_t               finished_valid_i,
  input smk_pkg::sm_kernel_id_t          finished_kernel_i,
  input logic                            tick_i,
  input logic [smk_pkg::LingerWidth-1:0] linger_ticks_i,
  // The kernel and the TB that are watched, any but constant.
  input smk_pkg::kernel_id_t             watched_kernel_i,
  input smk_pkg::tb_id_t                 watched_tb_i
);
  localparam int unsigned NumSms = smk_pkg::NumSms;

  `FORMAL_RESET
  smk_pkg::kernel_id_t watched_q;
  smk_pkg::tb_id_t     tb_q;
  logic [smk_pkg::LingerWidth-1:0] linger_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) {watched_q, tb_q, linger_q} <= {watched_kernel_i, watched_tb_i, linger_ticks_i};
  end

  logic                    launch_ready, launch_fire, launch_same;
  smk_pkg::launch_error_e  launch_error;
  smk_pkg::kernel_mask_t   kernel_done, member_expired, active, members;
  smk_pkg::need_vec_t      need;
  smk_pkg::share_vec_t     tb_share;
  smk_pkg::order_vec_t     order;
  smk_pkg::tb_id_vec_t     remaining, next_tb;
  smk_pkg::context_views_t views;
  smk_kernel_table u_dut (
    .clk_i, .rst_ni, .launch_valid_i, .launch_kernel_i, .launch_i, .dispatch_new_i,
    .finished_valid_i, .finished_kernel_i, .tick_i,
    .linger_ticks_i  (linger_q),
    .launch_ready_o  (launch_ready),
    .launch_error_o  (launch_error),
    .launch_fire_o   (launch_fire),
    .launch_same_o   (launch_same),
    .kernel_done_o   (kernel_done),
    .member_expired_o(member_expired),
    .active_o        (active),
    .members_o       (members),
    .need_o          (need),
    .tb_share_o      (tb_share),
    .order_o         (order),
    .remaining_o     (remaining),
    .next_tb_o       (next_tb),
    .views_o         (views)
  );

  // The watched kernel: TBs of its grid, handed out, completed.
  logic             launched, hands_out, running_q, ended_q;
  smk_pkg::tb_id_t  next_q, total_q, handed_q, completed_q, completed_now;
  logic [7:0]       completes;
  assign launched  = launch_fire && launch_kernel_i == {1'b0, watched_q};
  assign hands_out = dispatch_new_i[watched_q];
  always_comb begin
    completes = '0;
    for (int unsigned sm = 0; sm < NumSms; sm++) begin
      if (finished_valid_i[sm] && finished_kernel_i.sm[sm] == watched_q) begin
        completes = completes + 8'd1;
      end
    end
  end
  assign completed_now = completed_q + smk_pkg::TbIdWidth'(completes);
  always_ff @(posedge clk_i) begin
    ended_q <= rst_ni && running_q && completed_now == total_q;
    if (!rst_ni) begin
      running_q                                <= 1'b0;
      {next_q, total_q, handed_q, completed_q} <= '0;
    end else begin
      next_q      <= next_q + smk_pkg::TbIdWidth'(hands_out);
      handed_q    <= handed_q + smk_pkg::TbIdWidth'(hands_out);
      completed_q <= completed_now;
      if (completed_now == total_q) running_q <= 1'b0;
      if (launched) begin
        running_q   <= 1'b1;
        next_q      <= launch_i.first_tb;
        total_q     <= launch_i.tb_count;
        handed_q    <= '0;
        completed_q <= '0;
      end
    end
  end

  // As smk_kernel_table requires: a TB that remains is handed out, one that was handed
  // out completes. A launch into the kernel's slot while it runs is refused.
  `ASSUME(HandedOutOnce_M, (dispatch_new_i & (dispatch_new_i - 1'b1)) == '0)
  smk_pkg::kernel_mask_t none_remains;
  for (genvar k = 0; k < smk_pkg::NumKernels; k++) begin : gen_none_remains
    assign none_remains[k] = remaining.kernel[k] == '0;
  end
  `ASSUME(HandedOutRemains_M, (dispatch_new_i & none_remains) == '0)
  `ASSUME(CompletedWasHandedOut_M, completes == '0 || (running_q && completed_now <= handed_q &&
          completed_now >= completed_q))

  // TBs are handed out in order: the index of the next counts from that of the launch's first, and
  // what remains is the rest of the launch.
  `PROVE(NextInOrder_A, remaining.kernel[watched_q] == (running_q ? total_q - handed_q : '0) &&
         (!running_q || next_tb.kernel[watched_q] == next_q))
  // Conservation: no more TBs are handed out than the launch has, and all of them before its end.
  `PROVE(HandedOutWithinGrid_A, (!hands_out || (running_q && handed_q < total_q)) &&
         (!running_q || handed_q <= total_q))
  // The watched TB is handed out once per launch at most.
  logic            was_handed_q, is_handed;
  smk_pkg::tb_id_t since_q;  // TBs handed out from it on
  assign is_handed = hands_out && next_tb.kernel[watched_q] == tb_q;
  always_ff @(posedge clk_i) begin
    was_handed_q <= rst_ni && !launched && (was_handed_q || is_handed);
    since_q      <= was_handed_q || is_handed ? since_q + smk_pkg::TbIdWidth'(hands_out) : '0;
    if (!rst_ni || launched) since_q <= '0;
  end
  `PROVE(HandedOutOnce_A, !was_handed_q || !running_q ||
         (!is_handed && since_q <= handed_q && next_q == tb_q + since_q))
  // A kernel is active until its last TB has completed, which is said once, in the next cycle.
  `PROVE(EndsWithItsLastTb_A, active[watched_q] == running_q && kernel_done[watched_q] == ended_q)
  // A launch is answered at once, and refused while the slot's kernel runs.
  `PROVE(BusySlotRefuses_A, launch_ready == launch_valid_i && (!launched || !running_q) &&
         launch_fire == (launch_valid_i && launch_error == smk_pkg::LaunchNone))

  // What a kernel needs, one of any: it fits an SM, holds while the kernel runs, and its context fits a
  // buffer. The place of a kernel that runs is not given away, and places are of different ranks.
  smk_pkg::tb_need_t      its_need, its_need_q;
  smk_pkg::share_t        its_share, its_share_q;
  smk_pkg::context_view_t its_view, its_view_q;
  logic                   was_running_q, completed_one_q;
  assign its_need  = need.kernel[watched_q];
  assign its_share = tb_share.kernel[watched_q];
  assign its_view  = views.kernel[watched_q];
  always_ff @(posedge clk_i) begin
    its_need_q      <= its_need;
    its_share_q     <= its_share;
    its_view_q      <= its_view;
    was_running_q   <= rst_ni && running_q;
    completed_one_q <= rst_ni && completes != '0;
  end
  `PROVE(NeedFits_A, 32'(its_need.registers) <= smk_pkg::LimitRegisters &&
         32'(its_need.shared_memory) <= smk_pkg::LimitSharedMemory &&
         32'(its_need.threads) <= smk_pkg::LimitThreads &&
         (!members[watched_q] || its_need.threads != '0))
  `PROVE(NeedHolds_A, !was_running_q || (its_need == its_need_q && its_share == its_share_q &&
         its_view == its_view_q))
  `PROVE(ContextFits_A, its_view.context_lines != '0 &&
         32'(its_view.context_lines) <= (32'd1 << its_view.context_log2_lines))
  `PROVE(ExpiredHasEnded_A, (member_expired & active) == '0)
  `PROVE(RanksDiffer_A, members != '1 || order.kernel[0] != order.kernel[1])
  `PROVE(DoneFollowsATb_A, !kernel_done[watched_q] || completed_one_q)

  (* keep *) logic idle;
  assign idle = rst_ni && !launch_fire && dispatch_new_i == '0 && finished_valid_i == '0 &&
                !tick_i && !active[0] && !active[1] && kernel_done == '0 && member_expired == '0;
endmodule
