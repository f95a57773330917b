// SPDX-License-Identifier: Apache-2.0
// smk_tb_places_checker: no two TBs have a register or shared memory in common.
`include "smk_assert.svh"

module smk_tb_places_checker (
  input logic                   clk_i,
  input logic                   rst_ni,
  input logic                   partitioned_i,
  input smk_pkg::need_vec_t     needs_i,
  input smk_pkg::slot_mask_t    slot_valid_i,
  input smk_pkg::kernel_slots_t slots_of_i,
  input smk_pkg::slot_mask_t    gone_i,
  input logic                   launching_i,
  input logic                   look_i,
  input logic                   chosen_i,
  input smk_pkg::tb_slot_t      slot_i,
  input smk_pkg::tb_base_t      base_o,
  input logic [2:0]             step_q,
  input smk_pkg::slot_mask_t    kept_q,
  input logic                   waiting_q
);
  localparam int unsigned NumSlots   = smk_pkg::NumSlots;
  localparam int unsigned NumKernels = smk_pkg::NumKernels;

  // Where the TBs began, as the block said two cycles after each had its slot.
  smk_pkg::tb_base_t  base [NumSlots];
  smk_pkg::slot_mask_t known_q;
  logic [1:0]         chosen_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      chosen_q <= '0;
      known_q  <= '0;
    end else begin
      chosen_q <= {chosen_q[0], chosen_i && !partitioned_i};
      known_q  <= (known_q | (chosen_q[1] ? NumSlots'(1) << slot_i : '0)) & ~gone_i &
                  {NumSlots{!partitioned_i}};
    end
  end
  always_ff @(posedge clk_i) if (chosen_q[1]) base[slot_i] <= base_o;

  function automatic smk_pkg::tb_need_t need_of(input smk_pkg::need_vec_t needs,
                                                input smk_pkg::kernel_slots_t slots_of,
                                                input int unsigned slot);
    need_of = '0;
    for (int unsigned k = 0; k < NumKernels; k++) begin
      if (slots_of.kernel[k][slot]) need_of = needs.kernel[k];
    end
  endfunction
  function automatic logic apart(input logic [15:0] from, input logic [15:0] need,
                                 input logic [15:0] other_base, input logic [15:0] other_need);
    apart = need == '0 || other_need == '0 || from + need <= other_base ||
            other_base + other_need <= from;
  endfunction

  // The TB whose base has just been told, beside all others.
  logic                told_q;
  smk_pkg::tb_slot_t   told_slot_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) told_q <= 1'b0;
    else         told_q <= chosen_q[1] && !partitioned_i;
  end
  always_ff @(posedge clk_i) told_slot_q <= slot_i;
  smk_pkg::tb_need_t told_need;
  smk_pkg::tb_base_t told_base;
  assign told_need = need_of(needs_i, slots_of_i, 32'(told_slot_q));
  assign told_base = base[told_slot_q];
  for (genvar s = 0; s < NumSlots; s++) begin : gen_slot
    smk_pkg::tb_need_t need;
    smk_pkg::tb_base_t here;
    assign need = need_of(needs_i, slots_of_i, s);
    assign here = base[s];
    always_ff @(posedge clk_i) begin
      if (rst_ni && told_q && known_q[told_slot_q] && known_q[s] && 32'(told_slot_q) != s) begin
        PlacesApart_A : assert (
            apart(16'(told_base.registers), 16'(told_need.registers), 16'(here.registers),
                  16'(need.registers)) &&
            apart(16'(told_base.shared_memory), 16'(told_need.shared_memory),
                  16'(here.shared_memory), 16'(need.shared_memory)));
      end
    end
  end
  `SMK_ASSERT(PlaceInsideSm_A, told_q && known_q[told_slot_q] |->
              32'(told_base.registers) + 32'(told_need.registers) <= smk_pkg::LimitRegisters &&
              32'(told_base.shared_memory) + 32'(told_need.shared_memory) <=
                  smk_pkg::LimitSharedMemory)
  // Nothing changes without a launch or a TB that goes, but that places are given up.
  `SMK_ASSERT(IdleHolds_A, !launching_i && !look_i && gone_i == '0 |=>
              $stable({step_q, waiting_q}) && (kept_q & ~$past(kept_q)) == '0)
endmodule

bind smk_tb_places smk_tb_places_checker u_checker (.*);
