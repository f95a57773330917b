// SPDX-License-Identifier: Apache-2.0
// smk_tb_places: where the TBs of one SM without partitions lie.
//
// Purpose     Gives a TB its registers and shared memory: where an earlier TB of its kernel lay,
//             else behind all others, else in the first gap of each memory. Without such gaps the
//             TB waits until another one leaves.
// Paper       none ([SMK] 6.1: both memories are linearly addressed); deviations [D70] to [D73].
// Interface   look_i, chosen_i, gone_i, waits_o: pulses (S5). found_o: level until chosen_i. All
//             outputs are registers.
// Latency     found_o 1 cycle after look_i, or after a walk over the slots: slots + 5 cycles, and as
//             many for each TB that is in the way at most. base_o 2 cycles after chosen_i.
// Throughput  One TB at a time.
// Reset       Nothing lies anywhere.
// Model       model/control/sm/tb_places.h   Doc  docs/blocks/tb_places.md
// With partitions smk_partition_counters says where TBs lie, and this block does nothing.
`include "smk_assert.svh"

module smk_tb_places (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  // Partitions are in force: others say where TBs lie.
  input  logic                   partitioned_i,
  // What a TB of each kernel needs: registers of the driver.
  input  smk_pkg::need_vec_t     needs_i,
  // Resident TBs; the slots whose TB is, or was last, of each kernel; TBs that go at the end of this
  // cycle; empty slots that may not be taken yet.
  input  smk_pkg::slot_mask_t    slot_valid_i,
  input  smk_pkg::kernel_slots_t slots_of_i,
  input  smk_pkg::slot_mask_t    gone_i,
  input  smk_pkg::slot_mask_t    pending_i,
  // A TB is launched, of this kernel, which needs so much (one cycle after look_i): it is looked for
  // a place; it has this slot.
  input  logic                   launching_i,
  input  logic                   look_i,
  input  logic                   chosen_i,
  input  smk_pkg::kernel_id_t    kernel_i,
  input  smk_pkg::tb_slot_t      slot_i,
  input  smk_pkg::tb_need_t      need_i,
  // Its place is known: in one of these slots; where its registers and shared memory begin.
  output logic                   found_o,
  output smk_pkg::slot_mask_t    slots_o,
  output smk_pkg::tb_base_t      base_o,
  // It has found no gap yet; that begins.
  output logic                   waiting_o,
  output logic                   waits_o
);
  `SMK_CHECK_CONFIG

  localparam int unsigned NumKernels = smk_pkg::NumKernels;
  localparam int unsigned NumSlots   = smk_pkg::NumSlots;
  localparam int unsigned SlotWidth  = smk_pkg::SlotWidth;
  localparam int unsigned CountWidth = $clog2(NumSlots + 2);

  typedef enum logic [2:0] {StRest, StBegin, StSum, StWalk, StWait, StFound} step_e;
  step_e                 step_d, step_q;
  // Empty slots whose last place is nobody else's; slots in which the TB may be placed.
  smk_pkg::slot_mask_t   kept_d, kept_q, mine, slots_q;
  // It lies where an earlier one lay; in a gap. It waits. A TB has gone since the walk began.
  logic                  keeps_q, walked_q, waiting_q, waits_q, news_q;
  // The slot to be read, and cycles of the walk since the TB moved.
  smk_pkg::tb_slot_t     index_q;
  logic [CountWidth-1:0] count_q;
  // The slot that was read is taken; one cycle later.
  logic                  read_valid_q, valid_q;

  logic                  look, chosen, walk, read, goes, give_up, meets, last;
  logic                  behind_registers, behind_shared, beyond_registers, beyond_shared,
                         meets_registers, meets_shared;
  smk_pkg::slot_mask_t   at;
  smk_pkg::kernel_mask_t resident, of_slot, of_new;
  smk_pkg::tb_need_t     slot_need, new_need;

  assign look    = step_q == StRest && look_i && !partitioned_i;
  assign chosen  = step_q == StFound && chosen_i && !partitioned_i;
  assign goes    = gone_i != '0;
  assign walk    = step_q == StWalk && !partitioned_i;
  assign give_up = walk && (beyond_registers || beyond_shared);
  assign meets   = meets_registers || meets_shared;
  assign last    = count_q == CountWidth'(NumSlots + 1);

  // Warps are for others.
  logic unused_threads;
  assign unused_threads = ^{need_i.threads, slot_need.threads, new_need.threads};

  // The slot that is read: of the walk, or of the TB. Its kernel, and that of the TB that comes.
  assign read = !partitioned_i && ((walk && !give_up) || (step_q == StRest && launching_i));
  assign at   = NumSlots'(1) << (step_q == StWalk ? index_q : `SMK_CUT(SlotOfBase, slot_i));
  always_comb begin
    slot_need = '0;
    new_need  = '0;
    for (int unsigned k = 0; k < NumKernels; k++) begin
      of_new[k]   = kernel_i == smk_pkg::KernelWidth'(k);
      of_slot[k]  = (slots_of_i.kernel[k] & at) != '0;
      resident[k] = (slots_of_i.kernel[k] & slot_valid_i) != '0;
      slot_need   = slot_need | (needs_i.kernel[k] & {smk_pkg::NeedWidth{of_slot[k]}});
      new_need    = new_need | (needs_i.kernel[k] & {smk_pkg::NeedWidth{of_new[k]}});
    end
  end

  smk_place_gap #(.Limit(smk_pkg::LimitRegisters)) u_registers (
    .clk_i, .rst_ni,
    .need_i     (need_i.registers),
    .new_need_i (new_need.registers),
    .slot_need_i(slot_need.registers),
    .look_i     (look),
    .begin_i    (step_q == StBegin && !partitioned_i),
    .sum_i      ((step_q == StSum || step_q == StFound) && !partitioned_i),
    .read_i     (read),
    .walk_i     (walk && !give_up),
    .valid_i    (valid_q),
    .slot_i     (at),
    .write_i    (chosen && !keeps_q),
    .empty_i    (!launching_i && !partitioned_i && slot_valid_i == '0),
    .behind_o   (behind_registers),
    .beyond_o   (beyond_registers),
    .meets_o    (meets_registers),
    .base_o     (base_o.registers)
  );
  smk_place_gap #(.Limit(smk_pkg::LimitSharedMemory)) u_shared_memory (
    .clk_i, .rst_ni,
    .need_i     (need_i.shared_memory),
    .new_need_i (new_need.shared_memory),
    .slot_need_i(slot_need.shared_memory),
    .look_i     (look),
    .begin_i    (step_q == StBegin && !partitioned_i),
    .sum_i      ((step_q == StSum || step_q == StFound) && !partitioned_i),
    .read_i     (read),
    .walk_i     (walk && !give_up),
    .valid_i    (valid_q),
    .slot_i     (at),
    .write_i    (chosen && !keeps_q),
    .empty_i    (!launching_i && !partitioned_i && slot_valid_i == '0),
    .behind_o   (behind_shared),
    .beyond_o   (beyond_shared),
    .meets_o    (meets_shared),
    .base_o     (base_o.shared_memory)
  );

  // Places that stay with their kernel while it has TBs here.
  smk_pkg::slot_mask_t of_resident, slots_of_new;
  always_comb begin
    of_resident = '0;
    slots_of_new = '0;
    for (int unsigned k = 0; k < NumKernels; k++) begin
      of_resident = of_resident | (slots_of_i.kernel[k] & {NumSlots{resident[k]}});
      slots_of_new = slots_of_new | (slots_of_i.kernel[k] & {NumSlots{of_new[k]}});
    end
    kept_d = kept_q;
    if (!launching_i) kept_d = kept_q & `SMK_CUT(OfResident, of_resident);
    // In a gap, a TB may lie over any.
    if (chosen) kept_d = walked_q ? '0 : kept_q & ~at;
    kept_d = kept_d | `SMK_CUT(Goers, gone_i);
  end
  assign mine = kept_q & slots_of_new & ~pending_i;

  always_comb begin
    step_d = step_q;
    unique case (step_q)
      // A place of the same kernel, or behind the others.
      StRest: if (look) begin
        step_d = (mine != '0 || (behind_registers && behind_shared)) ? StFound : StBegin;
      end
      // From the bottom of both memories on.
      StBegin: step_d = StSum;
      StSum:   step_d = StWalk;
      // Whoever is in the way: the new TB moves behind it, and all are looked at once more.
      StWalk: begin
        if (give_up)    step_d = (news_q || goes) ? StBegin : StWait;
        else if (meets) step_d = StSum;
        else if (last)  step_d = StFound;
      end
      // No gap is large enough.
      StWait:  if (`SMK_CUT(SomebodyGoes, goes)) step_d = StBegin;
      StFound: if (chosen) step_d = StRest;
      default: step_d = StRest;
    endcase
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      step_q       <= StRest;
      kept_q       <= '0;
      slots_q      <= '0;
      keeps_q      <= 1'b0;
      walked_q     <= 1'b0;
      waiting_q    <= 1'b0;
      waits_q      <= 1'b0;
      news_q       <= 1'b0;
      index_q      <= '0;
      count_q      <= '0;
      read_valid_q <= 1'b0;
      valid_q      <= 1'b0;
    end else if (!partitioned_i) begin
      step_q  <= step_d;
      kept_q  <= kept_d;
      waits_q <= give_up && !waiting_q;
      news_q  <= step_q != StBegin && (news_q || goes);
      if (look) begin
        keeps_q <= mine != '0;
        slots_q <= (mine != '0) ? mine : '1;
      end
      if (look) walked_q <= 1'b0;
      else if (step_q == StBegin) walked_q <= 1'b1;
      if (give_up) waiting_q <= 1'b1;
      else if (walk && !meets && last) waiting_q <= 1'b0;
      if (step_q == StSum || step_q == StFound) begin
        count_q      <= '0;
        read_valid_q <= 1'b0;
        valid_q      <= 1'b0;
      end else if (walk && !give_up) begin
        count_q      <= count_q + CountWidth'(1);
        read_valid_q <= (slot_valid_i & at) != '0;
        valid_q      <= read_valid_q;
        index_q      <= (index_q == SlotWidth'(NumSlots - 1)) ? '0 : index_q + SlotWidth'(1);
      end
    end
  end

  assign found_o   = step_q == StFound;
  assign slots_o   = slots_q;
  assign waiting_o = waiting_q;
  assign waits_o   = waits_q;

  // One TB is launched at a time; it takes one of the slots that it may.
  `SMK_ASSERT(OneAtATime_M, look_i && !partitioned_i |-> step_q == StRest && launching_i)
  `SMK_ASSERT(ChosenIsAllowed_M, chosen_i && !partitioned_i |-> step_q == StFound &&
              (slots_q & NumSlots'(1) << slot_i) != '0)
  // A place is kept of an empty slot.
  `SMK_ASSERT(KeptIsEmpty_A, (kept_q & slot_valid_i & ~at) == '0 || partitioned_i)
  // A TB waits only while others are there.
  `SMK_ASSERT(WaitsBesideOthers_A, step_q == StWait |-> slot_valid_i != '0)
  // A place is taken again, a TB moves, waits, and looks again at once, in our tests.
  `SMK_COVER(TakenAgain_C, chosen && keeps_q)
  `SMK_COVER(Moves_C, walk && meets)
  `SMK_COVER(Waits_C, waits_q)
  `SMK_COVER(LooksAgain_C, give_up && (news_q || goes))
endmodule
