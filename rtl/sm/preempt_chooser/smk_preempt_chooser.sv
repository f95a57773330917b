// SPDX-License-Identifier: Apache-2.0
// smk_preempt_chooser: how each TB leaves an SM, by what it costs.
//
// Purpose     Decides for every TB that must go under PreemptChimera whether it is flushed (dropped),
//             drained (ends) or switched (saved), by estimated cycles: of work lost, until its end, or
//             of moving its context out and in again. Measures how long TBs run.
// Paper       [Chimera]; [SMK] Sec. 3, reference 8. Deviations [D80], [D86].
// Interface   activate_i, ended_i, order_i: pulses (S5). leaving_i, running_i: registers of the engine
//             and the table. go_o, flush_o: who is to leave now, and who of them is dropped; masks.
// Latency     A TB that must go is judged 7 cycles after it was picked.
// Throughput  One TB in 7 cycles; a TB that ends meanwhile is not measured.
// Reset       Nothing is known, nobody is judged.
// Model       model/control/sm/preempt_chooser.h   Doc  docs/blocks/preempt_chooser.md
// One serial datapath: an addition, a shift or comparisons per step. Does not stop or save anybody:
// see smk_preempt_engine.
`include "smk_assert.svh"

module smk_preempt_chooser (
  input  logic                    clk_i,
  input  logic                    rst_ni,
  // Constant during a run. The SM's time.
  input  smk_pkg::chimera_t       chimera_i,
  input  smk_pkg::sm_time_t       time_i,
  // These TBs run from now on, if it is not said again; of them, those that continue from a context.
  input  smk_pkg::slot_mask_t     activate_i,
  input  smk_pkg::slot_mask_t     loaded_i,
  // The end of the TB that was in this slot (one-hot) is reported.
  input  logic                    ended_i,
  input  smk_pkg::slot_mask_t     ended_slot_i,
  // From now on TBs leave in this mode.
  input  logic                    order_i,
  input  smk_pkg::preempt_mode_e  mode_i,
  // Who must go and runs; who can be dropped; whose a slot is.
  input  smk_pkg::slot_mask_t     leaving_i,
  input  smk_pkg::slot_mask_t     running_i,
  input  smk_pkg::slot_mask_t     flushable_i,
  input  smk_pkg::kernel_slots_t  slots_of_i,
  input  smk_pkg::context_views_t views_i,
  output smk_pkg::slot_mask_t     go_o,
  output smk_pkg::slot_mask_t     flush_o,
  output logic                    busy_o
);
  `SMK_CHECK_CONFIG

  localparam int unsigned NumSlots   = smk_pkg::NumSlots;
  localparam int unsigned NumKernels = smk_pkg::NumKernels;
  localparam int unsigned TimeWidth  = smk_pkg::TimeWidth;
  localparam int unsigned LineWidth  = smk_pkg::LineWidth;
  // Cycles of a save, at most; and in units of time.
  localparam int unsigned MovesWidth = LineWidth + (1 << smk_pkg::ChimeraLineWidth) - 1;
  localparam int unsigned SaveWidth  = MovesWidth - smk_pkg::TimeUnitLog2;
  // A mean moves by 2^-MeanLog2 of what it was wrong.
  localparam int unsigned MeanLog2   = 3;

  typedef enum logic [2:0] {StIdle, StKernel, StRead, StCost, StSum, StJudge, StChoose} state_e;
  state_e state_d, state_q;

  // By slot: when the TB began, and whether it had run elsewhere before. By kernel: how long its TBs
  // run, once one has ended.
  typedef struct packed {logic [NumSlots-1:0][TimeWidth-1:0] slot;} slot_times_t;
  typedef struct packed {logic [NumKernels-1:0][TimeWidth-1:0] kernel;} kernel_times_t;
  slot_times_t           start_d, start_q;
  smk_pkg::slot_mask_t   restored_d, restored_q;
  kernel_times_t         mean_d, mean_q;
  smk_pkg::kernel_mask_t known_d, known_q;

  // The order at hand: who is judged, who of them goes now, who is dropped; cycles of all saves; when
  // it came, how long ago, and whether that is too long.
  logic                active_d, active_q, watch_d, watch_q, late_d, late_q;
  smk_pkg::slot_mask_t judged_d, judged_q, go_d, go_q, flush_d, flush_q;
  smk_pkg::sm_time_t   saves_d, saves_q, since_d, since_q, elapsed_d, elapsed_q;

  // The TB at hand: slot and kernel (one-hot), measured or judged, restored; what is known of it.
  smk_pkg::slot_mask_t   slot_d, slot_q;
  smk_pkg::kernel_mask_t kernel_d, kernel_q;
  logic                  measures_d, measures_q, again_q, has_mean_q;
  smk_pkg::sm_time_t     age_d, age_q, its_mean_q, rest_q, saves_with_q;
  logic [SaveWidth-1:0]  save_d, save_q;
  smk_pkg::line_t        lines_q;
  logic [TimeWidth:0]    apart_q;

  // The next one: the highest that must go and is not judged, else one whose end is reported now.
  smk_pkg::slot_mask_t left;
  logic                picks, ended;
  assign left       = leaving_i & running_i & ~judged_q & {NumSlots{active_q}};
  assign ended      = ended_i && chimera_i.enable;
  assign picks      = state_q == StIdle && (left != '0 || ended);
  assign measures_d = picks ? left == '0 : measures_q;
  always_comb begin
    slot_d = slot_q;
    if (picks) slot_d = left != '0 ? smk_pkg::highest_slot(left) : ended_slot_i;
  end
  always_comb begin
    unique case (state_q)
      StIdle:   state_d = picks ? StKernel : StIdle;
      StKernel: state_d = StRead;
      StRead:   state_d = StCost;
      StCost:   state_d = StSum;
      StSum:    state_d = measures_q ? StIdle : StJudge;
      StJudge:  state_d = StChoose;
      default:  state_d = StIdle;
    endcase
  end

  // Of its slot, and then of its kernel.
  smk_pkg::sm_time_t start, mean;
  smk_pkg::line_t    lines;
  smk_pkg::context_view_t view;
  always_comb begin
    start = '0;
    for (int unsigned s = 0; s < NumSlots; s++) begin
      if (slot_q[s]) start = start | start_q.slot[s];
    end
  end
  always_comb begin
    for (int unsigned k = 0; k < NumKernels; k++) begin
      kernel_d[k] = (slots_of_i.kernel[k] & slot_q) != '0;
    end
  end
  always_comb begin
    mean  = '0;
    lines = '0;
    view  = '0;
    for (int unsigned k = 0; k < NumKernels; k++) begin
      view = views_i.kernel[k];
      if (kernel_q[k]) mean  = mean | mean_q.kernel[k];
      if (kernel_q[k]) lines = lines | view.context_lines;
    end
  end
  logic unused_view;
  assign unused_view = ^{view.context_base, view.context_log2_lines};
  // Its start first, then its age.
  assign age_d = state_q == StKernel ? start : time_i - age_q;

  // How far its age is from the mean, with a sign; then without, or a part of it for the new mean.
  logic [TimeWidth:0]    apart_d;
  smk_pkg::sm_time_t     rest_d, new_mean, saves_with_d;
  logic [MovesWidth-1:0] moves;
  logic                  measured;
  assign apart_d      = {1'b0, age_q} - {1'b0, its_mean_q};
  assign rest_d       = apart_q[TimeWidth] ? TimeWidth'(0) - apart_q[TimeWidth-1:0]
                                           : apart_q[TimeWidth-1:0];
  assign moves        = MovesWidth'(lines_q) << chimera_i.line;
  assign save_d       = moves[MovesWidth-1:smk_pkg::TimeUnitLog2];
  assign saves_with_d = saves_q + TimeWidth'(save_q);
  assign measured     = state_q == StSum && measures_q && !again_q;
  assign new_mean     = has_mean_q
      ? its_mean_q + {{MeanLog2-1{apart_q[TimeWidth]}}, apart_q[TimeWidth:MeanLog2]}
      : age_q;
  assign known_d      = known_q | (measured ? kernel_q : '0);

  // What each way costs and when it is over: a flush at once, saves one after the other.
  localparam int unsigned LimitWidth = smk_pkg::ChimeraLimitWidth - smk_pkg::TimeUnitLog2;
  smk_pkg::sm_time_t  limit;
  logic [TimeWidth:0] moved;
  logic may_flush_q, drain_in_time_q, switch_in_time_q, drain_sooner_q;
  logic drain_under_flush_q, drain_under_switch_q, flush_under_switch_q;
  assign limit = TimeWidth'(chimera_i.limit[smk_pkg::TimeUnitLog2 +: LimitWidth]);
  assign moved = (TimeWidth+1)'({save_q, 1'b0});
  logic unused_limit;
  assign unused_limit = ^{chimera_i.limit[smk_pkg::TimeUnitLog2-1:0], moves[smk_pkg::TimeUnitLog2-1:0]};

  // The cheapest of those that are in time: a drain before a flush before a switch. If none is, what
  // is over first.
  logic none, drain, drop, choose;
  assign none   = !may_flush_q && !drain_in_time_q && !switch_in_time_q;
  assign drain  = none ? drain_sooner_q
                       : drain_in_time_q &&
                         (`SMK_CUT(DrainUnderFlush, drain_under_flush_q) || !may_flush_q) &&
                         (drain_under_switch_q || !switch_in_time_q);
  assign drop   = !drain && `SMK_CUT(MayFlush, may_flush_q) &&
                  (flush_under_switch_q || !switch_in_time_q);
  assign choose = state_q == StChoose;

  // Who is judged. What is over too late goes all the same, and is saved.
  assign watch_d   = active_q && leaving_i != '0;
  assign elapsed_d = watch_d ? time_i - since_q : '0;
  assign late_d    = watch_d && `SMK_CUT(Late, elapsed_q > limit);
  assign judged_d  = (judged_q | (choose ? slot_q : '0)) & leaving_i;
  assign go_d      = late_q ? judged_d : (go_q | (choose && !drain ? slot_q : '0)) & leaving_i;
  assign flush_d   = (flush_q | (choose && drop ? slot_q : '0)) & leaving_i;
  always_comb begin
    active_d = order_i ? mode_i == smk_pkg::PreemptChimera : active_q;
    since_d  = order_i ? time_i : since_q;
    saves_d  = saves_q;
    if (choose && !drain && !drop) saves_d = saves_with_q;
    if (`SMK_CUT(NewOrder, order_i)) saves_d = '0;
  end
  assign restored_d = chimera_i.enable ? (restored_q & ~activate_i) | loaded_i : restored_q;

  // Starts and means; they count only once they are written.
  always_comb begin
    start_d = start_q;
    mean_d  = mean_q;
    for (int unsigned s = 0; s < NumSlots; s++) begin
      if (chimera_i.enable && activate_i[s]) start_d.slot[s] = time_i;
    end
    for (int unsigned k = 0; k < NumKernels; k++) begin
      if (measured && kernel_q[k]) mean_d.kernel[k] = new_mean;
    end
  end

  assign go_o    = go_q;
  assign flush_o = flush_q;
  assign busy_o  = state_q != StIdle || watch_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q    <= StIdle;
      start_q    <= '0;
      restored_q <= '0;
      mean_q     <= '0;
      known_q    <= '0;
      {active_q, watch_q, late_q}    <= '0;
      {judged_q, go_q, flush_q}      <= '0;
      {saves_q, since_q, elapsed_q}  <= '0;
    end else begin
      state_q    <= state_d;
      start_q    <= start_d;
      restored_q <= restored_d;
      mean_q     <= mean_d;
      known_q    <= known_d;
      {active_q, watch_q, late_q}    <= {active_d, watch_d, late_d};
      {judged_q, go_q, flush_q}      <= {judged_d, go_d, flush_d};
      {saves_q, since_q, elapsed_q}  <= {saves_d, since_d, elapsed_d};
    end
  end

  // The steps of the datapath: what a step works out is written at its end.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {slot_q, kernel_q, measures_q, again_q, has_mean_q, lines_q} <= '0;
      {age_q, its_mean_q, apart_q, rest_q, save_q, saves_with_q}   <= '0;
    end else begin
      slot_q     <= slot_d;
      measures_q <= measures_d;
      if (state_q == StKernel) kernel_q <= kernel_d;
      if (state_q == StKernel) again_q  <= (restored_q & slot_q) != '0;
      if (state_q == StKernel || state_q == StRead) age_q <= age_d;
      if (state_q == StRead) {its_mean_q, lines_q} <= {mean, lines};
      if (state_q == StRead) has_mean_q <= (known_q & kernel_q) != '0;
      if (state_q == StCost) {apart_q, save_q}     <= {apart_d, save_d};
      if (state_q == StSum)  {rest_q, saves_with_q} <= {rest_d, saves_with_d};
    end
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {may_flush_q, drain_in_time_q, switch_in_time_q, drain_sooner_q}  <= '0;
      {drain_under_flush_q, drain_under_switch_q, flush_under_switch_q} <= '0;
    end else if (state_q == StJudge) begin
      may_flush_q          <= (flushable_i & slot_q) != '0 && !again_q;
      drain_in_time_q      <= has_mean_q && rest_q <= limit;
      switch_in_time_q     <= saves_with_q <= limit;
      drain_sooner_q       <= has_mean_q && rest_q < saves_with_q;
      drain_under_flush_q  <= rest_q <= age_q;
      drain_under_switch_q <= {1'b0, rest_q} <= moved;
      flush_under_switch_q <= {1'b0, age_q} <= moved;
    end
  end

  // A choice is asked for only where it is made.
  `SMK_ASSERT(ChoosesWhenEnabled_M, order_i && mode_i == smk_pkg::PreemptChimera |->
              chimera_i.enable)
  // TBs that are loaded run from now on.
  `SMK_ASSERT(LoadedRun_M, (loaded_i & ~activate_i) == '0)
  // An order comes only when nobody has to go any more.
  `SMK_ASSERT(OneOrder_M, order_i |-> leaving_i == '0)
  // Dropped are some of those that go, and who goes is judged and must.
  `SMK_ASSERT(FlushesGo_A, (flush_q & ~go_q) == '0 && (go_q & ~judged_q) == '0)
  // Saves add up and never overflow.
  `SMK_ASSERT(SavesAdd_A, saves_q >= $past(saves_q) || $past(order_i))
  // Idle: nothing changes.
  logic unused_idle;
  assign unused_idle = !busy_o && leaving_i == '0 && !order_i && !ended && activate_i == '0;
  `SMK_ASSERT(IdleHolds_A, unused_idle |=> !busy_o &&
              $stable({judged_q, go_q, flush_q, saves_q, known_q, restored_q}))
  // Each of the three is chosen, an order is late, and a TB that was judged to end goes then.
  `SMK_COVER(Drains_C, choose && drain && !none)
  `SMK_COVER(Drops_C, choose && drop)
  `SMK_COVER(Switches_C, choose && !drain && !drop)
  `SMK_COVER(NoneInTime_C, choose && none)
  `SMK_COVER(LateDrainGoes_C, late_q && (judged_q & ~go_q) != '0)
endmodule
