// SPDX-License-Identifier: Apache-2.0
// smk_place_gap: where TBs lie in one memory of an SM; part of smk_tb_places.
//
// Purpose     Holds where the TB of each slot begins and where nothing lies any more; looks, slot
//             after slot, whether a new TB would meet the others, and moves it behind those.
// Paper       none; deviations [D70], [D71].
// Interface   Levels of this cycle: what the walk of smk_tb_places does. All amounts in allocation
//             units. Outputs are compared from registers.
// Latency     A slot's TB is read in the first cycle, summed in the second, in the way in the third.
// Throughput  One slot per cycle.
// Reset       Nothing lies anywhere; where a TB began is not reset.
// Model       model/control/sm/tb_places.h (Memory)   Doc  docs/blocks/tb_places.md
`include "smk_assert.svh"

module smk_place_gap #(
  parameter int unsigned Limit = 256
) (
  input  logic                            clk_i,
  input  logic                            rst_ni,
  // What the new TB needs, one cycle after look_i, and with it; what one of the slot's kernel needs.
  input  logic [$clog2(Limit + 1)-1:0]    need_i,
  input  logic [$clog2(Limit + 1)-1:0]    new_need_i,
  input  logic [$clog2(Limit + 1)-1:0]    slot_need_i,
  // A TB comes that needs new_need_i: it may lie behind all others. The bottom is looked at. Its end
  // is summed up. A slot is read; the walk goes on; the new TB moves if it meets the one in the slot.
  input  logic                            look_i,
  input  logic                            begin_i,
  input  logic                            sum_i,
  input  logic                            read_i,
  input  logic                            walk_i,
  input  logic                            valid_i,
  // The slot: one-hot.
  input  smk_pkg::slot_mask_t             slot_i,
  // The new TB begins here, in this slot; the SM is empty.
  input  logic                            write_i,
  input  logic                            empty_i,
  // It fits behind the others; it is too long; it is moved.
  output logic                            behind_o,
  output logic                            beyond_o,
  output logic                            meets_o,
  // Where the slot's TB begins, read one cycle ago.
  output logic [$clog2(Limit + 1)-1:0]    base_o
);
  localparam int unsigned Width     = $clog2(Limit + 1);
  localparam int unsigned BaseWidth = (Limit > 1) ? $clog2(Limit) : 1;
  localparam int unsigned NumSlots  = smk_pkg::NumSlots;

  // A TB without need begins at 0, so each begins below the limit.
  logic [BaseWidth-1:0] base_mem [NumSlots];
  logic [BaseWidth-1:0] read, read_base_q, low_q;
  logic [Width-1:0]     read_need_q, high_q, at_d, at_q, top_q;
  logic [Width:0]       end_q, behind;

  always_comb begin
    read = '0;
    for (int unsigned s = 0; s < NumSlots; s++) read |= base_mem[s] & {BaseWidth{slot_i[s]}};
  end

  assign behind   = {1'b0, top_q} + {1'b0, new_need_i};
  assign behind_o = behind <= (Width + 1)'(Limit);
  assign beyond_o = end_q > (Width + 1)'(Limit);
  assign meets_o  = valid_i && (Width + 1)'(low_q) < end_q &&
                    at_q < high_q;
  always_comb begin
    at_d = at_q;
    if (look_i)            at_d = (new_need_i == '0) ? '0 : top_q;
    if (begin_i)           at_d = '0;
    if (walk_i && meets_o) at_d = high_q;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      at_q        <= '0;
      end_q       <= '0;
      top_q       <= '0;
      read_base_q <= '0;
      read_need_q <= '0;
      low_q       <= '0;
      high_q      <= '0;
    end else begin
      at_q <= at_d;
      if (sum_i) end_q <= {1'b0, at_q} + {1'b0, need_i};
      if (write_i && end_q > {1'b0, top_q}) top_q <= end_q[Width-1:0];
      if (empty_i) top_q <= '0;
      if (read_i) begin
        read_base_q <= read;
        read_need_q <= slot_need_i;
      end
      if (walk_i) begin
        low_q  <= read_base_q;
        high_q <= Width'(read_base_q) + read_need_q;
      end
    end
  end
  // Not reset.
  always_ff @(posedge clk_i) begin
    for (int unsigned s = 0; s < NumSlots; s++) begin
      if (write_i && slot_i[s]) base_mem[s] <= at_q[BaseWidth-1:0];
    end
  end
  assign base_o = Width'(read_base_q);

  // What is written lies inside the SM.
  `SMK_ASSERT(InsideSm_A, write_i |-> end_q <= (Width + 1)'(Limit))
endmodule
