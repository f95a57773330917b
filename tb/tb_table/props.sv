// SPDX-License-Identifier: Apache-2.0
// Proofs of smk_tb_table, from its ports alone: which TB is where, and whose each warp slot is, is
// kept here.
`include "formal.svh"

module formal_tb_table (
  input logic                 clk_i,
  input logic                 dispatch_valid_i,
  input smk_pkg::kernel_id_t  dispatch_kernel_i,
  input smk_pkg::tb_id_t      dispatch_tb_i,
  input logic                 dispatch_restore_i,
  input smk_pkg::buffer_t     dispatch_buffer_i,
  input logic                 found_i,
  input smk_pkg::slot_mask_t  allowed_slots_i,
  input smk_pkg::warp_mask_t  allowed_warps_i,
  input smk_pkg::thread_cnt_t launch_warps_i,
  input smk_pkg::tb_base_t    launch_base_i,
  input smk_pkg::slot_mask_t  finished_i,
  input logic                 release_valid_i,
  input smk_pkg::tb_slot_t    release_slot_i,
  input logic                 loaded_valid_i,
  input smk_pkg::tb_slot_t    loaded_slot_i,
  input smk_pkg::slot_mask_t  stop_slots_i,
  input smk_pkg::tb_slot_t    read_slot_i,
  input smk_pkg::tb_slot_t    context_slot_i
);
  localparam int unsigned NumSlots   = smk_pkg::NumSlots;
  localparam int unsigned NumWarps   = smk_pkg::NumWarps;
  localparam int unsigned SlotWidth  = smk_pkg::SlotWidth;

  `FORMAL_RESET
  logic                   launching;
  smk_pkg::tb_slot_t      launch_slot;
  smk_pkg::kernel_id_t    launch_kernel, read_kernel, context_kernel;
  smk_pkg::warp_start_t   warp_start;
  smk_pkg::slot_mask_t    activate, load, valid, running;
  smk_pkg::kernel_slots_t kernel_slots, slots_of;
  logic                   look, chosen;
  smk_pkg::slot_mask_t    goes;
  smk_pkg::warp_mask_t    leave_warps, stop_warps;
  smk_pkg::tb_id_t        read_tb;
  smk_pkg::buffer_t       context_buffer;
  smk_tb_table u_dut (
    .clk_i, .rst_ni, .dispatch_valid_i, .dispatch_kernel_i, .dispatch_tb_i, .dispatch_restore_i,
    .dispatch_buffer_i, .found_i, .allowed_slots_i, .allowed_warps_i, .launch_warps_i, .launch_base_i,
    .finished_i,
    .release_valid_i, .release_slot_i, .loaded_valid_i, .loaded_slot_i, .stop_slots_i,
    .read_slot_i, .context_slot_i,
    .launching_o     (launching),
    .look_o          (look),
    .chosen_o        (chosen),
    .slots_of_o      (slots_of),
    .gone_o          (goes),
    .launch_slot_o   (launch_slot),
    .launch_kernel_o (launch_kernel),
    .warp_start_o    (warp_start),
    .activate_o      (activate),
    .load_o          (load),
    .valid_o         (valid),
    .running_o       (running),
    .kernel_slots_o  (kernel_slots),
    .leave_warps_o   (leave_warps),
    .stop_warps_o    (stop_warps),
    .read_kernel_o   (read_kernel),
    .read_tb_o       (read_tb),
    .context_kernel_o(context_kernel),
    .context_buffer_o(context_buffer)
  );

  smk_pkg::slot_mask_t gone, loaded, free_slots;
  assign gone   = finished_i | (release_valid_i ? NumSlots'(1) << release_slot_i : '0);
  assign loaded = loaded_valid_i ? NumSlots'(1) << loaded_slot_i : '0;

  // TBs that came, run, or wait for their context; the one that is launched, and its warps so far.
  smk_pkg::slot_mask_t  here_q, runs_q, waits_q, free_slots, arrive, launched;
  logic                 launching_q, restore_q, last_warp;
  smk_pkg::tb_slot_t    slot_q;
  smk_pkg::thread_cnt_t placed_q, launch_warps_q;
  smk_pkg::kernel_id_t  kernel_q;
  smk_pkg::tb_id_t      tb_q;
  // Cycles since it came, up to 6, but for those without a place: the slot is chosen in the 2nd, warps
  // start from the 6th on.
  logic [2:0]           since_q;
  logic                 choose, starts;
  smk_pkg::buffer_t     buffer_q;
  assign choose     = launching_q && since_q == 3'd2 && found_i;
  assign starts     = launching_q && since_q == 3'd6;
  assign free_slots = allowed_slots_i & ~here_q;
  assign last_warp  = warp_start.valid && placed_q + 1'b1 == launch_warps_i;
  assign launched   = last_warp ? NumSlots'(1) << slot_q : '0;
  // The lowest.
  always_comb begin
    arrive = '0;
    for (int unsigned s = 0; s < NumSlots; s++) begin
      if (arrive == '0 && free_slots[s]) arrive[s] = 1'b1;
    end
  end
  always_ff @(posedge clk_i) begin
    launch_warps_q <= launch_warps_i;
    if (!rst_ni) begin
      {here_q, runs_q, waits_q} <= '0;
      launching_q               <= 1'b0;
    end else begin
      here_q  <= (here_q & ~gone) | (choose ? arrive : '0);
      runs_q  <= (runs_q | loaded | (restore_q ? '0 : launched)) & ~gone;
      waits_q <= (waits_q | (restore_q ? launched : '0)) & ~loaded;
      if (last_warp) launching_q <= 1'b0;
      if (warp_start.valid) placed_q <= placed_q + 1'b1;
      if (since_q != 3'd6 && (since_q != 3'd2 || found_i)) since_q <= since_q + 1'b1;
      if (dispatch_valid_i) begin
        launching_q <= 1'b1;
        since_q     <= 3'd1;
        placed_q    <= '0;
        restore_q   <= dispatch_restore_i;
        kernel_q    <= dispatch_kernel_i;
        tb_q        <= dispatch_tb_i;
        buffer_q    <= dispatch_buffer_i;
      end
      if (choose) begin
        for (int unsigned s = 0; s < NumSlots; s++) if (arrive[s]) slot_q <= SlotWidth'(s);
      end
    end
  end

  // Whose each warp slot is: bit s of warp w, cleared with its TB.
  typedef struct packed {logic [NumSlots-1:0][NumWarps-1:0] slot;} slot_warps_t;
  slot_warps_t         of;
  smk_pkg::warp_mask_t start, taken, going, stopping;
  smk_pkg::slot_mask_t stopped;
  assign start   = warp_start.valid ? NumWarps'(1) << warp_start.warp : '0;
  assign stopped = stop_slots_i | (here_q & ~runs_q) | gone;
  always_comb begin
    {taken, going, stopping} = '0;
    for (int unsigned s = 0; s < NumSlots; s++) begin
      taken    = taken | of.slot[s];
      going    = going | (of.slot[s] & {NumWarps{gone[s]}});
      stopping = stopping | (of.slot[s] & {NumWarps{stopped[s]}});
    end
  end
  // The schedulers hear of them one cycle later.
  smk_pkg::warp_mask_t going_q, stopping_q;
  always_ff @(posedge clk_i) begin
    going_q    <= rst_ni ? going : '0;
    stopping_q <= rst_ni ? stopping : '0;
  end
  for (genvar s = 0; s < NumSlots; s++) begin : gen_of
    smk_pkg::warp_mask_t of_q;
    always_ff @(posedge clk_i) begin
      if (!rst_ni || gone[s]) of_q <= '0;
      else if (starts && slot_q == SlotWidth'(s)) of_q <= of_q | start;
    end
    assign of.slot[s] = of_q;
  end

  // As smk_tb_table requires; a TB's warps fit the SM.
  `ASSUME(DispatchFits_M, (!dispatch_valid_i || !launching_q) &&
          (!choose || free_slots != '0))
  `ASSUME(GoersRan_M, (gone & ~runs_q) == '0)
  `ASSUME(LoadedWaits_M, (loaded & ~waits_q) == '0)
  `ASSUME(LaunchHasWarps_M, launch_warps_i != '0 && 32'(launch_warps_i) <= NumWarps)
  `ASSUME(WarpsAreConstant_M, !launching_q || placed_q == '0 || launch_warps_i == launch_warps_q)

  // TBs are neither lost nor invented: resident are those that came and did not go, and a TB that
  // comes takes the lowest slot that is open to it and free.
  `PROVE(TbsConserved_A, valid == here_q)
  `PROVE(LaunchesWhatCame_A, launching == launching_q &&
         (!launching_q || launch_kernel == kernel_q) &&
         (!launching_q || since_q <= 3'd2 || launch_slot == slot_q))
  // A TB runs when all its warps are placed, or its context is loaded, and until it goes.
  `PROVE(RunsWhenLaunched_A, running == runs_q && load == (restore_q ? launched : '0) &&
         activate == (loaded | (restore_q ? '0 : launched)))
  // A warp starts in a warp slot that is free and open to it, and as one of the TB that came.
  `PROVE(WarpSlotIsFree_A, (start & (taken | ~allowed_warps_i)) == '0)
  `PROVE(WarpIsOfItsTb_A, !warp_start.valid || (starts && warp_start.tb_slot == slot_q &&
         warp_start.kernel == kernel_q && warp_start.tb == tb_q &&
         32'(warp_start.warp_in_tb) == 32'(placed_q) && warp_start.base == launch_base_i))
  // A launch goes on whenever a warp slot is free: no cycle is lost, and none is waited for ever.
  `PROVE(LaunchGoesOn_A, warp_start.valid == (starts && (allowed_warps_i & ~taken) != '0))
  // With a TB go exactly the warps that were started for it, and with a stopped one they stop.
  `PROVE(WarpsGoWithTheirTb_A, leave_warps == going_q)
  `PROVE(WarpsStopWithTheirTb_A, stop_warps == stopping_q)

  // What a slot holds is what came into it, for one slot that stays the same.
  smk_pkg::tb_slot_t   look_q;
  smk_pkg::kernel_id_t look_kernel_q;
  smk_pkg::tb_id_t     look_tb_q;
  smk_pkg::buffer_t    look_buffer_q;
  smk_pkg::slot_mask_t looked_at;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) look_q <= read_slot_i;
    else if (choose && arrive[look_q]) begin
      look_kernel_q <= kernel_q;
      look_tb_q     <= tb_q;
      look_buffer_q <= buffer_q;
    end
  end
  assign looked_at = kernel_slots.kernel[look_kernel_q];
  // It is written in the cycle after the slot was chosen.
  logic written;
  assign written = here_q[look_q] && !(launching_q && since_q == 3'd3 && slot_q == look_q);
  `PROVE(SlotHoldsWhatCame_A, !written || ((read_slot_i != look_q ||
         (read_kernel == look_kernel_q && read_tb == look_tb_q)) &&
         (context_slot_i != look_q ||
         (context_kernel == look_kernel_q && context_buffer == look_buffer_q)) &&
         looked_at[look_q]))

  // At rest in this cycle and in the last one, in which it reached the schedulers.
  smk_pkg::slot_mask_t stop_before_q;
  logic                rests, rests_q;
  assign rests = !dispatch_valid_i && !launching && gone == '0 && !loaded_valid_i;
  always_ff @(posedge clk_i) begin
    rests_q       <= rst_ni && rests;
    stop_before_q <= stop_slots_i;
  end
  (* keep *) logic idle;
  assign idle = rst_ni && rests && rests_q && stop_slots_i == stop_before_q;
endmodule
