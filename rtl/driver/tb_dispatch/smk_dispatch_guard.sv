// SPDX-License-Identifier: Apache-2.0
// smk_dispatch_guard: where a kernel has just gained room by preemption, and must not lose it yet.
//
// Purpose     The part of smk_tb_dispatch that keeps swaps from following each other without an end:
//             on an SM on which TBs left for a kernel, nobody else has TBs leave before the second tick.
// Paper       None; deviation [D22].
// Interface   enable_i: constant. reserve_i: TBs are asked to leave there, pulses, for the kernel that
//             reserved_for_i names from the next cycle on. tick_i, kernel_done_i: pulses.
// Latency     1 cycle; ends_o in the cycle of the tick.
// Throughput  Everything in every cycle.
// Reset       No SM is guarded.
// Model       model/control/driver/tb_dispatch.h (guard)   Doc  docs/blocks/tb_dispatch.md
`include "smk_assert.svh"

module smk_dispatch_guard (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  input  logic                   enable_i,
  input  logic                   tick_i,
  input  smk_pkg::kernel_mask_t  kernel_done_i,
  input  smk_pkg::sm_mask_t      reserve_i,
  input  smk_pkg::sm_kernel_id_t reserved_for_i,
  // The candidate kernel, as one bit.
  input  smk_pkg::kernel_mask_t  kernel_of_i,
  // SMs on which nobody leaves for it. SMs on which that ends, pulses.
  output smk_pkg::sm_mask_t      guarded_o,
  output smk_pkg::sm_mask_t      ends_o
);
  localparam int unsigned NumSms = smk_pkg::NumSms;

  // SMs that are guarded, and those of them that have seen a tick; whose kernel has ended, is a
  // candidate.
  smk_pkg::sm_mask_t guarded_d, guarded_q, ticked_d, ticked_q, done, own;
  for (genvar s = 0; s < NumSms; s++) begin : gen_kernel
    assign done[s] = kernel_done_i[reserved_for_i.sm[s]];
    assign own[s]  = kernel_of_i[reserved_for_i.sm[s]];
  end
  assign ends_o = guarded_q & (done | (ticked_q & {NumSms{tick_i}}));
  always_comb begin
    guarded_d = guarded_q & ~ends_o;
    ticked_d  = tick_i ? guarded_q & ~ends_o : ticked_q & ~ends_o;
    if (enable_i) begin
      guarded_d = guarded_d | reserve_i;
      ticked_d  = ticked_d & ~reserve_i;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      guarded_q <= '0;
      ticked_q  <= '0;
    end else begin
      guarded_q <= guarded_d;
      ticked_q  <= ticked_d;
    end
  end
  assign guarded_o = `SMK_CUT(Guarded, guarded_q) & ~own;

  // Idle: they change with a preemption, a tick or the end of a kernel only.
  `SMK_ASSERT(IdleKeepsState_A, reserve_i == '0 && !tick_i && kernel_done_i == '0
              |=> $stable({guarded_q, ticked_q}))
  // Who has seen a tick is guarded.
  `SMK_ASSERT(TickedIsGuarded_A, (ticked_q & ~guarded_q) == '0)
  // Nobody is guarded unless the policy says so.
  `SMK_ASSERT(OnlyIfEnabled_A, !enable_i |=> guarded_o == '0)
  // Really a guard ends in our tests, with a tick and with its kernel.
  `SMK_COVER(EndsWithTick_C, ends_o != '0 && kernel_done_i == '0)
  `SMK_COVER(EndsWithKernel_C, ends_o != '0 && !tick_i)
endmodule
