// SPDX-License-Identifier: Apache-2.0
// Proofs of smk_tb_places. TBs come and go as an SM's do: one is launched at a time, takes a slot of
// those that it may once its place is found, and may leave when it runs. What a kernel's TBs need
// changes while it has none here. Where they lie is read in the block's memory, and compared with what
// the block says of a TB that comes.
`include "formal.svh"

module formal_tb_places (
  input logic                clk_i,
  input logic                partitioned_i,
  input smk_pkg::need_vec_t  needs_i,
  input logic                start_i,
  input smk_pkg::kernel_id_t kernel_i,
  input smk_pkg::tb_slot_t   slot_i,
  input logic                starts_i,
  input smk_pkg::slot_mask_t gone_i,
  input smk_pkg::slot_mask_t pending_i
);
  localparam int unsigned NumKernels = smk_pkg::NumKernels;
  localparam int unsigned NumSlots   = smk_pkg::NumSlots;
  localparam int unsigned Registers  = smk_pkg::LimitRegisters;
  localparam int unsigned Shared     = smk_pkg::LimitSharedMemory;
  // Of a walk in which nobody is in the way, after one that a TB just gone has spoilt.
  localparam int unsigned Bound      = NumSlots + 8;

  `FORMAL_RESET
  // The launch: its place is looked for, found, it has a slot, and its warps are placed.
  typedef enum logic [2:0] {None, Look, Choose, Index, First, Warps} phase_e;
  logic [2:0]            phase_q;
  smk_pkg::kernel_id_t   launch_kernel_q;
  smk_pkg::tb_slot_t     launch_slot_q;
  smk_pkg::slot_mask_t   here_q, gone, slots, here_of, launch_slot;
  logic [NumSlots-1:0]   kernel_q;  // of the TB that is, or was last, in a slot: there are two
  smk_pkg::need_vec_t    needs_q;
  smk_pkg::kernel_slots_t slots_of;
  smk_pkg::kernel_mask_t there;
  logic                  found, waiting, waits, launching, has_slot, chooses;
  smk_pkg::tb_base_t     base;
  smk_pkg::tb_need_t     need;
  assign launching   = phase_q != None;
  assign has_slot    = phase_q > Choose;
  assign launch_slot = NumSlots'(1) << launch_slot_q;
  assign gone        = gone_i & here_q & (has_slot ? ~launch_slot : '1);
  assign slots_of.kernel[0] = ~kernel_q;
  assign slots_of.kernel[1] = kernel_q;
  assign chooses     = phase_q == Choose && found;
  assign need        = needs_q.kernel[launch_kernel_q];
  for (genvar k = 0; k < NumKernels; k++) begin : gen_there
    assign there[k] = (slots_of.kernel[k] & here_q) != '0;
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      phase_q         <= None;
      here_q          <= '0;
      kernel_q        <= '0;
      needs_q         <= needs_i;
      launch_kernel_q <= '0;
      launch_slot_q   <= '0;
    end else begin
      here_q <= here_q & ~gone;
      unique case (phase_q)
        None:    if (start_i) phase_q <= Look;
        Look:    phase_q <= Choose;
        Choose:  if (found) phase_q <= Index;
        Index:   phase_q <= First;
        First:   phase_q <= Warps;
        default: if (starts_i) phase_q <= None;
      endcase
      if (phase_q == None) launch_kernel_q <= kernel_i;
      if (chooses) begin
        launch_slot_q    <= slot_i;
        here_q[slot_i]   <= 1'b1;
        kernel_q[slot_i] <= launch_kernel_q[0];
      end
      for (int unsigned k = 0; k < NumKernels; k++) begin
        if (!there[k] && !launching) needs_q.kernel[k] <= needs_i.kernel[k];
      end
    end
  end

  smk_tb_places u_dut (
    .clk_i, .rst_ni, .pending_i,
    .partitioned_i(1'b0),
    .needs_i      (needs_q),
    .slot_valid_i (here_q),
    .slots_of_i   (slots_of),
    .gone_i       (gone),
    .launching_i  (launching),
    .look_i       (phase_q == Look),
    .chosen_i     (phase_q == Index),
    .kernel_i     (launch_kernel_q),
    .slot_i       (launch_slot_q),
    .need_i       (need),
    .found_o      (found),
    .slots_o      (slots),
    .base_o       (base),
    .waiting_o    (waiting),
    .waits_o      (waits)
  );

  // A TB fits the SM; it takes a free slot of those that it may.
  logic [NumKernels-1:0] fit;
  smk_pkg::tb_need_t     one;
  always_comb begin
    for (int unsigned k = 0; k < NumKernels; k++) begin
      one    = needs_q.kernel[k];
      fit[k] = 32'(one.registers) <= Registers && 32'(one.shared_memory) <= Shared;
    end
  end
  `ASSUME(TbFitsTheSm_M, fit == '1)
  `ASSUME(ChosenIsAllowed_M, !chooses || slots[slot_i] && !here_q[slot_i])

  // Where the TBs lie: [begin, end) of both memories. That of the launch, once it is written.
  localparam int unsigned RegistersWidth = $clog2(Registers), SharedWidth = $clog2(Shared);
  `WATCH([RegistersWidth-1:0], registers_0, u_dut.u_registers.base_mem[0])
  `WATCH([RegistersWidth-1:0], registers_1, u_dut.u_registers.base_mem[1])
  `WATCH([RegistersWidth-1:0], registers_2, u_dut.u_registers.base_mem[2])
  `WATCH([RegistersWidth-1:0], registers_3, u_dut.u_registers.base_mem[3])
  `WATCH([SharedWidth-1:0], shared_0, u_dut.u_shared_memory.base_mem[0])
  `WATCH([SharedWidth-1:0], shared_1, u_dut.u_shared_memory.base_mem[1])
  `WATCH([SharedWidth-1:0], shared_2, u_dut.u_shared_memory.base_mem[2])
  `WATCH([SharedWidth-1:0], shared_3, u_dut.u_shared_memory.base_mem[3])
  typedef struct packed {logic [NumSlots-1:0][7:0] slot;} ends_t;
  ends_t               registers_begin, registers_end, shared_begin, shared_end;
  smk_pkg::slot_mask_t lies;
  assign lies = here_q & (phase_q == Index ? ~launch_slot : '1);
  assign registers_begin = {8'(registers_3), 8'(registers_2), 8'(registers_1), 8'(registers_0)};
  assign shared_begin    = {8'(shared_3), 8'(shared_2), 8'(shared_1), 8'(shared_0)};
  logic inside_sm, apart;
  smk_pkg::tb_need_t of_slot;
  always_comb begin
    for (int unsigned s = 0; s < NumSlots; s++) begin
      of_slot               = needs_q.kernel[kernel_q[s]];
      registers_end.slot[s] = registers_begin.slot[s] + 8'(of_slot.registers);
      shared_end.slot[s]    = shared_begin.slot[s] + 8'(of_slot.shared_memory);
    end
  end
  always_comb begin
    inside_sm = 1'b1;
    apart     = 1'b1;
    for (int unsigned a = 0; a < NumSlots; a++) begin
      if (lies[a] && (32'(registers_end.slot[a]) > Registers || 32'(shared_end.slot[a]) > Shared)) begin
        inside_sm = 1'b0;
      end
      for (int unsigned b = 0; b < a; b++) begin
        if (lies[a] && lies[b] &&
            ((registers_begin.slot[a] < registers_end.slot[b] &&
              registers_begin.slot[b] < registers_end.slot[a]) ||
             (shared_begin.slot[a] < shared_end.slot[b] &&
              shared_begin.slot[b] < shared_end.slot[a]))) apart = 1'b0;
      end
    end
  end
  // No register and no shared memory belongs to two TBs, and none lies outside the SM.
  `PROVE(PlacesApart_A, apart)
  `PROVE(PlacesInsideSm_A, inside_sm)
  // What is said of a TB when its warps are placed is where it lies.
  `PROVE(BaseIsItsPlace_A, phase_q != Warps ||
         (8'(base.registers) == registers_begin.slot[launch_slot_q] &&
          8'(base.shared_memory) == shared_begin.slot[launch_slot_q]))

  // For induction: what the block knows of the places, and how far its walk has come.
  localparam int unsigned RegistersCnt = $clog2(Registers + 1), SharedCnt = $clog2(Shared + 1);
  localparam int unsigned SlotWidth    = $clog2(NumSlots), CountWidth = $clog2(NumSlots + 2);
  localparam logic [2:0] StRest = 3'd0, StSum = 3'd2, StWalk = 3'd3, StFound = 3'd5;
  `WATCH([2:0], step, u_dut.step_q)
  `WATCH([NumSlots-1:0], kept, u_dut.kept_q)
  `WATCH([0:0], keeps, u_dut.keeps_q)
  `WATCH([0:0], walked, u_dut.walked_q)
  `WATCH([0:0], read_valid, u_dut.read_valid_q)
  `WATCH([0:0], low_valid, u_dut.valid_q)
  `WATCH([SlotWidth-1:0], index, u_dut.index_q)
  `WATCH([CountWidth-1:0], count, u_dut.count_q)
  `WATCH([RegistersCnt-1:0], registers_at, u_dut.u_registers.at_q)
  `WATCH([RegistersCnt-1:0], registers_top, u_dut.u_registers.top_q)
  `WATCH([RegistersCnt:0], registers_sum, u_dut.u_registers.end_q)
  `WATCH([RegistersWidth-1:0], registers_read, u_dut.u_registers.read_base_q)
  `WATCH([RegistersCnt-1:0], registers_read_need, u_dut.u_registers.read_need_q)
  `WATCH([RegistersWidth-1:0], registers_low, u_dut.u_registers.low_q)
  `WATCH([RegistersCnt-1:0], registers_high, u_dut.u_registers.high_q)
  `WATCH([SharedCnt-1:0], shared_at, u_dut.u_shared_memory.at_q)
  `WATCH([SharedCnt-1:0], shared_top, u_dut.u_shared_memory.top_q)
  `WATCH([SharedCnt:0], shared_sum, u_dut.u_shared_memory.end_q)
  `WATCH([SharedWidth-1:0], shared_read, u_dut.u_shared_memory.read_base_q)
  `WATCH([SharedCnt-1:0], shared_read_need, u_dut.u_shared_memory.read_need_q)
  `WATCH([SharedWidth-1:0], shared_low, u_dut.u_shared_memory.low_q)
  `WATCH([SharedCnt-1:0], shared_high, u_dut.u_shared_memory.high_q)
  // Places of TBs that are there, and of those that are kept: apart, and below the top.
  smk_pkg::slot_mask_t places, clear, in_way;
  logic                kept_apart, below_top, kept_is_of_kernel;
  logic [7:0]          registers_new, shared_new;
  assign registers_new = 8'(registers_at) + 8'(need.registers);
  assign shared_new    = 8'(shared_at) + 8'(need.shared_memory);
  assign places        = lies | (kept & ~(phase_q == Index && !keeps ? launch_slot : '0));
  always_comb begin
    kept_apart        = 1'b1;
    below_top         = 32'(registers_top) <= Registers && 32'(shared_top) <= Shared;
    kept_is_of_kernel = 1'b1;
    for (int unsigned a = 0; a < NumSlots; a++) begin
      in_way[a] = (8'(registers_at) < registers_end.slot[a] &&
                   registers_begin.slot[a] < registers_new) ||
                  (8'(shared_at) < shared_end.slot[a] && shared_begin.slot[a] < shared_new);
      if (keeps && slots[a] && (!kept[a] || kernel_q[a] != launch_kernel_q[0])) begin
        kept_is_of_kernel = 1'b0;
      end
      if (places[a] && (registers_end.slot[a] > 8'(registers_top) ||
                        shared_end.slot[a] > 8'(shared_top))) below_top = 1'b0;
      for (int unsigned b = 0; b < a; b++) begin
        if (places[a] && places[b] &&
            ((registers_begin.slot[a] < registers_end.slot[b] &&
              registers_begin.slot[b] < registers_end.slot[a]) ||
             (shared_begin.slot[a] < shared_end.slot[b] &&
              shared_begin.slot[b] < shared_end.slot[a]))) kept_apart = 1'b0;
      end
    end
  end
  `PROVE(KeptAreApart_A, kept_apart && below_top)
  `PROVE(StepIsOfThePhase_A, step <= StFound && phase_q <= Warps &&
         (phase_q == Choose ? step != StRest : (step == StFound) == (phase_q == Index)) &&
         (phase_q == Choose || phase_q == Index || step == StRest))
  // A kept place is its kernel's; who lies behind the others begins at the top.
  logic placing;
  assign placing = step == StFound;
  `PROVE(FoundIsFree_A, !placing || (keeps ? kept_is_of_kernel && !walked :
         walked ? (in_way & here_q & (phase_q == Index ? ~launch_slot : '1)) == '0 &&
                  32'(registers_new) <= Registers && 32'(shared_new) <= Shared :
         8'(registers_at) == (need.registers == '0 ? 8'd0 : 8'(registers_top)) &&
         8'(shared_at) == (need.shared_memory == '0 ? 8'd0 : 8'(shared_top)) &&
         8'(registers_top) + 8'(need.registers) <= 8'(Registers) &&
         8'(shared_top) + 8'(need.shared_memory) <= 8'(Shared)))
  `PROVE(SlotIsAllowed_A, phase_q != Index || (slots & launch_slot) != '0)
  `PROVE(SumIsTheEnd_A, !(step == StWalk || (placing && (walked || phase_q == Index))) ||
         (8'(registers_sum) == registers_new && 8'(shared_sum) == shared_new))
  `PROVE(WalkIsNoOther_A, step == StRest || step == StFound || (walked || step == 3'd1) && !keeps)
  // The slots that were compared since the TB moved are in nobody's way; two more were read.
  logic [SlotWidth-1:0] last_read, before_last;
  logic [7:0]           age;
  assign last_read   = index - SlotWidth'(1);
  assign before_last = index - SlotWidth'(2);
  always_comb begin
    for (int unsigned a = 0; a < NumSlots; a++) begin
      age      = 8'(SlotWidth'(last_read - SlotWidth'(a)));
      clear[a] = (age >= 8'd2 && age < 8'(count)) || age + 8'(NumSlots) < 8'(count);
    end
  end
  `PROVE(WalkIsClear_A, step != StWalk || ((clear & here_q & in_way) == '0 &&
         32'(count) <= NumSlots + 1))
  `PROVE(ReadIsThePlace_A, step != StWalk || count == '0 || !here_q[last_read] ||
         (read_valid && 8'(registers_read) == registers_begin.slot[last_read] &&
          8'(registers_read) + 8'(registers_read_need) == registers_end.slot[last_read] &&
          8'(shared_read) == shared_begin.slot[last_read] &&
          8'(shared_read) + 8'(shared_read_need) == shared_end.slot[last_read]))
  `PROVE(SummedIsThePlace_A, step != StWalk || count < CountWidth'(2) || !here_q[before_last] ||
         (low_valid && 8'(registers_low) == registers_begin.slot[before_last] &&
          8'(registers_high) == registers_end.slot[before_last] &&
          8'(shared_low) == shared_begin.slot[before_last] &&
          8'(shared_high) == shared_end.slot[before_last]))

  // A TB waits only beside others, and when these have gone it is placed.
  logic [$clog2(Bound+2)-1:0] alone_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni || here_q != '0 || phase_q != Choose || found) alone_q <= '0;
    else if (alone_q != '1) alone_q <= alone_q + 1'b1;
  end
  `PROVE(AloneIsPlaced_A, 32'(alone_q) <= Bound)

  (* keep *) logic idle;
  assign idle = rst_ni && !launching && gone == '0 && quiet_q == 2'd2;
  // Cycles since something happened.
  logic [1:0] quiet_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni || launching || gone != '0) quiet_q <= '0;
    else if (quiet_q != 2'd2) quiet_q <= quiet_q + 1'b1;
  end
endmodule
