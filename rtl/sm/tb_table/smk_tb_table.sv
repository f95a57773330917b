// SPDX-License-Identifier: Apache-2.0
// smk_tb_table: the TB slots and warp slots of one SM.
//
// Purpose     Gives an arriving TB the lowest free TB slot and its warps the lowest free warp
//             slots among those its kernel may use, one warp per cycle, and frees them when the TB
//             is gone.
// Paper       [SMK] Sec. 5.1, 5.4 (warps are spread over the schedulers).
// Interface   dispatch_*, finished_i, release_*, loaded_*: pulses (S5), dispatch only while
//             !launching_o. warp_start_o: pulse, combinational from allowed_warps_i. read_*,
//             context_*: read ports, combinational from the slot. leave_*, stop_warps_o: registers.
// Latency     With a place at once: slot 2 cycles after dispatch, first warp 6; a TB of W warps is
//             active after W + 5.
// Throughput  One TB per W + 6 cycles.
// Reset       Empty; what a slot held is not reset.
// Model       model/control/sm/tb_table.h   Doc  docs/blocks/tb_table.md
// Warp slot w belongs to scheduler w mod NumSchedulers. Does not choose victims.
`include "smk_assert.svh"

module smk_tb_table (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  // A TB arrives.
  input  logic                   dispatch_valid_i,
  input  smk_pkg::kernel_id_t    dispatch_kernel_i,
  input  smk_pkg::tb_id_t        dispatch_tb_i,
  input  logic                   dispatch_restore_i,
  input  smk_pkg::buffer_t       dispatch_buffer_i,
  // The TB being launched, and what its kernel may use and needs: slots from 2 cycles after dispatch
  // on, when there is a place (found_i); warps, and where its registers and shared memory begin, from
  // 4 cycles later on. Pulses: its place is looked for; it has its slot.
  output logic                   launching_o,
  output logic                   look_o,
  output logic                   chosen_o,
  // Its last warp starts.
  output logic                   placed_o,
  output smk_pkg::tb_slot_t      launch_slot_o,
  output smk_pkg::kernel_id_t    launch_kernel_o,
  input  logic                   found_i,
  input  smk_pkg::slot_mask_t    allowed_slots_i,
  input  smk_pkg::warp_mask_t    allowed_warps_i,
  input  smk_pkg::thread_cnt_t   launch_warps_i,
  input  smk_pkg::tb_base_t      launch_base_i,
  output smk_pkg::warp_start_t   warp_start_o,
  // The same, for the scheduler of the warp (one-hot).
  output logic [smk_pkg::NumSchedulers-1:0] start_valid_o,
  // TBs go: finished, or freed by the preemption engine. A context has been loaded.
  input  smk_pkg::slot_mask_t    finished_i,
  input  logic                   release_valid_i,
  input  smk_pkg::tb_slot_t      release_slot_i,
  input  logic                   loaded_valid_i,
  input  smk_pkg::tb_slot_t      loaded_slot_i,
  // Pulses: a TB may run; all warps of a restored TB are placed.
  output smk_pkg::slot_mask_t    activate_o,
  output smk_pkg::slot_mask_t    load_o,
  // Resident TBs, those that run, and of each kernel.
  output smk_pkg::slot_mask_t    valid_o,
  output smk_pkg::slot_mask_t    running_o,
  output smk_pkg::kernel_slots_t kernel_slots_o,
  // The slots whose TB is, or was last, of each kernel; TBs that go at the end of this cycle.
  output smk_pkg::kernel_slots_t slots_of_o,
  output smk_pkg::slot_mask_t    gone_o,
  // One cycle late: warps of the TBs that go; warps of these stopped TBs and of all that do not
  // run.
  output smk_pkg::warp_mask_t    leave_warps_o,
  input  smk_pkg::slot_mask_t    stop_slots_i,
  output smk_pkg::warp_mask_t    stop_warps_o,
  // What slots hold.
  input  smk_pkg::tb_slot_t      read_slot_i,
  output smk_pkg::kernel_id_t    read_kernel_o,
  output smk_pkg::tb_id_t        read_tb_o,
  input  smk_pkg::tb_slot_t      context_slot_i,
  output smk_pkg::kernel_id_t    context_kernel_o,
  output smk_pkg::buffer_t       context_buffer_o
);
  `SMK_CHECK_CONFIG

  localparam int unsigned NumKernels  = smk_pkg::NumKernels;
  localparam int unsigned NumSlots    = smk_pkg::NumSlots;
  localparam int unsigned NumWarps    = smk_pkg::NumWarps;
  localparam int unsigned KernelWidth = smk_pkg::KernelWidth;
  localparam int unsigned SlotWidth   = smk_pkg::SlotWidth;
  localparam int unsigned WarpWidth   = smk_pkg::WarpWidth;

  // Bit b of the kernel of every slot, and of the slot of every warp.
  typedef struct packed {logic [KernelWidth-1:0][NumSlots-1:0] plane;} slot_kernels_t;
  typedef struct packed {logic [SlotWidth-1:0][NumWarps-1:0] plane;} warp_slots_t;

  smk_pkg::slot_mask_t valid_d, valid_q, running_d, running_q;
  smk_pkg::warp_mask_t warp_valid_d, warp_valid_q;
  slot_kernels_t       slot_kernel_d, slot_kernel_q;
  warp_slots_t         warp_slot_d, warp_slot_q;
  smk_pkg::warp_mask_t leave_warps, leave_warps_q, stop_warps, stop_warps_q;
  // The TB being launched.
  typedef enum logic [2:0] {StNone, StSlots, StChoose, StIndex, StFirst, StWarps, StStart} step_e;
  step_e               step_d, step_q;
  logic                launching, choose, restore_q;
  smk_pkg::tb_slot_t   slot_q;
  smk_pkg::kernel_id_t kernel_q;
  smk_pkg::tb_id_t     tb_q;
  smk_pkg::buffer_t    buffer_q;
  smk_pkg::warp_id_t   warp_d, warp_q;
  assign launching = step_q != StNone;
  assign choose    = step_q == StChoose && found_i;

  // Launch: one warp per cycle into the lowest free warp slot.
  smk_pkg::warp_mask_t free_warps, start;
  logic                start_valid, last_warp;
  assign free_warps  = allowed_warps_i & `SMK_CUT(FreeWarps, ~warp_valid_q);
  assign start_valid = step_q == StStart && (free_warps != '0);
  assign start       = start_valid ? smk_pkg::lowest_warp(free_warps) : '0;
  assign last_warp   = start_valid &&
                       (32'(warp_q) + 32'd1 == 32'(launch_warps_i));

  assign warp_start_o.valid      = start_valid;
  assign warp_start_o.warp       = smk_pkg::index_of_warp(start);
  assign warp_start_o.warp_in_tb = warp_q;
  assign warp_start_o.tb_slot    = slot_q;
  assign warp_start_o.kernel     = kernel_q;
  assign warp_start_o.tb         = tb_q;
  assign warp_start_o.restore    = restore_q;
  assign warp_start_o.base       = launch_base_i;

  always_comb begin
    start_valid_o = '0;
    for (int unsigned w = 0; w < NumWarps; w++) begin
      if (start[w]) start_valid_o[w % smk_pkg::NumSchedulers] = 1'b1;
    end
  end

  smk_pkg::slot_mask_t launched, loaded, gone;
  assign launched   = last_warp ? NumSlots'(1) << slot_q : '0;
  assign loaded     = loaded_valid_i ? NumSlots'(1) << loaded_slot_i : '0;
  assign gone       = finished_i | (release_valid_i ? NumSlots'(1) << release_slot_i : '0);
  assign activate_o = loaded | (restore_q ? '0 : launched);
  assign load_o     = restore_q ? launched : '0;

  // The lowest free slot.
  smk_pkg::slot_mask_t free_slots, arrive;
  smk_pkg::tb_slot_t   arrive_slot;
  assign free_slots  = allowed_slots_i & ~valid_q;
  assign arrive      = smk_pkg::lowest_slot(free_slots);
  assign arrive_slot = smk_pkg::index_of_slot(arrive);

  // Slots come and go.
  always_comb begin
    valid_d       = valid_q & `SMK_CUT(SlotStays, ~gone);
    running_d     = (`SMK_CUT(Running, running_q) | activate_o) & ~gone;
    slot_kernel_d = slot_kernel_q;
    if (choose) begin
      valid_d = valid_d | arrive;
      for (int unsigned b = 0; b < KernelWidth; b++) begin
        slot_kernel_d.plane[b] = (slot_kernel_q.plane[b] & ~arrive) |
                                 (arrive & {NumSlots{kernel_q[b]}});
      end
    end
  end

  // Warps come and go.
  always_comb begin
    warp_valid_d = (warp_valid_q | start) & `SMK_CUT(WarpStays, ~leave_warps);
    for (int unsigned b = 0; b < SlotWidth; b++) begin
      warp_slot_d.plane[b] = (warp_slot_q.plane[b] & ~start) | (start & {NumWarps{slot_q[b]}});
    end
  end

  // From slots to their warps. Who goes is stopped until the scheduler has forgotten its warps.
  smk_pkg::slot_mask_t stopped;
  assign stopped = stop_slots_i | (valid_q & ~running_q) | gone;
  always_comb begin
    smk_pkg::warp_mask_t of_slot;
    leave_warps = '0;
    stop_warps  = '0;
    for (int unsigned s = 0; s < NumSlots; s++) begin
      of_slot = warp_valid_q;
      for (int unsigned b = 0; b < SlotWidth; b++) begin
        of_slot = of_slot & (((s >> b) % 2 == 1) ? warp_slot_q.plane[b] : ~warp_slot_q.plane[b]);
      end
      if (gone[s])    leave_warps = leave_warps | of_slot;
      if (stopped[s]) stop_warps  = stop_warps | of_slot;
    end
  end

  // Slots of each kernel.
  always_comb begin
    for (int unsigned k = 0; k < NumKernels; k++) begin
      slots_of_o.kernel[k] = '1;
      for (int unsigned b = 0; b < KernelWidth; b++) begin
        slots_of_o.kernel[k] = slots_of_o.kernel[k] &
            (((k >> b) % 2 == 1) ? slot_kernel_q.plane[b] : ~slot_kernel_q.plane[b]);
      end
      kernel_slots_o.kernel[k] = slots_of_o.kernel[k] & valid_q;
    end
  end

  // The launch: what the kernel may use is looked up in steps.
  always_comb begin
    step_d = step_q;
    unique case (step_q)
      // No TB is launched.
      StNone:   step_d = dispatch_valid_i ? StSlots : StNone;
      // The kernel's TB slots and a place are looked up, and one is chosen once there is a place.
      StSlots:  step_d = StChoose;
      StChoose: if (choose) step_d = StIndex;
      // The warp slots of this slot are found in three steps.
      StIndex:  step_d = StFirst;
      StFirst:  step_d = StWarps;
      StWarps:  step_d = StStart;
      // Warps start.
      StStart:  if (last_warp) step_d = StNone;
      default:  step_d = StNone;
    endcase
    warp_d = choose ? '0 : warp_q + WarpWidth'(start_valid);
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      valid_q       <= '0;
      running_q     <= '0;
      slot_kernel_q <= '0;
      warp_valid_q  <= '0;
      warp_slot_q   <= '0;
      step_q        <= StNone;
      warp_q        <= '0;
      leave_warps_q <= '0;
      stop_warps_q  <= '0;
    end else begin
      valid_q       <= valid_d;
      running_q     <= running_d;
      slot_kernel_q <= slot_kernel_d;
      warp_valid_q  <= warp_valid_d;
      warp_slot_q   <= warp_slot_d;
      step_q        <= step_d;
      warp_q        <= warp_d;
      leave_warps_q <= leave_warps;
      stop_warps_q  <= stop_warps;
    end
  end

  // Payload, with a write port after the slot was chosen; not reset.
  smk_pkg::tb_id_t  tb_mem     [NumSlots];
  smk_pkg::buffer_t buffer_mem [NumSlots];
  always_ff @(posedge clk_i) begin
    if (dispatch_valid_i) begin
      kernel_q  <= dispatch_kernel_i;
      tb_q      <= dispatch_tb_i;
      restore_q <= dispatch_restore_i;
      buffer_q  <= dispatch_buffer_i;
    end
    if (choose) slot_q <= arrive_slot;
    if (step_q == StIndex) begin
      tb_mem[slot_q]     <= tb_q;
      buffer_mem[slot_q] <= buffer_q;
    end
  end

  assign launching_o      = launching;
  assign look_o           = step_q == StSlots;
  assign chosen_o         = step_q == StIndex;
  assign gone_o           = gone;
  assign placed_o         = `SMK_CUT(Placed, last_warp);
  assign launch_slot_o    = slot_q;
  assign launch_kernel_o  = kernel_q;
  assign valid_o          = valid_q;
  assign running_o        = running_q;
  assign leave_warps_o    = leave_warps_q;
  assign stop_warps_o     = stop_warps_q;
  assign read_tb_o        = tb_mem[read_slot_i];
  assign context_buffer_o = buffer_mem[`SMK_CUT(ContextSlot, context_slot_i)];
  smk_pkg::slot_mask_t read, in_context;
  assign read       = NumSlots'(1) << read_slot_i;
  assign in_context = NumSlots'(1) << context_slot_i;
  always_comb begin
    for (int unsigned b = 0; b < KernelWidth; b++) begin
      read_kernel_o[b]    = (slot_kernel_q.plane[b] & read) != '0;
      context_kernel_o[b] = (slot_kernel_q.plane[b] & in_context) != '0;
    end
  end

  // Conservation: resident TBs change by one arrival and by those that go.
  `SMK_ASSERT(TbsConserved_A, 1'b1 |=> 32'($countones(valid_q)) == $past(
              32'($countones(valid_q)) + 32'(choose) - 32'($countones(valid_q & gone))))
  // Conservation: a warp slot is taken by a start and freed with its TB only.
  `SMK_ASSERT(WarpsConserved_A, 1'b1 |=> 32'($countones(warp_valid_q)) == $past(
              32'($countones(warp_valid_q)) + 32'(start_valid) - 32'($countones(leave_warps))))
  // Only resident TBs run.
  `SMK_ASSERT(RunnersAreResident_A, (running_q & ~valid_q) == '0)
  // A warp starts in a slot that is free and allowed.
  `SMK_ASSERT(StartIsFree_A, (start & (warp_valid_q | ~allowed_warps_i)) == '0)
  // One TB is launched at a time, and it finds a slot.
  `SMK_ASSERT(DispatchWhenFree_M, dispatch_valid_i |-> !launching)
  `SMK_ASSERT(DispatchFits_M, choose |-> free_slots != '0)
  // A TB that goes was there and ran.
  `SMK_ASSERT(GoersRan_M, (gone & ~running_q) == '0)
  // A context is loaded for a TB that waits for it, after its last warp was placed.
  `SMK_ASSERT(LoadedWaits_M, (loaded & (running_q | ~valid_q)) == '0)
  // A TB has at least one warp, and not more than its allowance.
  `SMK_ASSERT(LaunchHasWarps_M, step_q == StStart |-> launch_warps_i != '0)
  // A launch really waits for a place, and for warp slots, in our tests.
  `SMK_COVER(LaunchWaitsForPlace_C, step_q == StChoose && !choose)
  `SMK_COVER(LaunchWaits_C, step_q == StStart && !start_valid)
endmodule
