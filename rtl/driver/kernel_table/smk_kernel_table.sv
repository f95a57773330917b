// SPDX-License-Identifier: Apache-2.0
// smk_kernel_table: the kernels on the GPU and their progress.
//
// Purpose     Takes launches, hands out TB indices in order, counts completed TBs, says when a
//             kernel is done, and keeps a finished kernel's place for a while so that the program's
//             next kernel finds it.
// Paper       [SMK] Sec. 5.1 (Active Queue), deviations [D7] (lingering place), [D8] (buffers).
// Interface   launch_*: stream, ready is combinational: a launch is taken or refused at once.
//             dispatch_new_i, finished_*: pulses (S5). The rest: registers.
// Latency     A launch is visible in the registers on the next edge; kernel_done_o one cycle after
//             the last TB's event.
// Throughput  One launch per cycle; one completion per SM and cycle.
// Reset       No kernel.
// Model       model/control/driver/kernel_table.h   Doc  docs/blocks/kernel_table.md
// A launch may be a slice of its kernel's grid: tb_count TBs from the index first_tb on. A launch
// into a place that would be given away in the same cycle keeps the place. A TB's need is kept
// without its TB count, which is always 1.
`include "smk_assert.svh"

module smk_kernel_table (
  input  logic                           clk_i,
  input  logic                           rst_ni,
  // The host launches a kernel into a slot; one bit more than an id names slots that do not exist.
  input  logic                           launch_valid_i,
  input  logic [smk_pkg::KernelWidth:0]  launch_kernel_i,
  input  smk_pkg::kernel_descriptor_t    launch_i,
  // The kernel whose TB with index next_tb was dispatched.
  input  smk_pkg::kernel_mask_t          dispatch_new_i,
  // TBs completed in this cycle.
  input  smk_pkg::sm_mask_t              finished_valid_i,
  input  smk_pkg::sm_kernel_id_t         finished_kernel_i,
  input  logic                           tick_i,
  // Constant during a run.
  input  logic [smk_pkg::LingerWidth-1:0] linger_ticks_i,
  // The answer to the launch. Same: with the need of the slot's last kernel, which still lingers.
  output logic                           launch_ready_o,
  output smk_pkg::launch_error_e         launch_error_o,
  output logic                           launch_fire_o,
  output logic                           launch_same_o,
  // Pulses: the last TB has completed; a finished kernel's place is given away.
  output smk_pkg::kernel_mask_t          kernel_done_o,
  output smk_pkg::kernel_mask_t          member_expired_o,
  // Kernels with TBs not yet completed, and those with the ones that linger.
  output smk_pkg::kernel_mask_t          active_o,
  output smk_pkg::kernel_mask_t          members_o,
  // Of each kernel: one TB's need and its dominant share, rank by arrival among the members, TBs
  // not yet handed out, index of the next, and where its contexts lie.
  output smk_pkg::need_vec_t             need_o,
  output smk_pkg::share_vec_t            tb_share_o,
  output smk_pkg::order_vec_t            order_o,
  output smk_pkg::tb_id_vec_t            remaining_o,
  output smk_pkg::tb_id_vec_t            next_tb_o,
  output smk_pkg::context_views_t        views_o
);
  `SMK_CHECK_CONFIG

  localparam int unsigned NumSms         = smk_pkg::NumSms;
  localparam int unsigned NumKernels     = smk_pkg::NumKernels;
  localparam int unsigned KernelWidth    = smk_pkg::KernelWidth;
  localparam int unsigned LaunchIdWidth  = KernelWidth + 1;
  localparam int unsigned TbIdWidth      = smk_pkg::TbIdWidth;
  localparam int unsigned ShareWidth     = smk_pkg::ShareWidth;
  localparam int unsigned LineWidth      = smk_pkg::LineWidth;
  localparam int unsigned LogLinesWidth  = smk_pkg::LogLinesWidth;
  localparam int unsigned LingerWidth    = smk_pkg::LingerWidth;
  localparam int unsigned RegistersWidth = smk_pkg::RegisterCntWidth;
  localparam int unsigned SharedWidth    = smk_pkg::SharedCntWidth;
  localparam int unsigned ThreadsWidth   = smk_pkg::ThreadCntWidth;
  localparam int unsigned SmCntWidth     = $clog2(NumSms + 1);

  typedef struct packed {logic [NumKernels-1:0][LingerWidth-1:0] kernel;} linger_vec_t;
  typedef struct packed {logic [3:0][ShareWidth-1:0] resource;} weighted_t;
  // A slot never launched has the one line of its barriers.
  localparam logic [smk_pkg::ContextViewWidth-1:0] ResetView =
      {smk_pkg::AddressWidth'(0), LineWidth'(1), LogLinesWidth'(0)};

  smk_pkg::kernel_mask_t   active_d, active_q, member_d, member_q, done, done_q, expired, expired_q;
  smk_pkg::order_vec_t     order_d, order_q;
  linger_vec_t             linger_d, linger_q;
  // linger_q is zero, known at the start of the cycle.
  smk_pkg::kernel_mask_t   no_linger_d, no_linger_q;
  smk_pkg::need_vec_t      need_q;
  smk_pkg::share_vec_t     share_q;
  smk_pkg::context_views_t views_q;
  // TBs not yet completed (left), and not yet handed out.
  smk_pkg::tb_id_vec_t     left_q, remaining_q, next_tb_q;

  // An amount times a constant: shifts and adds.
  function automatic logic [ShareWidth-1:0] weigh(input logic [ShareWidth-1:0] amount,
                                                  input logic [ShareWidth-1:0] weight);
    weigh = '0;
    for (int unsigned b = 0; b < ShareWidth; b++) begin
      if (weight[b]) weigh = weigh + (amount << b);
    end
  endfunction

  // Launch: the slot, one-hot, and whether it is taken.
  smk_pkg::kernel_mask_t launch_to, same_need, taken;
  smk_pkg::kernel_mask_t could_take, keeps;
  logic                  fits, accept;
  smk_pkg::tb_need_t     need;
  assign need = {RegistersWidth'(launch_i.registers), SharedWidth'(launch_i.shared_memory),
                 ThreadsWidth'(launch_i.threads)};
  assign fits = launch_i.threads != '0 &&
                launch_i.registers <= `SMK_CUT(RegisterLimit, 16'(smk_pkg::LimitRegisters)) &&
                launch_i.shared_memory <= 16'(smk_pkg::LimitSharedMemory) &&
                launch_i.threads <= 16'(smk_pkg::LimitThreads);
  always_comb begin
    for (int unsigned k = 0; k < NumKernels; k++) begin
      launch_to[k] = launch_valid_i && launch_kernel_i == LaunchIdWidth'(k);
      same_need[k] = need_q.kernel[k] == need;
    end
  end
  assign could_take     = launch_to & ~active_q;
  assign keeps          = could_take & member_q & same_need;
  assign accept         = fits && launch_i.tb_count != '0;
  assign taken          = accept ? could_take : '0;
  assign launch_ready_o = launch_valid_i;
  assign launch_fire_o  = accept && could_take != '0;
  assign launch_same_o  = accept && keeps != '0;

  // Why a launch is refused: the first reason that applies.
  always_comb begin
    launch_error_o = smk_pkg::LaunchNone;
    if (launch_valid_i) begin
      if (launch_to == '0)                    launch_error_o = smk_pkg::LaunchBadSlot;
      else if ((launch_to & active_q) != '0)  launch_error_o = smk_pkg::LaunchSlotBusy;
      else if (launch_i.tb_count == '0)       launch_error_o = smk_pkg::LaunchNoTbs;
      else if (!fits)                         launch_error_o = smk_pkg::LaunchTooLarge;
    end
  end

  // Dominant share of one TB: each weighted amount is compared with the three others at once.
  weighted_t        weighted;
  smk_pkg::share_t  share;
  logic [3:0]       largest;
  assign weighted.resource[0] = weigh(ShareWidth'(need.registers),
                                      ShareWidth'(smk_pkg::WeightRegisters));
  assign weighted.resource[1] = weigh(ShareWidth'(need.shared_memory),
                                      ShareWidth'(smk_pkg::WeightSharedMemory));
  assign weighted.resource[2] = weigh(ShareWidth'(need.threads),
                                      ShareWidth'(smk_pkg::WeightThreads));
  assign weighted.resource[3] = ShareWidth'(smk_pkg::WeightTbs);
  always_comb begin
    share = '0;
    for (int unsigned r = 0; r < 4; r++) begin
      largest[r] = 1'b1;
      for (int unsigned o = 0; o < 4; o++) begin
        if (weighted.resource[o] > weighted.resource[r]) largest[r] = 1'b0;
      end
      share = share | (weighted.resource[r] & {ShareWidth{largest[r]}});
    end
  end

  // Context: lines of registers, shared memory and warps, and one of barriers. The power of two
  // that holds them has as many bits as the lines without the last.
  smk_pkg::line_t           warp_lines, highest_line;
  logic [LogLinesWidth-1:0] log2_lines;
  assign warp_lines   = (LineWidth'(need.registers) << 3) + (LineWidth'(need.shared_memory) << 1) +
                        LineWidth'(need.threads);
  assign highest_line = LineWidth'(smk_pkg::highest_one(64'(warp_lines)));
  assign log2_lines   = LogLinesWidth'(smk_pkg::index_of(64'(highest_line))) + LogLinesWidth'(1);

  // TBs are handed out and complete. The index of the next TB counts up from the launch's first, its
  // complement down; indices are modulo 2^TbIdWidth.
  smk_pkg::kernel_mask_t ends;
  for (genvar k = 0; k < NumKernels; k++) begin : gen_progress
    smk_pkg::sm_mask_t   finished_here;
    logic [SmCntWidth-1:0] finished;
    logic                dispatch_new;
    smk_pkg::tb_id_t     next_tb_inverse;
    logic [1:0]          unused_ends;
    always_comb begin
      for (int unsigned sm = 0; sm < NumSms; sm++) begin
        finished_here[sm] = finished_valid_i[sm] &&
                            finished_kernel_i.sm[sm] == KernelWidth'(k);
      end
    end
    smk_popcount #(.N(NumSms)) u_finished (
      .mask_i(`SMK_CUT(FinishedHere, finished_here)), .count_o(finished)
    );
    assign dispatch_new = `SMK_CUT(DispatchNew, dispatch_new_i[k]);
    smk_down_counter #(.Width(TbIdWidth), .AmountWidth(SmCntWidth), .LowWidth(SmCntWidth)) u_left (
      .clk_i, .rst_ni, .load_i(taken[k]), .value_i(launch_i.tb_count), .amount_i(finished),
      .count_o(left_q.kernel[k]), .ends_o(ends[k])
    );
    smk_down_counter #(.Width(TbIdWidth)) u_remaining (
      .clk_i, .rst_ni, .load_i(taken[k]), .value_i(launch_i.tb_count), .amount_i(dispatch_new),
      .count_o(remaining_q.kernel[k]), .ends_o(unused_ends[0])
    );
    // Ones written out: Yosys takes '1 as a parameter for 1.
    smk_down_counter #(.Width(TbIdWidth), .ResetValue({TbIdWidth{1'b1}})) u_next_tb (
      .clk_i, .rst_ni, .load_i(taken[k]), .value_i(~launch_i.first_tb),
      .amount_i(`SMK_CUT(OneTbMore, dispatch_new)),
      .count_o(next_tb_inverse), .ends_o(unused_ends[1])
    );
    assign next_tb_q.kernel[k] = ~next_tb_inverse;
  end
  assign done = active_q & ends;

  // A finished kernel lingers for some ticks, set from its launch on; a launch keeps its place.
  smk_pkg::kernel_mask_t expires;
  assign expires = (member_q & ~active_q & no_linger_q) & {NumKernels{tick_i}};
  always_comb begin
    linger_d    = linger_q;
    no_linger_d = no_linger_q;
    for (int unsigned k = 0; k < NumKernels; k++) begin
      if (active_q[k] || taken[k]) begin
        linger_d.kernel[k] = linger_ticks_i;
        no_linger_d[k]     = linger_ticks_i == '0;
      end else if (`SMK_CUT(LingerTick, tick_i) && !no_linger_q[k]) begin
        linger_d.kernel[k] = linger_q.kernel[k] - LingerWidth'(1);
        no_linger_d[k]     = linger_q.kernel[k] == LingerWidth'(1);
      end
    end
  end
  assign expired  = expires & ~taken;
  assign active_d = (active_q & ~done) | taken;
  assign member_d = (member_q & ~expired) | taken;

  // Rank: how many members are older; looked up for both answers to a launch. Of several that go
  // at once, the lower slot goes first.
  function automatic logic [KernelWidth-1:0] rank_of(input smk_pkg::kernel_mask_t older);
    rank_of = '0;
    for (int unsigned j = 0; j < NumKernels; j++) rank_of = rank_of + KernelWidth'(older[j]);
  endfunction
  smk_pkg::kernel_mask_t arrives, stays;
  assign arrives = could_take & ~keeps;
  assign stays   = member_q & ~(expires & ~could_take);
  for (genvar k = 0; k < NumKernels; k++) begin : gen_order
    localparam smk_pkg::kernel_mask_t Mine  = NumKernels'(64'd1 << k);
    localparam smk_pkg::kernel_mask_t Lower = NumKernels'((64'd1 << k) - 64'd1);
    smk_pkg::kernel_mask_t  older;
    logic [KernelWidth-1:0] rank, rank_accept;
    always_comb begin
      for (int unsigned j = 0; j < NumKernels; j++) begin
        older[j] = member_q[j] && order_q.kernel[j] < order_q.kernel[k];
      end
      rank = order_q.kernel[k];
      if (expires[k])       rank = rank_of(older & ~(expires & Lower));
      else if (member_q[k]) rank = rank_of(older & ~expires);
      rank_accept = order_q.kernel[k];
      if (arrives[k])         rank_accept = rank_of(stays & ~Mine);
      else if (!member_q[k])  rank_accept = order_q.kernel[k];
      else if (!stays[k])     rank_accept = rank_of(older & (stays | ~Lower));
      else                    rank_accept = rank_of(older & stays & ~arrives);
    end
    assign order_d.kernel[k] = accept ? rank_accept : rank;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      active_q    <= '0;
      member_q    <= '0;
      done_q      <= '0;
      expired_q   <= '0;
      order_q     <= '0;
      linger_q    <= '0;
      no_linger_q <= '1;
    end else begin
      active_q    <= active_d;
      member_q    <= member_d;
      done_q      <= done;
      expired_q   <= expired;
      order_q     <= order_d;
      linger_q    <= linger_d;
      no_linger_q <= no_linger_d;
    end
  end

  // What a launch says of its kernel.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      need_q  <= '0;
      share_q <= '0;
      views_q <= {NumKernels{ResetView}};
    end else begin
      for (int unsigned k = 0; k < NumKernels; k++) begin
        if (taken[k]) begin
          need_q.kernel[k]  <= need;
          share_q.kernel[k] <= share;
          views_q.kernel[k] <= {launch_i.context_base, warp_lines + LineWidth'(1), log2_lines};
        end
      end
    end
  end

  assign kernel_done_o    = done_q;
  assign member_expired_o = expired_q;
  assign active_o         = active_q;
  assign members_o        = member_q;
  assign need_o           = need_q;
  assign tb_share_o       = share_q;
  assign order_o          = order_q;
  assign remaining_o      = remaining_q;
  assign next_tb_o        = next_tb_q;
  assign views_o          = views_q;

  for (genvar k = 0; k < NumKernels; k++) begin : gen_laws
    // A TB completes once, and not before it was handed out.
    `SMK_ASSERT(CompletedWasHandedOut_M, active_q[k] |->
                left_q.kernel[k] >= remaining_q.kernel[k] && left_q.kernel[k] != '0)
    // A kernel ends with its last TB, and not before.
    `SMK_ASSERT(EndsWithTheLastTb_A, !active_q[k] |-> left_q.kernel[k] == '0)
    // Conservation: a TB handed out is one fewer that remains.
    `SMK_ASSERT(TbsConserved_A, !taken[k] |=> remaining_q.kernel[k] + next_tb_q.kernel[k] ==
                $past(remaining_q.kernel[k] + next_tb_q.kernel[k]))
    // The short cut says what the count says.
    `SMK_ASSERT(NoLingerIsExact_A, no_linger_q[k] == (linger_q.kernel[k] == '0))
    // The ranks of n members are 0 to n - 1.
    `SMK_ASSERT(RanksAreDense_A, member_q[k] |->
                32'(order_q.kernel[k]) < $countones(member_q))
    for (genvar j = 0; j < k; j++) begin : gen_pairs
      `SMK_ASSERT(RanksDiffer_A, member_q[k] && member_q[j] |->
                  order_q.kernel[k] != order_q.kernel[j])
    end
  end
  // Only members are active.
  `SMK_ASSERT(ActiveIsMember_A, (active_q & ~member_q) == '0)
  // Only a TB that remains is handed out.
  `SMK_ASSERT(HandedOutOnce_M, $onehot0(dispatch_new_i))
  for (genvar k = 0; k < NumKernels; k++) begin : gen_handed_out
    `SMK_ASSERT(HandedOutRemains_M, dispatch_new_i[k] |-> remaining_q.kernel[k] != '0)
  end
  // A launch is taken or refused with a reason.
  `SMK_ASSERT(RefusedHasReason_A, launch_valid_i |->
              launch_fire_o == (launch_error_o == smk_pkg::LaunchNone))
  // Nothing changes without a launch that is taken, a TB handed out or completed, or a tick.
  `SMK_ASSERT(IdleHolds_A, !launch_fire_o && dispatch_new_i == '0 && finished_valid_i == '0 &&
              !tick_i && $stable(linger_ticks_i) |=> done_q == '0 && expired_q == '0 &&
              $stable({active_q, member_q, order_q, linger_q, left_q, remaining_q, next_tb_q,
                       need_q, share_q, views_q}))
  // A launch really keeps a place that would be given away in our tests.
  `SMK_COVER(KeepsExpiringPlace_C, launch_same_o && tick_i)
endmodule
