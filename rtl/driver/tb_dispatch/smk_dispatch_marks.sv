// SPDX-License-Identifier: Apache-2.0
// smk_dispatch_marks: what dispatch decisions remember of each SM.
//
// Purpose     The part of smk_tb_dispatch that remembers: pairs (kernel, SM) that were tried in
//             vain, SMs with TBs on their way out, and room reserved by preemptions.
// Paper       [SMK] Sec. 5.3; deviations [D1], [D13].
// Interface   What happened: pulses, looked at first. What the decision does: pulses on top.
// Latency     1 cycle.
// Throughput  Everything in every cycle.
// Reset       Nothing tried, no SM busy or reserved.
// Model       model/control/driver/tb_dispatch.cc (Forget)   Doc  docs/blocks/tb_dispatch.md
`include "smk_assert.svh"

module smk_dispatch_marks (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  // What happened: SMs with an event or assigned anew, settled ones, a preempted TB was queued,
  // kernels that are done, and kernels came or went.
  input  smk_pkg::sm_mask_t      changed_i,
  input  smk_pkg::sm_mask_t      settled_i,
  input  logic                   queued_i,
  input  smk_pkg::kernel_mask_t  kernel_done_i,
  input  logic                   kernels_changed_i,
  // On demand a change anywhere gives every pair another chance.
  input  logic                   on_demand_i,
  // What the decision does with this kernel (also as one bit) on this SM, whether for reserved room; of which kernel
  // TBs leave for it on which SM; and SMs from which TBs are asked to leave.
  input  smk_pkg::dispatch_act_t act_i,
  input  smk_pkg::kernel_id_t    kernel_i,
  input  smk_pkg::kernel_mask_t  kernel_of_i,
  input  smk_pkg::sm_mask_t      sm_i,
  input  smk_pkg::kernel_id_t    victim_i,
  input  smk_pkg::sm_mask_t      victim_sm_i,
  input  logic                   serves_reservation_i,
  input  smk_pkg::sm_mask_t      leaving_i,
  // Registers.
  output smk_pkg::kernel_sms_t   tried_o,
  output smk_pkg::sm_mask_t      busy_o,
  output smk_pkg::sm_mask_t      reserved_o,
  output smk_pkg::sm_kernel_id_t reserved_for_o,
  output smk_pkg::sm_kernels_t   victims_o
);
  localparam int unsigned NumKernels  = smk_pkg::NumKernels;
  localparam int unsigned NumSms      = smk_pkg::NumSms;

  smk_pkg::kernel_sms_t   tried_d, tried_q;
  smk_pkg::sm_mask_t      busy_q, reserved_q, busy_now, reserved_now;
  smk_pkg::sm_mask_t      reserve, unreserve;
  smk_pkg::sm_kernel_id_t reserved_for_q;
  smk_pkg::sm_kernels_t   victims_d, victims_q;
  smk_pkg::kernel_mask_t  victim_of;
  smk_pkg::sm_mask_t      retry, kept;
  logic                   failed, retry_all;

  // Pairs that failed before something changed get another chance; also that of this decision.
  assign retry     =
    `SMK_CUT(Retry, (on_demand_i && (changed_i != '0 || queued_i)) ? '1 : changed_i);
  assign kept      = ~retry & {NumSms{!kernels_changed_i}};
  // Events of the last cycle: what was looked at may be older.
  smk_pkg::sm_mask_t changed_late_q;
  assign failed    = act_i.partition_full || act_i.no_room || act_i.room_coming ||
                     act_i.no_victim || act_i.not_reduced || act_i.queue_full;
  assign retry_all = act_i.preempt || (act_i.dispatch && on_demand_i);
  always_comb begin
    for (int unsigned k = 0; k < NumKernels; k++) begin
      tried_d.kernel[k] = tried_q.kernel[k] & kept;
      if (failed && kernel_of_i[k]) begin
        tried_d.kernel[k] = tried_d.kernel[k] | `SMK_CUT(FailedPair, sm_i & ~retry & ~changed_late_q);
      end
      if (retry_all) tried_d.kernel[k] = '0;
    end
  end

  // Room reserved for a kernel that is done is nobody's; a victim that is done has no rK.
  always_comb begin
    for (int unsigned s = 0; s < NumSms; s++) begin
      reserved_now[s] = reserved_q[s] && !kernel_done_i[reserved_for_q.sm[s]];
      victims_d.sm[s] = (victims_q.sm[s] & ~kernel_done_i & {NumKernels{!settled_i[s]}}) |
                        (victim_of & {NumKernels{reserve[s]}});
    end
  end
  assign victim_of = NumKernels'(1) << victim_i;
  assign busy_now  = busy_q & ~settled_i;
  assign reserve   = victim_sm_i & {NumSms{act_i.preempt}};
  assign unreserve = sm_i & {NumSms{act_i.cancel || (act_i.dispatch && serves_reservation_i)}};

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      tried_q    <= '0;
      busy_q     <= '0;
      reserved_q <= '0;
      victims_q  <= '0;
      changed_late_q <= '0;
    end else begin
      tried_q    <= tried_d;
      busy_q     <= busy_now | `SMK_CUT(Leaving, leaving_i);
      reserved_q <= (reserved_now & `SMK_CUT(StillReserved, ~unreserve)) | reserve;
      victims_q  <= victims_d;
      changed_late_q <= changed_i;
    end
  end

  // Whom a reservation is for; not reset.
  always_ff @(posedge clk_i) begin
    for (int unsigned s = 0; s < NumSms; s++) begin
      if (reserve[s]) reserved_for_q.sm[s] <= kernel_i;
    end
  end

  assign tried_o        = tried_q;
  assign busy_o         = busy_q;
  assign reserved_o     = reserved_q;
  assign reserved_for_o = reserved_for_q;
  assign victims_o      = victims_q;

  // Conservation: a preemption makes a reservation, and a dispatch, a cancellation or the end of
  // its kernel ends it.
  `SMK_ASSERT(ReservationsConserved_A, 1'b1 |=> 32'($countones(reserved_q)) == $past(
              32'($countones(reserved_q)) + 32'($countones(reserve)) -
              32'($countones(unreserve)) - 32'($countones(reserved_q & ~reserved_now))))
  // Room is reserved once, on an SM that is not busy, and what is given back was reserved.
  `SMK_ASSERT(ReserveIsNew_M, (reserve & (reserved_now | busy_now)) == '0)
  `SMK_ASSERT(UnreserveIsKnown_M, (unreserve & ~reserved_now) == '0)
  // Victims leave only while their SM is busy, and are of one kernel.
  for (genvar s = 0; s < NumSms; s++) begin : gen_check
    `SMK_ASSERT(VictimsAreLeaving_A, victims_q.sm[s] == '0 || busy_q[s])
    `SMK_ASSERT(VictimsOfOneKernel_A, $onehot0(victims_q.sm[s]))
  end
  // An SM settles exactly once after its TBs were asked to leave.
  `SMK_ASSERT(SettledWasBusy_M, (settled_i & ~busy_q) == '0)
  // Idle: nothing changes in a cycle in which nothing happens and nothing is decided.
  `SMK_ASSERT(IdleKeepsState_A, changed_i == '0 && settled_i == '0 && !queued_i &&
              kernel_done_i == '0 && !kernels_changed_i && act_i == '0 && leaving_i == '0
              |=> $stable({tried_q, busy_q, reserved_q, victims_q}))
  // A kernel really ends while room is reserved for it in our tests.
  `SMK_COVER(ReservationLapses_C, reserved_now != reserved_q)
endmodule
