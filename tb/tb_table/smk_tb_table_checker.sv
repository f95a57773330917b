// SPDX-License-Identifier: Apache-2.0
// smk_tb_table_checker: pulses are taken, and an idle table keeps what it holds.
`include "smk_assert.svh"

module smk_tb_table_checker (
  input logic                clk_i,
  input logic                rst_ni,
  input logic                dispatch_valid_i,
  input logic                choose,
  input smk_pkg::slot_mask_t arrive,
  input smk_pkg::slot_mask_t gone,
  input logic                loaded_valid_i,
  input smk_pkg::slot_mask_t loaded,
  input logic                launching,
  input smk_pkg::slot_mask_t valid_q,
  input smk_pkg::slot_mask_t running_q,
  input smk_pkg::warp_mask_t warp_valid_q
);
  // A TB that arrives is being launched from the next cycle on (S5), and is there as soon as its
  // slot is chosen.
  `SMK_ASSERT(DispatchIsTaken_A, dispatch_valid_i |=> launching)
  `SMK_ASSERT(ChosenIsTaken_A, choose |=> launching && ($past(arrive) & ~valid_q) == '0)
  // A TB that goes does not run in the next cycle, and one whose context is loaded does (S5).
  `SMK_ASSERT(GoneIsTaken_A, ($past(gone) & running_q) == '0)
  `SMK_ASSERT(LoadedIsTaken_A, loaded_valid_i |=> ($past(loaded & ~gone) & ~running_q) == '0)
  // Nothing changes without a TB that arrives, goes, is launched or is loaded.
  `SMK_ASSERT(IdleHolds_A, !dispatch_valid_i && !launching && gone == '0 && !loaded_valid_i |=>
              !launching && $stable({valid_q, running_q, warp_valid_q}))
endmodule

bind smk_tb_table smk_tb_table_checker u_checker (.*);
