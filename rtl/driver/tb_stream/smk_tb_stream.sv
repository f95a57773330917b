// SPDX-License-Identifier: Apache-2.0
// smk_tb_stream: TBs to wherever there is room, one per cycle.
//
// Purpose     In the modes in which the room for a TB does not depend on what the others hold
//             (partitions, left-over, spatial), a TB is dispatched in every cycle in which a kernel has
//             one, an SM has room for it and the SM can take a command. A kernel's preempted TBs go
//             before its new ones. Plans and evictions are left to smk_tb_dispatch, before which it
//             stands back.
// Paper       [SMK] Fig. 7; deviation [D29].
// Interface   Reads the registers of the driver's other blocks. takes_o: the SM whose credit is used,
//             combinational. new_o, pop_o, kernel_o, arrival_o: the TB, one cycle later. command_*:
//             pulse, another cycle later.
// Latency     An SM is chosen 2 cycles after there is room, its TB one cycle later, and the command is
//             sent after another. With latency_scale n one TB per n cycles, chosen 2n cycles after.
// Throughput  One TB per cycle, one per SM until its credit is back.
// Reset       Nothing chosen.
// Model       model/control/driver/tb_stream.h   Doc  docs/blocks/tb_stream.md
// Kernels and SMs take turns; under left-over the oldest kernel that fits on an SM has it, of those
// that need not wait for older ones.
`include "smk_assert.svh"

module smk_tb_stream (
  input  logic                       clk_i,
  input  logic                       rst_ni,
  input  smk_pkg::policy_t           policy_i,
  // Of the kernels: who waits for older ones; registers.
  input  smk_pkg::kernel_mask_t      held_i,
  input  smk_pkg::order_vec_t        order_i,
  input  smk_pkg::need_vec_t         need_i,
  input  smk_pkg::tb_id_vec_t        remaining_i,
  input  smk_pkg::tb_id_vec_t        next_tb_i,
  // Kernels with preempted TBs, how many, and the first of each.
  input  smk_pkg::kernel_mask_t      queued_i,
  input  smk_pkg::buffer_cnt_vec_t   queue_count_i,
  input  logic [smk_pkg::NumKernels*(smk_pkg::TbIdWidth+smk_pkg::BufferWidth+1)-1:0] queue_fronts_i,
  // Of the SMs: who may run there, what is there, TBs on their way out, plans, credits.
  input  smk_pkg::sm_kernels_t       allowed_i,
  input  smk_pkg::sm_taken_t         taken_i,
  input  smk_pkg::sm_tb_cnts_t       resident_i,
  input  smk_pkg::sm_mask_t          busy_i,
  input  smk_pkg::sm_mask_t          reserved_i,
  input  smk_pkg::sm_kernels_t       planned_i,
  input  smk_pkg::sm_tb_cnts_t       partition_i,
  input  smk_pkg::sm_mask_t          credit_i,
  // An SM reports something or gives a credit back, or a kernel is launched.
  input  logic                       changes_i,
  // A quota command waits for the bus; SMs are assigned, kernels or plans change: what was chosen is
  // void.
  input  logic                       quota_waits_i,
  input  logic                       flush_i,
  // The SM that is sent a TB.
  output smk_pkg::sm_mask_t          takes_o,
  // The TB, one cycle later: there is one, of this kernel, and whether it is new or was preempted.
  output logic                       send_o,
  // There is none: a register of its own, for what has many readers.
  output logic                       quiet_o,
  output smk_pkg::kernel_id_t        kernel_o,
  output smk_pkg::kernel_mask_t      new_o,
  output smk_pkg::kernel_mask_t      pop_o,
  // What its SM's counts are to add; that of smk_tb_dispatch is passed on.
  input  smk_pkg::tb_arrival_t       dispatch_arrival_i,
  output smk_pkg::tb_arrival_t       arrival_o,
  output smk_pkg::decision_t         decision_o,
  // Registers, another cycle later.
  output logic                       command_valid_o,
  output smk_pkg::sm_mask_t          command_sm_o,
  output smk_pkg::sm_command_t       command_o,
  // Something will happen without an input.
  output logic                       work_o
);
  `SMK_CHECK_CONFIG
  localparam int unsigned NumKernels  = smk_pkg::NumKernels;
  localparam int unsigned NumSms      = smk_pkg::NumSms;
  localparam int unsigned NeedWidth   = smk_pkg::NeedWidth;
  localparam int unsigned ScaleWidth  = smk_pkg::ScaleWidth;
  localparam int unsigned EntryWidth  = smk_pkg::TbIdWidth + smk_pkg::BufferWidth + 1;

  // The rest of the policy is for others.
  smk_pkg::policy_t unused_policy;
  assign unused_policy = policy_i;

  logic enabled, partitioned, leftover;
  assign enabled     = policy_i.stream && policy_i.dispatch != smk_pkg::DispatchOnDemand;
  assign leftover    = policy_i.dispatch == smk_pkg::DispatchLeftover;
  assign partitioned = policy_i.dispatch == smk_pkg::DispatchPartitioned ||
                       policy_i.dispatch == smk_pkg::DispatchEven ||
                       policy_i.dispatch == smk_pkg::DispatchTable ||
                       policy_i.dispatch == smk_pkg::DispatchSlicer;

  // The pair that was chosen last, and the SM before it.
  smk_pkg::kernel_mask_t kernel_d, kernel_q;
  smk_pkg::sm_mask_t     sm_d, sm_q, chosen_sm, recent_q;
  logic                  chosen_d, chosen_q;
  // Cycles until the next step.
  logic [ScaleWidth-1:0] wait_q;
  logic                  step, moves;
  // There may be room since the last cycle: it is looked for.
  logic                  look_q;
  // What of these is not zero: awake_o of the driver waits for it.
  logic                  candidates_any_q, recent_any_q, wait_any_q;
  assign step      = wait_q == '0;
  assign chosen_sm = sm_q & {NumSms{chosen_q}};

  // What may be taken on an SM for a TB of each kernel to fit. One cycle late: a new kernel is flushed.
  smk_pkg::need_vec_t most_d, most_q;
  smk_pkg::tb_need_t  need;
  always_comb begin
    for (int unsigned k = 0; k < NumKernels; k++) begin
      need             = need_i.kernel[k];
      most_d.kernel[k] = {smk_pkg::RegisterCntWidth'(smk_pkg::LimitRegisters) - need.registers,
                          smk_pkg::SharedCntWidth'(smk_pkg::LimitSharedMemory) - need.shared_memory,
                          smk_pkg::ThreadCntWidth'(smk_pkg::LimitThreads) - need.threads};
    end
  end

  // Room: where a TB of each kernel has it, and under left-over no older kernel that waits.
  smk_pkg::kernel_mask_t waits, finds;
  smk_pkg::kernel_sms_t  room, first, candidates_d, candidates_q;
  logic [NumKernels*NumSms-1:0] room_flat;
  // Within the loops.
  smk_pkg::tb_need_t         most;
  smk_pkg::resource_vector_t taken;
  smk_pkg::tb_cnt_vec_t      resident, partition;
  smk_pkg::kernel_mask_t     allowed, planned;
  logic                      below, fits;
  always_comb begin
    for (int unsigned k = 0; k < NumKernels; k++) begin
      waits[k] = remaining_i.kernel[k] != '0 || queued_i[k];
      most     = most_q.kernel[k];
      for (int unsigned s = 0; s < NumSms; s++) begin
        taken     = taken_i.sm[s];
        resident  = resident_i.sm[s];
        partition = partition_i.sm[s];
        allowed   = allowed_i.sm[s];
        planned   = planned_i.sm[s];
        below     = planned[k] && resident.kernel[k] < partition.kernel[k];
        fits      = taken.registers <= most.registers &&
                    taken.shared_memory <= most.shared_memory &&
                    taken.threads <= most.threads && 32'(taken.tbs) < smk_pkg::LimitTbs;
        room_flat[k*NumSms+s] = waits[k] && allowed[k] && !busy_i[s] && !reserved_i[s] &&
                                (partitioned ? below : fits);
      end
    end
  end
  assign room = room_flat;
  // Who is held is known late. Who is younger than one that is held, is held as well.
  always_comb begin
    for (int unsigned k = 0; k < NumKernels; k++) begin
      first.kernel[k] = room.kernel[k];
      for (int unsigned j = 0; j < NumKernels; j++) begin
        if (leftover && order_i.kernel[j] < order_i.kernel[k]) begin
          first.kernel[k] = first.kernel[k] & ~room.kernel[j];
        end
      end
      first.kernel[k]        = first.kernel[k] & credit_i & ~(chosen_sm | recent_q);
      finds[k]               = first.kernel[k] != '0 && !held_i[k];
      candidates_d.kernel[k] = first.kernel[k] & ~{NumSms{held_i[k]}};
    end
  end

  // Choice: the next kernel in turn, under left-over the oldest, and its next SM in turn. What was
  // just chosen is not yet in the candidates.
  function automatic smk_pkg::sm_mask_t next_sm(input smk_pkg::sm_mask_t sms,
                                                input smk_pkg::sm_mask_t last);
    smk_pkg::sm_mask_t after;
    after   = sms & ~((last - NumSms'(1)) | last);
    next_sm = smk_pkg::lowest_sm((after != '0) ? after : sms);
  endfunction
  smk_pkg::kernel_sms_t  picks;
  smk_pkg::kernel_mask_t have, after_kernel, in_turn, oldest, pick_kernel;
  always_comb begin
    for (int unsigned k = 0; k < NumKernels; k++) begin
      picks.kernel[k] = next_sm(candidates_q.kernel[k] & ~chosen_sm, sm_q);
      have[k]         = (candidates_q.kernel[k] & ~chosen_sm) != '0;
    end
    after_kernel = have & ~((kernel_q - NumKernels'(1)) | kernel_q);
    in_turn      = (after_kernel != '0) ? after_kernel : have;
    oldest       = have;
    for (int unsigned k = 0; k < NumKernels; k++) begin
      for (int unsigned j = 0; j < NumKernels; j++) begin
        if (have[j] && order_i.kernel[j] < order_i.kernel[k]) oldest[k] = 1'b0;
      end
    end
    pick_kernel = leftover ? oldest : in_turn & (~in_turn + NumKernels'(1));
    chosen_d    = have != '0;
    kernel_d    = chosen_d ? pick_kernel : kernel_q;
    sm_d        = chosen_d ? '0 : sm_q;
    for (int unsigned k = 0; k < NumKernels; k++) begin
      if (chosen_d) sm_d = sm_d | (picks.kernel[k] & {NumSms{pick_kernel[k]}});
    end
  end

  // Act, if nothing has come between: one that was preempted, if there is one, else a new one. The TB
  // of the last cycle is not yet taken away, and not counted twice.
  logic                  send_q, quiet_q, popped, act;
  smk_pkg::kernel_mask_t send_kernel_q, new_q, pop_q, queued_left, new_left;
  // The complement of new_q, for those outside: it is read in many places.
  smk_pkg::kernel_mask_t not_new_q;
  always_comb begin
    for (int unsigned k = 0; k < NumKernels; k++) begin
      queued_left[k] = queued_i[k] && ((queue_count_i.kernel[k] >> 1) != '0 ||
                                       `SMK_CUT(Popped, !pop_q[k]));
      new_left[k]    = remaining_i.kernel[k] != '0 && ((remaining_i.kernel[k] >> 1) != '0 ||
                                                       `SMK_CUT(Sent, !new_q[k]));
    end
  end
  assign act = chosen_q && step && !`SMK_CUT(Flush, flush_i) && !quota_waits_i &&
               ((queued_left | new_left) & kernel_q & ~`SMK_CUT(Held, held_i)) != '0 &&
               (credit_i & sm_q) != '0;
  assign takes_o = sm_q & {NumSms{act}};

  // The TB.
  smk_pkg::sm_mask_t    send_sm_q;
  smk_pkg::kernel_id_t  send_kernel_id_q;
  smk_pkg::tb_id_t      tb;
  smk_pkg::preempted_entry_t front;
  smk_pkg::tb_need_t    arrival_need;
  always_comb begin
    front        = '0;
    tb           = '0;
    arrival_need = '0;
    for (int unsigned k = 0; k < NumKernels; k++) begin
      front        |= queue_fronts_i[k*EntryWidth+:EntryWidth] & {EntryWidth{pop_q[k]}};
      tb           |= next_tb_i.kernel[k] & {smk_pkg::TbIdWidth{new_q[k]}};
      arrival_need |= need_i.kernel[k] & {NeedWidth{kernel_q[k]}};
    end
    tb |= front.tb;
  end
  assign popped   = pop_q != '0;
  assign send_o   = send_q;
  assign quiet_o  = quiet_q;
  assign kernel_o = send_kernel_id_q;
  assign new_o    = ~not_new_q;
  assign pop_o    = pop_q;
  always_comb begin
    decision_o        = '0;
    decision_o.valid  = send_q;
    decision_o.reason = smk_pkg::ReasonDispatchNew;
    if (popped) begin
      decision_o.reason = front.restart ? smk_pkg::ReasonDispatchRestarted :
                                                  smk_pkg::ReasonDispatchRestored;
    end
    decision_o.kernel = send_kernel_id_q;
    decision_o.sm     = smk_pkg::index_of_sm(send_sm_q);
    decision_o.tb     = tb;
  end

  logic                  command_valid_q;
  smk_pkg::sm_mask_t     command_sm_q;
  smk_pkg::sm_command_t  command_q;
  smk_pkg::group_needs_t arrival_needs;
  smk_pkg::group_kernels_t arrival_kernels;
  smk_pkg::tb_arrival_t  arrival_q;
  for (genvar g = 0; g < smk_pkg::NumSmGroups; g++) begin : gen_group
    localparam int unsigned First = 4 * g;
    localparam int unsigned Size  = (NumSms - First < 4) ? NumSms - First : 4;
    logic here;
    assign here = sm_q[First +: Size] != '0 && act;
    assign arrival_kernels.group[g] = kernel_q & {NumKernels{here}};
    assign arrival_needs.group[g] = arrival_need & {NeedWidth{here}};
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      candidates_q    <= '0;
      chosen_q        <= 1'b0;
      kernel_q        <= NumKernels'(1) << (NumKernels - 1);
      sm_q            <= NumSms'(1) << (NumSms - 1);
      recent_q        <= '0;
      look_q          <= 1'b0;
      {candidates_any_q, recent_any_q, wait_any_q} <= '0;
      wait_q          <= '0;
      send_q          <= 1'b0;
      quiet_q         <= 1'b1;
      pop_q           <= '0;
      new_q           <= '0;
      not_new_q       <= '1;
      send_kernel_q   <= '0;
      send_sm_q       <= '0;
      arrival_q       <= '0;
      command_valid_q <= 1'b0;
      command_sm_q    <= '0;
    end else begin
      send_q          <= act;
      quiet_q         <= !act;
      pop_q           <= kernel_q & queued_left & {NumKernels{act}};
      new_q           <= kernel_q & ~queued_left & {NumKernels{act}};
      not_new_q       <= ~(kernel_q & ~queued_left & {NumKernels{act}});
      send_kernel_q   <= kernel_q & {NumKernels{act}};
      send_sm_q       <= takes_o;
      arrival_q       <= dispatch_arrival_i | {takes_o, arrival_kernels, arrival_needs};
      command_valid_q <= send_q;
      look_q          <= `SMK_CUT(Look, changes_i) || flush_i || !step || recent_any_q;
      command_sm_q    <= send_sm_q;
      if (!step) begin
        wait_q     <= wait_q - ScaleWidth'(1);
        wait_any_q <= wait_q != ScaleWidth'(1);
      end else begin
        candidates_q <= candidates_d;
        chosen_q     <= chosen_d;
        kernel_q     <= kernel_d;
        sm_q         <= sm_d;
        recent_q     <= `SMK_CUT(Recent, chosen_sm);
        candidates_any_q <= finds != '0;
        recent_any_q     <= chosen_q;
        // Nothing waits while there is nothing to do.
        wait_q       <= moves ? policy_i.latency_scale - ScaleWidth'(1) : '0;
        wait_any_q   <= moves && policy_i.latency_scale != ScaleWidth'(1);
      end
      if (flush_i || !enabled) begin
        candidates_q     <= '0;
        candidates_any_q <= 1'b0;
        chosen_q         <= 1'b0;
      end
    end
  end
  // Payloads; not reset.
  always_ff @(posedge clk_i) begin
    most_q           <= most_d;
    command_q        <= '0;
    command_q.op     <= smk_pkg::CommandDispatch;
    command_q.kernel <= send_kernel_id_q;
    command_q.tb     <= tb;
    if (popped) begin
      command_q.restore <= !front.restart;
      command_q.buffer  <= front.buffer;
    end
    send_kernel_id_q <= smk_pkg::index_of_kernel(kernel_q & {NumKernels{act}});
  end
  assign command_valid_o = command_valid_q;
  assign command_sm_o    = command_sm_q;
  assign command_o       = command_q;
  assign arrival_o       = arrival_q;

  assign moves  = finds != '0 || candidates_any_q || chosen_q || recent_any_q;
  assign work_o = enabled && (look_q || candidates_any_q || chosen_q || send_q ||
                              command_valid_q || wait_any_q || recent_any_q);

  // One kernel and one SM are chosen.
  `SMK_ASSERT(NewIsKeptTwice_A, not_new_q == ~new_q)
  `SMK_ASSERT(AnyIsKeptTwice_A, {candidates_any_q, recent_any_q, wait_any_q} ==
              {candidates_q != '0, recent_q != '0, wait_q != '0})
  `SMK_ASSERT(OnePair_A, chosen_q |-> $onehot(kernel_q) && $onehot(sm_q))
  // A kernel with another need is told; it is taken that a credit is used by those before whom this block
  // stood back, or by itself.
  `SMK_ASSERT(NeedIsTold_M, enabled && !flush_i && waits != '0 |-> $stable(need_i))
  `SMK_ASSERT(CreditStays_M, enabled && !flush_i && !quota_waits_i
              |=> ($past(credit_i & ~takes_o) & ~credit_i) == '0)
  // Nothing is dispatched while another block decides, nor without a credit.
  `SMK_ASSERT(NotOnDemand_A, act |-> enabled && !flush_i && (credit_i & sm_q) != '0)
  // A TB waits when it is taken.
  for (genvar k = 0; k < NumKernels; k++) begin : gen_taken
    `SMK_ASSERT(TbIsLeft_A, send_q && send_kernel_q[k] |->
                (popped ? queued_i[k] : remaining_i.kernel[k] != '0))
    `SMK_ASSERT(QueuedIsCounted_M, queued_i[k] == (queue_count_i.kernel[k] != '0))
    for (genvar j = 0; j < NumKernels; j++) begin : gen_held
      `SMK_ASSERT(HeldByAge_M, held_i[k] && order_i.kernel[k] < order_i.kernel[j] |-> held_i[j])
    end
  end
  // What is dispatched fits: there is room for it by the registers of this cycle.
  for (genvar k = 0; k < NumKernels; k++) begin : gen_check
    `SMK_ASSERT(DispatchHasRoom_A, act && kernel_q[k] |-> (room.kernel[k] & sm_q) == sm_q)
  end
  // Idle: nothing to choose from changes nothing. TBs that are queued are another block's work.
  `SMK_ASSERT(IdleKeepsState_A, !work_o && $stable(queued_i) |=> candidates_q == '0 && !chosen_q && !send_q &&
              !command_valid_o)
  // TBs follow each other without a gap, and a choice comes to nothing, in our tests.
  `SMK_COVER(OnePerCycle_C, act && send_q)
  `SMK_COVER(ChoiceIsVoid_C, chosen_q && step && !act)
endmodule
