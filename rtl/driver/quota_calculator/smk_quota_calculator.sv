// SPDX-License-Identifier: Apache-2.0
// smk_quota_calculator: warp-instruction quotas from profiled IPC.
//
// Purpose     After each profiling window: for every shared SM, C_k = issued_k x S_k / T_k and
//             Quota_k = C_k / sum(C) x epoch, then one command per kernel and SM.
// Paper       [SMK] Sec. 5.4. S = TBs of the kernel in the SM's partition, T = TBs that it had on
//             its profiling SM. Deviations [D9], [D11], [D107].
// Interface   profile_valid_i: pulse per kernel, with the instructions that its profiling SM issued
//             and T. command_*: stream towards the SM command_sm_o, held until sent.
// Latency     DivideCycles per multiplication and division: two per kernel and SM, none for an SM
//             whose partition equals that of the last SM served.
// Throughput  One round at a time; windows that end during a round are not used. One command per
//             cycle when the SM is ready.
// Reset       Idle, no window seen.
// Model       model/control/driver/quota_calculator.h   Doc  docs/blocks/quota_calculator.md
// Quota_k = floor(C_k x (epoch - kernels) / sum(C)) + 1, so that sum(Quota) <= epoch and none is
// zero [D9]. Does not know when an SM takes the bus: see smk_driver.
`include "smk_assert.svh"

module smk_quota_calculator (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  // Instructions per scheduler and epoch (constant).
  input  smk_pkg::quota_t        epoch_length_i,
  // A window has ended: what each kernel issued in it on its profiling SM, and its TBs there.
  input  smk_pkg::kernel_mask_t  profile_valid_i,
  input  smk_pkg::issued_vec_t   profile_issued_i,
  input  smk_pkg::tb_cnt_vec_t   profile_tbs_i,
  // TBs in force per SM and kernel; the partition of the SM looked at is in force.
  input  smk_pkg::sm_tb_cnts_t   partition_i,
  output smk_pkg::sm_mask_t      at_o,
  input  logic                   settled_i,
  // Quotas of one SM, one kernel each; the first begins the set, the last puts it in force.
  output logic                   busy_o,
  input  logic                   command_ready_i,
  output logic                   command_valid_o,
  output smk_pkg::sm_id_t        command_sm_o,
  output smk_pkg::sm_command_t   command_o
);
  `SMK_CHECK_CONFIG

  localparam int unsigned NumKernels  = smk_pkg::NumKernels;
  localparam int unsigned SmWidth     = smk_pkg::SmWidth;
  localparam int unsigned QuotaWidth  = smk_pkg::QuotaWidth;
  localparam int unsigned IssuedWidth = smk_pkg::IssuedWidth;
  // C and sum(C): the kernels of an SM have at most LimitTbs TBs together.
  localparam int unsigned TbShift     = $clog2(smk_pkg::LimitTbs);
  localparam int unsigned ScaledWidth = IssuedWidth + TbShift;
  localparam int unsigned AccWidth    = ScaledWidth + 1;
  localparam int unsigned AdderWidth  = ScaledWidth + 2;
  // Per operation: one cycle loads, one per bit of the multiplier, one per bit of the quotient.
  localparam int unsigned DivideCycles = 38;
  localparam int unsigned CycleWidth   = $clog2(DivideCycles + 1);
  localparam int unsigned DivideFrom   = DivideCycles - 1 - IssuedWidth;

  typedef struct packed {logic [NumKernels-1:0][ScaledWidth-1:0] kernel;} scaled_vec_t;
  // All but StIdle have the highest bit.
  typedef enum logic [2:0] {StIdle = 3'd0, StSm = 3'd4, StScale = 3'd5, StDivide = 3'd6,
                            StSend = 3'd7} step_e;

  step_e                 step_d, step_q;
  // The SM looked at, and as a mask.
  smk_pkg::sm_id_t       sm_d, sm_q;
  smk_pkg::sm_mask_t     at_d, at_q;
  // Kernels still to be worked on in this step, the current one included.
  smk_pkg::kernel_mask_t todo_d, todo_q;
  logic [CycleWidth-1:0] cycles_left_d, cycles_left_q;
  // What was issued in the window, and T; kernels that have one that is not empty.
  smk_pkg::issued_vec_t  issued_q;
  smk_pkg::tb_cnt_vec_t  alone_q;
  smk_pkg::kernel_mask_t seen_q;
  // Partition that the quotas are for.
  smk_pkg::tb_cnt_vec_t  last_q;
  logic                  last_valid_q;
  // How many share it; one cycle later.
  smk_pkg::kernel_cnt_t  sharers_d, sharers_q;
  // C_k, and once it is divided the quota; sum(C); T of the current kernel.
  scaled_vec_t            value_q;
  logic [ScaledWidth-1:0] sum_q;
  smk_pkg::tb_cnt_t       isolated_q;
  // Whose result is in low_q since the cycle before, and whether it is a C.
  smk_pkg::kernel_mask_t result_of_d, result_of_q;
  logic                  result_is_c_q;
  // The command offered.
  logic                  command_valid_d, command_valid_q, command_first_q, command_last_q;
  smk_pkg::kernel_id_t   command_kernel_q;
  smk_pkg::quota_t       command_quota_q;

  // The SM looked at, and its sharers.
  smk_pkg::tb_cnt_vec_t  here;
  smk_pkg::kernel_mask_t sharing_here, sharing;
  always_comb begin
    here = '0;
    for (int unsigned s = 0; s < smk_pkg::NumSms; s++) begin
      if (at_q[s]) here = here | partition_i.sm[s];
    end
    for (int unsigned k = 0; k < NumKernels; k++) begin
      sharing_here[k] = here.kernel[k] != '0;
      sharing[k]      = last_q.kernel[k] != '0;
    end
  end

  // An SM is served when its partition is in force, is shared, and every sharer has a window.
  logic serve, same, unchanged;
  assign serve     = settled_i && (sharing_here & ~seen_q) == '0 &&
                     (sharing_here & (sharing_here - NumKernels'(1))) != '0;
  assign unchanged = settled_i && here == last_q;
  assign same      = last_valid_q && here == last_q;

  // The current kernel, and what belongs to it.
  smk_pkg::kernel_mask_t            current, others;
  logic [ScaledWidth-1:0]           value;
  logic [IssuedWidth-1:0]           issued;
  smk_pkg::tb_cnt_t                 tbs, tbs_alone;
  assign current = smk_pkg::lowest_kernel(todo_q);
  assign others  = todo_q & ~current;
  always_comb begin
    value     = '0;
    issued    = '0;
    tbs       = '0;
    tbs_alone = '0;
    for (int unsigned k = 0; k < NumKernels; k++) begin
      if (current[k]) begin
        value     = value | value_q.kernel[k];
        issued    = issued | issued_q.kernel[k];
        tbs       = tbs | last_q.kernel[k];
        tbs_alone = tbs_alone | alone_q.kernel[k];
      end
    end
  end

  // The steps of a round.
  logic working, last_cycle, goes_on, can_offer, offer, leave;
  assign working    = step_q == StScale || step_q == StDivide;
  assign last_cycle = working && cycles_left_q == CycleWidth'(1);
  assign goes_on    = working && !last_cycle;
  assign can_offer  = step_q == StSend &&
                      `SMK_CUT(CommandFree, !command_valid_q || command_ready_i);
  assign offer      = can_offer && unchanged && !(command_valid_q && command_last_q);
  assign leave      = (step_q == StSm && !serve) || (can_offer && !offer);
  always_comb begin
    step_d = step_q;
    sm_d   = sm_q;
    at_d   = at_q;
    if (step_q == StIdle && profile_valid_i != '0) step_d = StSm;
    if (step_q == StSm && serve)                   step_d = same ? StSend : StScale;
    if (last_cycle && others == '0) step_d = (step_q == StScale) ? StDivide : StSend;
    if (leave) begin
      step_d = StSm;
      sm_d   = at_q[smk_pkg::NumSms-1] ? '0 : sm_q + SmWidth'(1);
      at_d   = (at_q << 1) | smk_pkg::NumSms'(at_q[smk_pkg::NumSms-1]);
      if (at_q[smk_pkg::NumSms-1]) step_d = StIdle;
    end
  end
  always_comb begin
    todo_d = todo_q;
    if (step_q == StSm)      todo_d = sharing_here;
    if (last_cycle)          todo_d = (others == '0) ? sharing : others;
    if (offer)               todo_d = others;
    cycles_left_d = CycleWidth'(DivideCycles);
    if (`SMK_CUT(GoesOn, goes_on))             cycles_left_d = cycles_left_q - CycleWidth'(1);
    result_of_d     = last_cycle ? current : '0;
    command_valid_d = can_offer ? offer : command_valid_q;
  end

  // The epoch less the ones that are added at the end.
  smk_pkg::quota_t quota_base;
  always_comb begin
    sharers_d = '0;
    for (int unsigned k = 0; k < NumKernels; k++) begin
      sharers_d = sharers_d + smk_pkg::KernelCntWidth'(sharing[k]);
    end
  end
  assign quota_base = epoch_length_i - QuotaWidth'(sharers_q);

  // One adder multiplies and divides. The product grows from the top of {acc, low} and pushes the
  // multiplier out; then the remainder is in acc, and the quotient pushes the rest of the product
  // out of low. The first operation divides by T x 2^TbShift, so that its quotient has ScaledWidth
  // bits; that of the second, C <= sum(C), has QuotaWidth. A divisor is stored inverted. acc is what
  // the adder takes: for a subtraction with the next bit of low behind it.
  logic [ScaledWidth-1:0] low_d, low_q, addend_d, addend_q;
  logic [AccWidth-1:0]    acc_d, acc_q;
  logic [AdderWidth-1:0]  total;
  logic                   load_q, multiply_d, multiply_q, divide_d, divide_q, fits;
  assign multiply_d = !goes_on || 32'(cycles_left_q) > DivideFrom + 1;
  assign divide_d   = !multiply_d && ((step_q == StScale) ?
                          32'(cycles_left_q) > DivideFrom + 1 - ScaledWidth :
                          32'(cycles_left_q) > DivideFrom + 1 - QuotaWidth);
  always_comb begin
    if (step_q == StScale) begin
      addend_d = load_q ? ScaledWidth'(tbs) : ~(ScaledWidth'(isolated_q) << TbShift);
    end else begin
      addend_d = load_q ? value : ~sum_q;
    end
    total = {1'b0, acc_q} + {{2{!multiply_q}}, addend_q} + AdderWidth'(!multiply_q);
    // Nothing is taken from a dividend by zero: the quotient is zero.
    fits  = !total[AdderWidth-1] && addend_q != '1;
  end

  // What the registers become, by what the cycle does: whether the divisor fits is known last.
  logic multiplies, adds, skips, divides, takes, leaves, holds;
  assign multiplies = working && multiply_q && !load_q;
  assign adds       = multiplies && low_q[0];
  assign skips      = multiplies && !low_q[0];
  assign divides    = working && divide_q;
  assign takes      = divides && fits;
  assign leaves     = divides && !fits;
  assign holds      = !working || !(load_q || multiply_q || divide_q);
  always_comb begin
    acc_d = ({AccWidth{adds && multiply_d}} & {1'b0, total[ScaledWidth:1]}) |
            ({AccWidth{adds && !multiply_d}} & total[ScaledWidth:0]) |
            ({AccWidth{skips && multiply_d}} & {1'b0, acc_q[ScaledWidth:1]}) |
            ({AccWidth{(skips && !multiply_d) || holds}} & acc_q) |
            ({AccWidth{takes}} & {total[ScaledWidth-1:0], low_q[ScaledWidth-2]}) |
            ({AccWidth{leaves}} & {acc_q[ScaledWidth-1:0], low_q[ScaledWidth-2]});
    low_d = ({ScaledWidth{adds}} & {total[0], low_q[ScaledWidth-1:1]}) |
            ({ScaledWidth{skips}} & {acc_q[0], low_q[ScaledWidth-1:1]}) |
            ({ScaledWidth{divides}} & {low_q[ScaledWidth-2:0], fits}) |
            ({ScaledWidth{holds}} & low_q);
    if (working && load_q) begin
      low_d = (step_q == StScale) ? ScaledWidth'(issued) : ScaledWidth'(quota_base);
    end
  end

  logic start;
  assign start = step_q == StIdle && profile_valid_i != '0;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      step_q          <= StIdle;
      sm_q            <= '0;
      at_q            <= smk_pkg::NumSms'(1);
      todo_q          <= '0;
      cycles_left_q   <= CycleWidth'(DivideCycles);
      {load_q, multiply_q, divide_q} <= 3'b110;
      seen_q          <= '0;
      last_q          <= '0;
      last_valid_q    <= 1'b0;
      result_of_q     <= '0;
      result_is_c_q   <= 1'b0;
      command_valid_q <= 1'b0;
    end else begin
      step_q          <= step_d;
      sm_q            <= sm_d;
      at_q            <= at_d;
      todo_q          <= todo_d;
      cycles_left_q   <= cycles_left_d;
      {load_q, multiply_q, divide_q} <= {!goes_on, multiply_d, divide_d};
      result_of_q     <= result_of_d;
      result_is_c_q   <= step_q == StScale;
      command_valid_q <= command_valid_d;
      if (start) begin
        last_valid_q <= 1'b0;
        for (int unsigned k = 0; k < NumKernels; k++) begin
          seen_q[k] <= profile_valid_i[k] && profile_issued_i.kernel[k] != '0 &&
                       profile_tbs_i.kernel[k] != '0;
        end
      end
      if (step_q == StSm && serve) begin
        last_valid_q <= 1'b1;
        last_q       <= here;
      end
    end
  end

  // C_k as it is; no quota is zero [D9].
  logic [ScaledWidth-1:0] result;
  smk_pkg::quota_t        quota;
  assign quota  = low_q[QuotaWidth-1:0] + QuotaWidth'(`SMK_CUT(One, 1));
  assign result = result_is_c_q ? low_q : ScaledWidth'(quota);

  // Data, written before it is read; not reset.
  always_ff @(posedge clk_i) begin
    acc_q <= acc_d;
    low_q <= low_d;
    if (working) sharers_q <= sharers_d;
    if (working && load_q) isolated_q <= tbs_alone;
    if (working && (load_q || !multiply_d)) addend_q <= addend_d;
    if (`SMK_CUT(NewSum, step_q == StSm)) sum_q <= '0;
    else if (result_is_c_q && result_of_q != '0) sum_q <= sum_q + `SMK_CUT(Term, low_q);
    if (offer) begin
      command_kernel_q <= smk_pkg::index_of_kernel(current);
      command_quota_q  <= value[QuotaWidth-1:0];
      command_first_q  <= todo_q == sharing;
      command_last_q   <= others == '0;
    end
  end
  for (genvar k = 0; k < NumKernels; k++) begin : gen_kernel
    always_ff @(posedge clk_i) begin
      if (start && profile_valid_i[k]) begin
        issued_q.kernel[k] <= profile_issued_i.kernel[k];
        alone_q.kernel[k]  <= profile_tbs_i.kernel[k];
      end
      if (result_of_q[k]) value_q.kernel[k] <= result;
    end
  end

  assign busy_o             = step_q != StIdle;
  assign at_o               = at_q;
  assign command_valid_o    = command_valid_q;
  assign command_sm_o       = sm_q;
  assign command_o.op       = smk_pkg::CommandQuota;
  assign command_o.kernel   = command_kernel_q;
  assign command_o.tb       = '0;
  assign command_o.restore  = 1'b0;
  assign command_o.buffer   = '0;
  assign command_o.count    = '0;
  assign command_o.mode     = smk_pkg::PreemptSwitch;
  assign command_o.range    = '0;
  assign command_o.first    = command_first_q;
  assign command_o.last     = command_last_q;
  assign command_o.quota    = `SMK_CUT(CommandQuota, command_quota_q);

  // Sums over some kernels: of TBs, of C, and of quotas.
  function automatic logic [31:0] tbs_of(input smk_pkg::tb_cnt_vec_t number);
    tbs_of = '0;
    for (int unsigned k = 0; k < NumKernels; k++) tbs_of = tbs_of + 32'(number.kernel[k]);
  endfunction
  function automatic logic [31:0] value_of(input scaled_vec_t number,
                                           input smk_pkg::kernel_mask_t kernels);
    value_of = '0;
    for (int unsigned k = 0; k < NumKernels; k++) begin
      if (kernels[k]) value_of = value_of + 32'(number.kernel[k]);
    end
  endfunction

  // A command holds until it is sent (S1, S2).
  `SMK_ASSERT_STREAM(CommandHolds_A, command_valid_o, command_ready_i, {command_sm_o, command_o})
  // No quota is zero, and no SM of one kernel gets any.
  `SMK_ASSERT(QuotaPositive_A, command_valid_q |->
              command_quota_q != '0 && (sharing & (sharing - NumKernels'(1))) != '0)
  // The quotas of an SM are together at most the epoch.
  `SMK_ASSERT(QuotasWithinEpoch_A, step_q == StSend && result_of_q == '0 |->
              value_of(value_q, sharing) <= 32'(epoch_length_i))
  // Conservation: sum(C) is the sum of the Cs, when the first of them is divided by it.
  `SMK_ASSERT(SumConserved_A, step_q == StDivide && todo_q == sharing && !load_q |->
              32'(sum_q) == value_of(value_q, sharing))
  // Every kernel of an SM gets its command in turn, and only the first and the last of them are marked
  // so ...
  `SMK_ASSERT(FirstIsFirst_A, command_valid_q |->
              command_first_q == ((sharing & ((NumKernels'(1) << command_kernel_q) - NumKernels'(1))) == '0))
  `SMK_ASSERT(LastIsLast_A, command_valid_q |->
              command_last_q == (todo_q == '0) && !todo_q[command_kernel_q])
  // ... and with it the SM is served: nothing follows.
  `SMK_ASSERT(ServedOnce_A, command_valid_q && command_ready_i && command_last_q |=>
              !command_valid_q && (step_q == StIdle || (step_q == StSm && sm_q != $past(sm_q))))
  // A command is followed by the SM's next at once, unless its partition changes.
  `SMK_ASSERT(CommandsInARow_A, command_valid_q && !command_last_q && unchanged |=> command_valid_q)
  // A remainder is smaller than the divisor.
  `SMK_ASSERT(RemainderFits_A, working && divide_q && addend_q != '1 |-> acc_q[ScaledWidth:1] < ~addend_q)
  // An operation is never longer than its time, which is enough for the longer of the two.
  `SMK_ASSERT(OperationFits_A, 1 + IssuedWidth + ScaledWidth <= DivideCycles)
  `SMK_ASSERT(CyclesBound_A, cycles_left_q != '0 && cycles_left_q <= CycleWidth'(DivideCycles))
  // Idle: nothing changes without a window.
  `SMK_ASSERT(IdleHolds_A, !busy_o && profile_valid_i == '0 |=> $stable(
              {step_q, sm_q, at_q, todo_q, cycles_left_q, issued_q, alone_q, seen_q, last_q,
               last_valid_q, value_q, sum_q, isolated_q, result_of_q, result_is_c_q,
               command_valid_q, acc_q, low_q, addend_q, load_q, multiply_q, divide_q}))
  // The epoch has an instruction for every kernel, and does not change during a round.
  `SMK_ASSERT(EpochHolds_M, busy_o |-> 32'(epoch_length_i) > 32'($countones(sharing_here)) &&
              (!$past(busy_o) || $stable(epoch_length_i)))
  // A partition fits its SM.
  `SMK_ASSERT(PartitionFits_M, busy_o |-> tbs_of(here) <= smk_pkg::LimitTbs)
  // Partitions really change during a round in our tests.
  `SMK_COVER(PartitionChanged_C, can_offer && !unchanged)
endmodule
