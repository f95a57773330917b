// SPDX-License-Identifier: Apache-2.0
// Proofs of smk_token_usage: any use of the time, by three kernels, in units of one, two or four cycles.
// The record counts the same window in cycles.
`include "formal.svh"

module formal_token_usage (
  input logic                                       clk_i,
  input logic [$clog2(smk_pkg::TokenUnitWidth+1)-1:0] unit_i,
  input logic                                       passes_i,
  input smk_pkg::kernel_mask_t                      user_i
);
  localparam int unsigned NumKernels  = smk_pkg::NumKernels;
  localparam int unsigned NumBuckets  = 1 << smk_pkg::TokenBucketsLog2;
  localparam int unsigned BucketWidth = smk_pkg::TokenUnitsLog2 - smk_pkg::TokenBucketsLog2;
  localparam int unsigned UnitWidth   = smk_pkg::TokenUnitWidth;
  localparam int unsigned UnitsWidth  = BucketWidth + 1;
  localparam int unsigned ShareWidth  = smk_pkg::TokenShareWidth;
  localparam int unsigned WindowWidth = smk_pkg::TokenWindowWidth;
  // Cycles of all kernels in a window, and more.
  localparam int unsigned Width       = smk_pkg::TokenUnitsLog2 + UnitWidth + 3;

  `FORMAL_RESET
  // log2 of the cycles of a unit.
  logic                                         known_q = 1'b0;
  logic [$clog2(smk_pkg::TokenUnitWidth+1)-1:0] unit_q;
  always_ff @(posedge clk_i) begin
    known_q <= 1'b1;
    unit_q  <= unit_i;
  end
  `ASSUME(ConfigurationIsConstant_M, (!known_q || unit_i == unit_q) && unit_i <= UnitWidth)
  `ASSUME(OneUser_M, (user_i & (user_i - NumKernels'(1))) == '0 && (user_i == '0 || passes_i))
  logic [WindowWidth-1:0] window;
  logic [Width-1:0]       cycles_of_unit, cycles_of_bucket;
  assign window           = WindowWidth'(smk_pkg::TokenUnitsLog2) + WindowWidth'(unit_i);
  assign cycles_of_unit   = Width'(1) << unit_i;
  assign cycles_of_bucket = Width'(1) << (Width'(unit_i) + Width'(BucketWidth));

  smk_pkg::token_share_vec_t used;
  logic                      busy;
  smk_token_usage u_dut (
    .clk_i, .rst_ni, .passes_i, .user_i,
    .window_i(window),
    .used_o  (used),
    .busy_o  (busy)
  );
  `WATCH([BucketWidth-1:0], dut_unit, u_dut.unit_q)
  `WATCH([UnitWidth-1:0], dut_time, u_dut.time_q)
  `WATCH([0:0], dut_unit_end, u_dut.unit_end_q)
  `WATCH([NumKernels-1:0], dut_carry, u_dut.carry_q)
  `WATCH([UnitWidth-1:0], part0, u_dut.gen_kernel[0].part_q)
  `WATCH([UnitWidth-1:0], part1, u_dut.gen_kernel[1].part_q)
  `WATCH([UnitWidth-1:0], part2, u_dut.gen_kernel[2].part_q)
  `WATCH([NumBuckets*UnitsWidth-1:0], units0, u_dut.gen_kernel[0].buckets_q)
  `WATCH([NumBuckets*UnitsWidth-1:0], units1, u_dut.gen_kernel[1].buckets_q)
  `WATCH([NumBuckets*UnitsWidth-1:0], units2, u_dut.gen_kernel[2].buckets_q)
  logic [NumKernels*UnitWidth-1:0]             parts;
  logic [NumKernels*NumBuckets*UnitsWidth-1:0] units;
  assign parts = {part2, part1, part0};
  assign units = {units2, units1, units0};

  // The record, a cycle behind: of each bucket its time, the newest first, and of each kernel in it the
  // cycles and the rest of a unit that it began with. The last cycle of a bucket's time is of the next one.
  logic                                   passes_q, ends;
  smk_pkg::kernel_mask_t                  user_q;
  logic [NumKernels*UnitWidth-1:0]        parts_q;
  logic [NumBuckets*Width-1:0]            time_q, had_all;
  logic [NumKernels*NumBuckets*Width-1:0] had_q;
  logic [NumKernels*NumBuckets*UnitWidth-1:0] rest_q;
  assign ends = dut_unit_end && dut_unit == '1;
  always_ff @(posedge clk_i) begin
    passes_q <= rst_ni && passes_i;
    user_q   <= user_i & {NumKernels{rst_ni}};
    parts_q  <= rst_ni ? parts : '0;
    if (!rst_ni)   time_q <= '0;
    else if (ends) time_q <= {time_q[(NumBuckets-1)*Width-1:0], Width'(passes_q)};
    else           time_q[Width-1:0] <= time_q[Width-1:0] + Width'(passes_q);
  end
  for (genvar k = 0; k < NumKernels; k++) begin : gen_record
    always_ff @(posedge clk_i) begin
      if (!rst_ni) begin
        had_q[k*NumBuckets*Width +: NumBuckets*Width]          <= '0;
        rest_q[k*NumBuckets*UnitWidth +: NumBuckets*UnitWidth] <= '0;
      end else if (ends) begin
        had_q[k*NumBuckets*Width +: NumBuckets*Width] <=
            {had_q[k*NumBuckets*Width +: (NumBuckets-1)*Width], Width'(user_q[k])};
        rest_q[k*NumBuckets*UnitWidth +: NumBuckets*UnitWidth] <=
            {rest_q[k*NumBuckets*UnitWidth +: (NumBuckets-1)*UnitWidth], parts_q[k*UnitWidth +: UnitWidth]};
      end else begin
        had_q[k*NumBuckets*Width +: Width] <= had_q[k*NumBuckets*Width +: Width] + Width'(user_q[k]);
      end
    end
  end

  // Of all kernels: what was used of the window, in units; and cycles of it, and of each bucket.
  logic [Width-1:0] sum, had_window, time_window;
  logic             exact;
  always_comb begin
    {sum, time_window, had_all} = '0;
    exact = 1'b1;
    for (int unsigned b = 0; b < NumBuckets; b++) begin
      time_window = time_window + time_q[b*Width +: Width];
    end
    for (int unsigned k = 0; k < NumKernels; k++) begin
      sum        = sum + Width'(used.kernel[k]);
      had_window = '0;
      for (int unsigned b = 0; b < NumBuckets; b++) begin
        had_window = had_window + had_q[(k*NumBuckets+b)*Width +: Width];
        had_all[b*Width +: Width] = had_all[b*Width +: Width] + had_q[(k*NumBuckets+b)*Width +: Width];
      end
      // Less than a unit too many, or too few.
      if ((Width'(used.kernel[k]) << unit_i) >= had_window + cycles_of_unit ||
          had_window >= (Width'(used.kernel[k]) << unit_i) + cycles_of_unit) exact = 1'b0;
    end
  end
  `PROVE(UsedIsExact_A, exact)
  // The time of a window is not more than a window, nor shorter by more than a bucket once it is full.
  logic full_q;
  logic [$clog2(NumBuckets)-1:0] buckets_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) {full_q, buckets_q} <= '0;
    else if (ends) begin
      buckets_q <= buckets_q + 1'b1;
      if (buckets_q == '1) full_q <= 1'b1;
    end
  end
  `PROVE(WindowIsAWindow_A, time_window <= cycles_of_bucket << smk_pkg::TokenBucketsLog2 &&
         (!full_q || time_window + cycles_of_bucket > cycles_of_bucket << smk_pkg::TokenBucketsLog2))
  // All kernels together have no more of the window than the window, but for a rest of a unit of each.
  `PROVE(SharesFitWindow_A, sum < Width'(1 << smk_pkg::TokenUnitsLog2) + Width'(NumKernels))
  // Each cycle counts once at most.
  `PROVE(CyclesCountOnce_A, unit_i != '0 || sum <= Width'(1 << smk_pkg::TokenUnitsLog2))

  // For induction: the same of each bucket.
  logic             units_are_had, parts_fit, sums_fit, times_fit, had_fits;
  logic [Width-1:0] in_units, in_cycles;
  logic [ShareWidth-1:0] units_sum;
  always_comb begin
    {units_are_had, parts_fit, sums_fit, times_fit, had_fits} = '1;
    for (int unsigned k = 0; k < NumKernels; k++) begin
      units_sum = '0;
      if (Width'(parts[k*UnitWidth +: UnitWidth]) >= cycles_of_unit) parts_fit = 1'b0;
      if (Width'(parts_q[k*UnitWidth +: UnitWidth]) >= cycles_of_unit) parts_fit = 1'b0;
      // What the last cycle has done.
      if (Width'(parts[k*UnitWidth +: UnitWidth]) + (dut_carry[k] ? cycles_of_unit : '0) !=
          Width'(parts_q[k*UnitWidth +: UnitWidth]) + Width'(user_q[k])) parts_fit = 1'b0;
      for (int unsigned b = 0; b < NumBuckets; b++) begin
        units_sum = units_sum + ShareWidth'(units[(k*NumBuckets+b)*UnitsWidth +: UnitsWidth]);
        if (Width'(rest_q[(k*NumBuckets+b)*UnitWidth +: UnitWidth]) >= cycles_of_unit) parts_fit = 1'b0;
        in_units  = (Width'(units[(k*NumBuckets+b)*UnitsWidth +: UnitsWidth]) << unit_i) +
                    Width'(b == 0 ? parts_q[k*UnitWidth +: UnitWidth]
                                  : rest_q[(k*NumBuckets+b-1)*UnitWidth +: UnitWidth]);
        in_cycles = had_q[(k*NumBuckets+b)*Width +: Width] +
                    Width'(rest_q[(k*NumBuckets+b)*UnitWidth +: UnitWidth]);
        if (in_units != in_cycles) units_are_had = 1'b0;
        if (had_q[(k*NumBuckets+b)*Width +: Width] > cycles_of_bucket) had_fits = 1'b0;
      end
      if (units_sum != used.kernel[k]) sums_fit = 1'b0;
    end
    for (int unsigned b = 0; b < NumBuckets; b++) begin
      if (had_all[b*Width +: Width] > time_q[b*Width +: Width]) had_fits = 1'b0;
      if (time_q[b*Width +: Width] > cycles_of_bucket) times_fit = 1'b0;
      // The first bucket has no cycle of one before.
      if (b != 0 && b < NumBuckets && (full_q || 32'(buckets_q) > b) &&
          time_q[b*Width +: Width] != cycles_of_bucket) times_fit = 1'b0;
    end
    if (Width'(dut_time) >= cycles_of_unit) times_fit = 1'b0;
    if (dut_unit_end && (dut_time != '0 || !passes_q)) times_fit = 1'b0;
    if (time_q[Width-1:0] + Width'(passes_q) >
        ((Width'(dut_unit) + Width'(dut_unit_end)) << unit_i) + Width'(dut_time) + Width'(1)) times_fit = 1'b0;
    if ((full_q || buckets_q != '0) && time_q[Width-1:0] + Width'(passes_q) !=
        ((Width'(dut_unit) + Width'(dut_unit_end)) << unit_i) + Width'(dut_time) + Width'(1)) times_fit = 1'b0;
    if ((user_q & (user_q - NumKernels'(1))) != '0 || (user_q != '0 && !passes_q)) had_fits = 1'b0;
  end
  `PROVE(PartsAreRests_A, parts_fit)
  `PROVE(UsedIsInBuckets_A, sums_fit)
  `PROVE(UnitsAreCycles_A, units_are_had)
  `PROVE(TimesAreBuckets_A, times_fit)
  `PROVE(CyclesAreTime_A, had_fits)
endmodule
