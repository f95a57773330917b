// SPDX-License-Identifier: Apache-2.0
// smk_ipc_watch: whether a kernel's IPC has changed, and for how many windows.
//
// Purpose     Adds up the instructions of a kernel in a window, and compares with those of the first
//             window after a plan.
// Paper       [Warped-Slicer] Sec. IV-B. Deviation [D36].
// Interface   One kernel at a time, kernel_i one-hot: clear_i, add_i with each count, one cycle
//             without, diff_i twice, judge_i with able_i; again_o counts in that cycle.
// Latency     As said.
// Throughput  One count per cycle.
// Reset       Nothing is known of any kernel.
// Model       model/control/driver/slicer_profiler.h   Doc  docs/blocks/slicer_profiler.md
module smk_ipc_watch #(
  parameter  int unsigned SampleWidth = 16,
  // In units of four instructions: what the clock has time for.
  localparam int unsigned TotalWidth  = SampleWidth - 2 + smk_pkg::SmWidth
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  input  logic [2:0]             change_i,
  input  logic [3:0]             sustain_i,
  // What was known of all kernels counts no more.
  input  logic                   forget_i,
  input  smk_pkg::kernel_mask_t  kernel_i,
  input  logic                   clear_i,
  input  logic                   add_i,
  input  logic [SampleWidth-1:0] issued_i,
  input  logic                   diff_i,
  input  logic                   judge_i,
  // The kernel could be sampled again; a window in which it could not is none with another IPC.
  input  logic                   able_i,
  output logic                   again_o
);
  localparam int unsigned NumKernels = smk_pkg::NumKernels;
  typedef struct packed {logic [NumKernels-1:0][TotalWidth-1:0] kernel;} totals_t;
  typedef struct packed {logic [NumKernels-1:0][3:0] kernel;} windows_t;

  logic [SampleWidth-3:0] issued_q;
  logic [TotalWidth-1:0]  total_q, was_d, was_now_q, may_q;
  logic                   changed_q;
  logic [1:0]             unused_issued;
  assign unused_issued = issued_i[1:0];
  logic [TotalWidth:0]    diff_q;
  totals_t                was_q;
  windows_t               windows_q;
  smk_pkg::kernel_mask_t  known_q;
  logic [3:0]             windows;
  always_comb begin
    was_d   = '0;
    windows = '0;
    for (int unsigned k = 0; k < NumKernels; k++) begin
      if (kernel_i[k]) was_d   = was_d | was_q.kernel[k];
      if (kernel_i[k]) windows = windows | windows_q.kernel[k];
    end
  end

  // |difference| > what may be: the carry of its ones' complement less that, and one if negative.
  logic                  falls, changed, known;
  logic [TotalWidth-1:0] size;
  logic [TotalWidth:0]   beyond;
  assign falls   = diff_q[TotalWidth];
  assign size    = diff_q[TotalWidth-1:0] ^ {TotalWidth{falls}};
  assign beyond  = {1'b0, size} + {1'b0, ~may_q} + (TotalWidth+1)'(falls);
  assign known   = (known_q & kernel_i) != '0;
  assign changed = known && changed_q && able_i;
  assign again_o = changed && sustain_i != '0 && windows + 1'b1 >= sustain_i;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {issued_q, total_q, was_now_q, may_q, diff_q, changed_q, known_q} <= '0;
    end else begin
      issued_q  <= issued_i[SampleWidth-1:2] & {(SampleWidth-2){add_i}};
      was_now_q <= was_d;
      may_q     <= was_now_q >> change_i;
      changed_q <= beyond[TotalWidth];
      total_q  <= (total_q + TotalWidth'(issued_q)) & {TotalWidth{!clear_i}};
      if (diff_i)   diff_q  <= {1'b0, total_q} - {1'b0, was_now_q};
      if (judge_i)  known_q <= known_q | kernel_i;
      if (forget_i) known_q <= '0;
    end
  end
  for (genvar k = 0; k < NumKernels; k++) begin : gen_kernel
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) begin
        {was_q.kernel[k], windows_q.kernel[k]} <= '0;
      end else if (judge_i && kernel_i[k]) begin
        if (!known) was_q.kernel[k] <= total_q;
        windows_q.kernel[k] <= changed ? windows + 1'b1 : '0;
      end
    end
  end
endmodule
