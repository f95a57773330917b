// SPDX-License-Identifier: Apache-2.0
// smk_partition_planner: how many TBs of each kernel share one SM, and where they live.
//
// Purpose     Starts from an empty SM and adds one TB per cycle for the kernel with the lowest rK
//             among those whose next TB still fits, until none fits; then the ranges are laid out
//             in order of arrival, so that older kernels need not move [D5]. The last one may end
//             where the SM ends: then it need not move either when the others take more or less.
// Paper       [SMK] Sec. 5.3.2, Fig. 6 and 8. Also the even split and fixed tables of
//             [Warped-Slicer]. Deviations [D3], [D4], [D5].
// Interface   start_i: pulse with a set of kernels, not empty; begins anew at any time. done_o:
//             pulse; kernels_o and range_o hold until the next start. The range of a kernel outside
//             the plan is zero. range_o says nothing while busy_o.
// Latency     done_o is visible TBs planned + 2 cycles after start_i.
// Throughput  One TB per cycle.
// Reset       Idle, no plan.
// Model       model/control/driver/partition_planner.h   Doc  docs/blocks/partition_planner.md
// Ties of rK go to the kernel with more TBs planned, then to the lowest id [D3]; when not one TB of
// each kernel fits, the kernels take turns at going first, among the SMs that host the same kernels
// [D4]. Does not know which SM needs a plan, nor who runs there now: see smk_tb_dispatch.
`include "smk_assert.svh"

module smk_partition_planner (
  input  logic                    clk_i,
  input  logic                    rst_ni,
  // Plan for these kernels and this SM; SMs so far apart host the same (one-hot, bit n - 1: n).
  input  logic                    start_i,
  input  smk_pkg::kernel_mask_t   kernels_i,
  input  smk_pkg::sm_id_t         sm_i,
  input  smk_pkg::kernel_mask_t   apart_i,
  // Constant during a run.
  input  smk_pkg::dispatch_mode_e mode_i,
  input  smk_pkg::tb_cnt_vec_t    table_tbs_i,
  input  logic                    last_at_end_i,
  // What one TB of each kernel needs, its share of an SM, and the order of arrival.
  input  smk_pkg::need_vec_t      need_i,
  input  smk_pkg::share_vec_t     tb_share_i,
  input  smk_pkg::order_vec_t     order_i,
  // The plan.
  output logic                    busy_o,
  output logic                    done_o,
  output smk_pkg::kernel_mask_t   kernels_o,
  // It is the same on every SM: a TB of each kernel fits.
  output logic                    anywhere_o,
  output smk_pkg::range_vec_t     range_o
);
  `SMK_CHECK_CONFIG

  localparam int unsigned NumKernels       = smk_pkg::NumKernels;
  localparam int unsigned KernelWidth      = smk_pkg::KernelWidth;
  localparam int unsigned KernelCntWidth   = smk_pkg::KernelCntWidth;
  localparam int unsigned RegisterCntWidth = smk_pkg::RegisterCntWidth;
  localparam int unsigned SharedCntWidth   = smk_pkg::SharedCntWidth;
  localparam int unsigned ThreadCntWidth   = smk_pkg::ThreadCntWidth;
  localparam int unsigned TbCntWidth       = smk_pkg::TbCntWidth;
  localparam int unsigned VectorWidth      = smk_pkg::BasesWidth;
  // The sum of four shares, as a kernel that is launched anew during a plan may have another
  // dominant resource: still exact, though the plan is void.
  localparam int unsigned SumWidth = smk_pkg::ShareWidth + 2;

  // An empty SM.
  localparam logic [VectorWidth-1:0] Whole = {
      RegisterCntWidth'(smk_pkg::LimitRegisters), SharedCntWidth'(smk_pkg::LimitSharedMemory),
      ThreadCntWidth'(smk_pkg::LimitThreads), TbCntWidth'(smk_pkg::LimitTbs)};

  // A resource vector per kernel, and at the beginnings of places; one with a carry.
  typedef struct packed {logic [NumKernels-1:0][VectorWidth-1:0] kernel;} vectors_t;
  typedef struct packed {logic [NumKernels-1:0][VectorWidth-1:0] place;} places_t;
  typedef struct packed {logic [NumKernels-1:0][SumWidth-1:0] kernel;} sums_t;
  typedef struct packed {
    logic [RegisterCntWidth:0] registers;
    logic [SharedCntWidth:0]   shared_memory;
    logic [ThreadCntWidth:0]   threads;
    logic [TbCntWidth:0]       tbs;
  } one_more_t;

  logic                      busy_d, busy_q, done_d, done_q, anywhere_q;
  smk_pkg::kernel_mask_t     kernels_q;
  // Bit p * NumKernels + k: kernel k is at place p, but for the last one; who that is.
  logic [NumKernels*NumKernels-1:0] at_place_d, at_place_q;
  smk_pkg::kernel_mask_t     last_d, last_q;
  // The last one ends where the SM ends: as it was at the end of the plan.
  logic                      at_end, at_end_q;
  // Who goes first among kernels with equal rK and TBs, one-hot; none: the lowest id.
  smk_pkg::kernel_mask_t     first_d, first_q;
  // What is left of the SM; what each kernel has, and its TBs; rK on this SM.
  smk_pkg::resource_vector_t room_d, room_q;
  smk_pkg::need_vec_t        part_q;
  smk_pkg::tb_cnt_vec_t      tbs_q;
  sums_t                     share_q;
  smk_pkg::range_vec_t       range_d, range_q;

  smk_pkg::kernel_mask_t eligible, grow;
  logic                  any_eligible, lay_out;
  function automatic logic [KernelCntWidth-1:0] count_of(input smk_pkg::kernel_mask_t mask);
    count_of = '0;
    for (int unsigned k = 0; k < NumKernels; k++) count_of = count_of + KernelCntWidth'(mask[k]);
  endfunction

  // Under the even split, each of n kernels may have limits / n.
  smk_pkg::kernel_mask_t     sharers_d, sharers_q;  // bit n - 1: n kernels
  smk_pkg::resource_vector_t even;
  always_comb begin
    even = '0;
    for (int unsigned n = 1; n <= NumKernels; n++) begin
      sharers_d[n-1] = 32'(count_of(kernels_i)) == n;
      if (sharers_q[n-1]) begin
        even = even | {RegisterCntWidth'(smk_pkg::LimitRegisters / n),
                       SharedCntWidth'(smk_pkg::LimitSharedMemory / n),
                       ThreadCntWidth'(smk_pkg::LimitThreads / n),
                       TbCntWidth'(smk_pkg::LimitTbs / n)};
      end
    end
  end

  // Do the kernels fit together? One TB of each is too many TBs only where an SM has fewer than
  // NumKernels.
  localparam int unsigned EachRegisters = RegisterCntWidth + KernelWidth;
  localparam int unsigned EachShared    = SharedCntWidth + KernelWidth;
  localparam int unsigned EachThreads   = ThreadCntWidth + KernelWidth;
  logic [EachRegisters-1:0] each_registers;
  logic [EachShared-1:0]    each_shared;
  logic [EachThreads-1:0]   each_threads;
  logic                     each_fits;
  smk_pkg::tb_need_t        each;
  always_comb begin
    each_registers = '0;
    each_shared    = '0;
    each_threads   = '0;
    for (int unsigned k = 0; k < NumKernels; k++) begin
      each           = kernels_i[k] ? need_i.kernel[k] : '0;
      each_registers = each_registers + EachRegisters'(each.registers);
      each_shared    = each_shared + EachShared'(each.shared_memory);
      each_threads   = each_threads + EachThreads'(each.threads);
    end
  end
  assign each_fits = (32'(each_registers) <= smk_pkg::LimitRegisters) &&
                     (32'(each_shared) <= smk_pkg::LimitSharedMemory) &&
                     (32'(each_threads) <= smk_pkg::LimitThreads) &&
                     (smk_pkg::LimitTbs >= NumKernels ||
                      32'(count_of(kernels_i)) <= smk_pkg::LimitTbs);

  // If not, of the n kernels of every p-th SM the (SM / p mod n)-th is the first [D4].
  smk_pkg::kernel_id_t turn;
  always_comb begin
    turn = '0;
    for (int unsigned p = 1; p <= NumKernels; p++) begin
      for (int unsigned n = 1; n <= NumKernels; n++) begin
        for (int unsigned s = 0; s < smk_pkg::NumSms; s++) begin
          if (apart_i[p-1] && sharers_d[n-1] && 32'(sm_i) == s) turn = turn | KernelWidth'(s / p % n);
        end
      end
    end
  end
  always_comb begin
    smk_pkg::kernel_mask_t below;
    below = '0;
    for (int unsigned k = 0; k < NumKernels; k++) begin
      first_d[k] = !each_fits && kernels_i[k] && (32'(count_of(below)) == 32'(turn));
      below[k]   = kernels_i[k];
    end
  end

  // One more TB of each kernel: what it leaves of the SM (below zero: the highest bit), and what
  // the kernel has then.
  // Comparisons of their own are sooner than the signs of the differences.
  function automatic logic exceeds(input logic [31:0] a, input logic [31:0] b);
    logic [31:0] above, level;
    above = a & ~b;
    level = a | ~b;
    for (int unsigned n = 16; n != 0; n = n / 2) begin
      for (int unsigned i = 0; i < n; i++) begin
        above[i] = above[2*i+1] || (level[2*i+1] && above[2*i]);
        level[i] = level[2*i+1] && level[2*i];
      end
    end
    exceeds = above[0];
  endfunction
  vectors_t              room_with, part_with;
  smk_pkg::kernel_mask_t fits, fits_even;
  smk_pkg::tb_need_t     need, part;  // within the loop
  one_more_t             left, own;
  always_comb begin
    for (int unsigned k = 0; k < NumKernels; k++) begin
      need = need_i.kernel[k];
      part = part_q.kernel[k];

      left.registers     = {1'b0, room_q.registers} - {1'b0, need.registers};
      left.shared_memory = {1'b0, room_q.shared_memory} - {1'b0, need.shared_memory};
      left.threads       = {1'b0, room_q.threads} - {1'b0, need.threads};
      left.tbs           = {1'b0, room_q.tbs} - 1'b1;
      fits[k] = !(exceeds(32'(need.registers), 32'(room_q.registers)) ||
                  exceeds(32'(need.shared_memory), 32'(room_q.shared_memory)) ||
                  exceeds(32'(need.threads), 32'(room_q.threads)) || room_q.tbs == '0);

      own.registers     = {1'b0, part.registers} + {1'b0, need.registers};
      own.shared_memory = {1'b0, part.shared_memory} + {1'b0, need.shared_memory};
      own.threads       = {1'b0, part.threads} + {1'b0, need.threads};
      own.tbs           = {1'b0, tbs_q.kernel[k]} + 1'b1;
      // One TB may be larger than an even part [D4].
      fits_even[k] = (tbs_q.kernel[k] == '0) ||
                     !(exceeds(32'(own.registers), 32'(even.registers)) ||
                       exceeds(32'(own.shared_memory), 32'(even.shared_memory)) ||
                       exceeds(32'(own.threads), 32'(even.threads)) ||
                       tbs_q.kernel[k] >= even.tbs);

      room_with.kernel[k] = {left.registers[RegisterCntWidth-1:0],
                             left.shared_memory[SharedCntWidth-1:0],
                             left.threads[ThreadCntWidth-1:0], left.tbs[TbCntWidth-1:0]};
      part_with.kernel[k] = {own.registers[RegisterCntWidth-1:0],
                             own.shared_memory[SharedCntWidth-1:0],
                             own.threads[ThreadCntWidth-1:0], own.tbs[TbCntWidth-1:0]};
    end
  end

  // Who may have one more TB. Room, and the part of an even split, are known last.
  smk_pkg::kernel_mask_t may, fits_in;
  always_comb begin
    may = kernels_q & {NumKernels{busy_q && !start_i}};
    if (mode_i == smk_pkg::DispatchTable) begin
      for (int unsigned k = 0; k < NumKernels; k++) begin
        if (tbs_q.kernel[k] >= table_tbs_i.kernel[k]) may[k] = 1'b0;
      end
    end
  end
  assign fits_in  = fits & (mode_i == smk_pkg::DispatchEven ? fits_even : '1);
  assign eligible = may & fits_in;

  // Who goes before whom: the lower rK, then more TBs, then the earlier from the first on.
  // Bit a * NumKernels + b: a before b.
  logic [NumKernels*NumKernels-1:0] precedes;
  always_comb begin
    logic turn_of_a, a_before_b;
    precedes = '1;
    for (int unsigned a = 0; a < NumKernels; a++) begin
      for (int unsigned b = a + 1; b < NumKernels; b++) begin
        turn_of_a = 1'b1;
        for (int unsigned f = a + 1; f <= b; f++) turn_of_a = turn_of_a && !first_q[f];
        a_before_b = {share_q.kernel[a], `SMK_CUT(MoreTbsFirst, ~tbs_q.kernel[a]), 1'b0} <
                     {share_q.kernel[b], ~tbs_q.kernel[b], turn_of_a};
        precedes[a*NumKernels+b] = a_before_b;
        precedes[b*NumKernels+a] = !a_before_b;
      end
    end
  end
  // Who may and goes before each is known first: what waits for the room is an OR and an AND.
  for (genvar k = 0; k < NumKernels; k++) begin : gen_grow
    smk_pkg::kernel_mask_t ahead;
    assign ahead   = may & ~precedes[k*NumKernels+:NumKernels];
    assign grow[k] = may[k] && fits_in[k] && (fits_in & ahead) == '0;
  end
  assign any_eligible = eligible != '0;
  assign lay_out      = busy_q && !start_i && !any_eligible;

  // The loop of Fig. 6. The sums are there already; the choice only selects.
  always_comb begin
    room_d = '0;
    for (int unsigned k = 0; k < NumKernels; k++) begin
      if (grow[k]) room_d = room_d | room_with.kernel[k];
    end
  end
  assign busy_d = start_i || any_eligible;
  assign done_d = `SMK_CUT(LayOut, lay_out);
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      busy_q     <= 1'b0;
      done_q     <= 1'b0;
      kernels_q  <= '0;
      first_q    <= '0;
      sharers_q  <= '0;
      anywhere_q <= 1'b0;
      at_place_q <= '0;
      last_q     <= '0;
      at_end_q   <= 1'b0;
      room_q     <= Whole;
      range_q    <= '0;
    end else begin
      busy_q   <= busy_d;
      done_q   <= done_d;
      at_end_q <= at_end;
      range_q  <= range_d;
      if (start_i) begin
        kernels_q  <= kernels_i;
        first_q    <= first_d;
        anywhere_q <= each_fits;
        at_place_q <= at_place_d;
        last_q     <= last_d;
        sharers_q  <= sharers_d;
        room_q     <= Whole;
      end else if (`SMK_CUT(AnyEligible, any_eligible)) begin
        room_q     <= room_d;
      end
    end
  end
  for (genvar k = 0; k < NumKernels; k++) begin : gen_part
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) begin
        {part_q.kernel[k], tbs_q.kernel[k], share_q.kernel[k]} <= '0;
      end else if (start_i) begin
        {part_q.kernel[k], tbs_q.kernel[k], share_q.kernel[k]} <= '0;
      end else if (grow[k]) begin
        {part_q.kernel[k], tbs_q.kernel[k]} <= `SMK_CUT(PartWith, part_with.kernel[k]);
        share_q.kernel[k] <= share_q.kernel[k] + SumWidth'(tb_share_i.kernel[k]);
      end
    end
  end

  // The layout: each kernel of the plan has a place, by arrival, as it was when the plan began. Equal
  // ranks count by id.
  always_comb begin
    smk_pkg::kernel_mask_t older;
    for (int unsigned k = 0; k < NumKernels; k++) begin
      for (int unsigned j = 0; j < NumKernels; j++) begin
        older[j] = kernels_i[j] && ((j < k) ? (order_i.kernel[j] <= order_i.kernel[k])
                                            : (order_i.kernel[j] < order_i.kernel[k]));
      end
      last_d[k] = 1'b0;
      for (int unsigned p = 0; p < NumKernels; p++) begin
        at_place_d[p*NumKernels+k] = kernels_i[k] && (32'(count_of(older)) == p) && !sharers_d[p];
        if (kernels_i[k] && (32'(count_of(older)) == p) && sharers_d[p]) last_d[k] = 1'b1;
      end
    end
  end

  // A place begins where those before it end. The last one is counted from the end, and so is the
  // later half before it.
  vectors_t in_place;
  places_t  end_of;
  smk_pkg::resource_vector_t placed, sum, total, last, last_base, whole_base, base, limit;  // within the loops
  always_comb begin
    in_place = '0;
    for (int unsigned k = 0; k < NumKernels; k++) begin
      for (int unsigned p = 0; p < NumKernels; p++) begin
        if (at_place_q[p*NumKernels+k]) begin
          in_place.kernel[p] = in_place.kernel[p] | {part_q.kernel[k], tbs_q.kernel[k]};
        end
      end
    end
  end
  always_comb begin
    last = '0;
    for (int unsigned k = 0; k < NumKernels; k++) begin
      if (last_q[k]) last = last | {part_q.kernel[k], tbs_q.kernel[k]};
    end
  end
  always_comb begin
    total.registers         = RegisterCntWidth'(smk_pkg::LimitRegisters) - room_q.registers;
    total.shared_memory     = SharedCntWidth'(smk_pkg::LimitSharedMemory) - room_q.shared_memory;
    total.threads           = ThreadCntWidth'(smk_pkg::LimitThreads) - room_q.threads;
    total.tbs               = TbCntWidth'(smk_pkg::LimitTbs) - room_q.tbs;
    whole_base.registers     = RegisterCntWidth'(smk_pkg::LimitRegisters) - last.registers;
    whole_base.shared_memory = SharedCntWidth'(smk_pkg::LimitSharedMemory) - last.shared_memory;
    whole_base.threads       = ThreadCntWidth'(smk_pkg::LimitThreads) - last.threads;
    whole_base.tbs           = TbCntWidth'(smk_pkg::LimitTbs) - last.tbs;
  end
  always_comb begin
    end_of.place[0] = '0;
    sum = '0;
    for (int unsigned p = 0; p < NumKernels / 2; p++) begin
      placed            = in_place.kernel[p];
      sum.registers     = sum.registers + placed.registers;
      sum.shared_memory = sum.shared_memory + placed.shared_memory;
      sum.threads       = sum.threads + placed.threads;
      sum.tbs           = sum.tbs + placed.tbs;
      end_of.place[p+1] = sum;
    end
    sum.registers     = total.registers - last.registers;
    sum.shared_memory = total.shared_memory - last.shared_memory;
    sum.threads       = total.threads - last.threads;
    sum.tbs           = total.tbs - last.tbs;
    last_base         = at_end ? whole_base : sum;
    for (int unsigned p = NumKernels - 1; p > NumKernels / 2; p--) begin
      end_of.place[p]   = sum;
      placed            = in_place.kernel[p-1];
      sum.registers     = sum.registers - placed.registers;
      sum.shared_memory = sum.shared_memory - placed.shared_memory;
      sum.threads       = sum.threads - placed.threads;
      sum.tbs           = sum.tbs - placed.tbs;
    end
  end
  // Set down in every cycle: what the last one of the plan leaves is the layout.
  assign at_end = busy_q ? last_at_end_i : at_end_q;
  always_comb begin
    for (int unsigned k = 0; k < NumKernels; k++) begin
      base  = last_q[k] ? `SMK_CUT(BaseOfLast, last_base) : '0;
      limit = last_q[k] ? (at_end ? Whole : total) : '0;
      for (int unsigned p = 0; p < NumKernels - 1; p++) begin
        if (at_place_q[p*NumKernels+k]) begin
          base  = base | end_of.place[p];
          limit = limit | end_of.place[p+1];
        end
      end
      limit.tbs         = tbs_q.kernel[k];  // a number, not an end
      range_d.kernel[k] = {base, limit};
    end
  end

  assign busy_o     = busy_q;
  assign done_o     = done_q;
  assign kernels_o  = kernels_q;
  assign anywhere_o = anywhere_q;
  assign range_o    = range_q;

  // One range ends where the other begins or before, in all four resources.
  function automatic logic apart(input smk_pkg::partition_range_t a,
                                 input smk_pkg::partition_range_t b);
    apart = ((a.registers_limit <= b.registers_base) &&
             (a.shared_memory_limit <= b.shared_memory_base) &&
             (a.threads_limit <= b.threads_base) && (a.tb_base + a.tb_count <= b.tb_base)) ||
            ((b.registers_limit <= a.registers_base) &&
             (b.shared_memory_limit <= a.shared_memory_base) &&
             (b.threads_limit <= a.threads_base) && (b.tb_base + b.tb_count <= a.tb_base));
  endfunction
  // A limit may be all that its counter can count to: an operator would compare with a constant.
  function automatic logic inside_sm(input smk_pkg::partition_range_t a);
    inside_sm = (a.registers_base <= a.registers_limit) &&
                (a.shared_memory_base <= a.shared_memory_limit) &&
                (a.threads_base <= a.threads_limit) &&
                !exceeds(32'(a.registers_limit), smk_pkg::LimitRegisters) &&
                !exceeds(32'(a.shared_memory_limit), smk_pkg::LimitSharedMemory) &&
                !exceeds(32'(a.threads_limit), smk_pkg::LimitThreads) &&
                (32'(a.tb_base) + 32'(a.tb_count) <= smk_pkg::LimitTbs);
  endfunction
  function automatic logic [31:0] tbs_of_all(input smk_pkg::tb_cnt_vec_t tbs);
    tbs_of_all = '0;
    for (int unsigned k = 0; k < NumKernels; k++) tbs_of_all = tbs_of_all + 32'(tbs.kernel[k]);
  endfunction

  // A plan starts in the next cycle, from an empty SM ...
  `SMK_ASSERT(StartsEmpty_A, start_i |=> busy_q && room_q == Whole)
  // ... and every cycle adds one TB, but for the last, after which it is done.
  `SMK_ASSERT(OneTbPerCycle_A, busy_q && !start_i |=>
              32'($past(room_q.tbs)) == 32'(room_q.tbs) + 32'(busy_q) && done_q == !busy_q)
  // Conservation: the TBs planned are those of the kernels.
  `SMK_ASSERT(TbsConserved_A, 32'(room_q.tbs) + tbs_of_all(tbs_q) == smk_pkg::LimitTbs)
  // One kernel grows, if any may.
  `SMK_ASSERT(GrowOnehot_A, $onehot0(grow) && (grow != '0) == any_eligible)
  // The plan fits the SM: what is left never falls below zero.
  `SMK_ASSERT(PlanFits_A, 32'(room_q.registers) <= smk_pkg::LimitRegisters &&
              32'(room_q.shared_memory) <= smk_pkg::LimitSharedMemory &&
              32'(room_q.threads) <= smk_pkg::LimitThreads &&
              32'(room_q.tbs) <= smk_pkg::LimitTbs)
  // Isolation: partitions of different kernels do not overlap ...
  for (genvar a = 0; a < NumKernels; a++) begin : gen_apart
    for (genvar b = a + 1; b < NumKernels; b++) begin : gen_pair
      `SMK_ASSERT(RangesApart_A, done_q && kernels_q[a] && kernels_q[b] |->
                  apart(range_q.kernel[a], range_q.kernel[b]))
    end
    // ... and lie inside the SM; a kernel outside the plan has none.
    `SMK_ASSERT(RangesInside_A, done_q |-> inside_sm(range_q.kernel[a]) &&
                (kernels_q[a] || range_q.kernel[a] == '0))
  end
  // done_o is a pulse.
  `SMK_ASSERT(DonePulse_A, done_q |=> !done_q)
  // The plan holds until the next start.
  `SMK_ASSERT(PlanHolds_A, !busy_q && !start_i |=> $stable({kernels_q, range_q}))
  // Idle: nothing changes without a start once the plan is done.
  `SMK_ASSERT(IdleHolds_A, !busy_q && !done_q && !start_i |=> $stable(
              {busy_q, done_q, kernels_q, first_q, sharers_q, anywhere_q, at_place_q, last_q, at_end_q,
               room_q, part_q, tbs_q, share_q, range_q}))
  `SMK_ASSERT(ApartOnehot_M, start_i |-> $onehot(apart_i))
  // There is something to plan.
  `SMK_ASSERT(SomeKernel_M, start_i |-> kernels_i != '0)
  // A plan is really begun anew, and kernels really take turns, in our tests.
  `SMK_COVER(Restarted_C, start_i && busy_q)
  `SMK_COVER(TakesTurns_C, first_q > smk_pkg::NumKernels'(1))
endmodule
