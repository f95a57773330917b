// SPDX-License-Identifier: Apache-2.0
// smk_victim_tbs: the fewest TBs of the victim kernel that must leave so that one TB fits.
//
// Purpose     The part of smk_tb_dispatch that divides: the highest over the resources of
//             ceil((need - free) / victim), at least one.
// Paper       [SMK] Sec. 5.3.1, Fig. 4 (as many TBs leave as make room for one).
// Interface   Combinational.
// Latency     0 cycles.
// Throughput  One division per cycle.
// Reset       No state.
// Model       model/control/tb_dispatch_preempt.cc   Doc  docs/modules/tb_dispatch.md
// Restoring division, two bits per step by comparing with one, two and three times the victim's
// need. LimitTbs + 1 stands for all that an SM cannot hold; a victim that has none of what is
// missing gives a quotient of all ones. A TB slot always comes free with the first TB.
module smk_victim_tbs (
  // One TB of the candidate kernel, what the SM has free, and one TB of the victim kernel.
  input  smk_pkg::tb_need_t need_i,
  input  smk_pkg::tb_need_t free_i,
  input  smk_pkg::tb_need_t victim_i,
  output smk_pkg::tb_cnt_t  tbs_o
);
  localparam int unsigned TbCntWidth = smk_pkg::TbCntWidth;
  // The widest amount; quotients have two bits per step.
  localparam int unsigned AmountWidth   =
      (smk_pkg::SharedCntWidth > smk_pkg::RegisterCntWidth) ? smk_pkg::SharedCntWidth
                                                            : smk_pkg::RegisterCntWidth;
  localparam int unsigned Steps         = (TbCntWidth + 1) / 2;
  localparam int unsigned QuotientWidth = 2 * Steps;
  localparam int unsigned WideWidth     = AmountWidth + QuotientWidth + 1;

  // Whole TBs in the amount that is missing less one: 0 when nothing is.
  function automatic logic [QuotientWidth-1:0] quotient_of(input logic [AmountWidth-1:0] need,
                                                           input logic [AmountWidth-1:0] free,
                                                           input logic [AmountWidth-1:0] victim);
    logic [AmountWidth:0] missing;
    logic [WideWidth-1:0] rest, one, two, three;
    missing     = {1'b0, need} + {1'b1, ~free};
    rest        = missing[AmountWidth] ? '0 : WideWidth'(missing);
    quotient_of = '0;
    for (int unsigned i = 0; i < Steps; i++) begin
      one         = WideWidth'(victim) << (QuotientWidth - 2 - 2 * i);
      two         = one << 1;
      three       = one + two;
      quotient_of = quotient_of << 2;
      if (rest >= three) begin
        rest             = rest - three;
        quotient_of[1:0] = 2'd3;
      end else if (rest >= two) begin
        rest             = rest - two;
        quotient_of[1:0] = 2'd2;
      end else if (rest >= one) begin
        rest             = rest - one;
        quotient_of[1:0] = 2'd1;
      end
    end
    if (missing[AmountWidth]) quotient_of = '0;
  endfunction

  logic [QuotientWidth-1:0] registers, shared_memory, threads, memory, highest;
  assign registers     = quotient_of(AmountWidth'(need_i.registers), AmountWidth'(free_i.registers),
                                     AmountWidth'(victim_i.registers));
  assign shared_memory = quotient_of(AmountWidth'(need_i.shared_memory),
                                     AmountWidth'(free_i.shared_memory),
                                     AmountWidth'(victim_i.shared_memory));
  assign threads       = quotient_of(AmountWidth'(need_i.threads), AmountWidth'(free_i.threads),
                                     AmountWidth'(victim_i.threads));

  assign memory  = (registers > shared_memory) ? registers : shared_memory;
  assign highest = (memory > threads) ? memory : threads;
  assign tbs_o   = (highest >= QuotientWidth'(smk_pkg::LimitTbs))
                   ? TbCntWidth'(smk_pkg::LimitTbs + 1)
                   : TbCntWidth'(highest) + TbCntWidth'(1);
endmodule
