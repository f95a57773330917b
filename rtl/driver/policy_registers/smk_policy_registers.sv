// SPDX-License-Identifier: Apache-2.0
// smk_policy_registers: the policy of the chip, from registers, with a defined moment of change.
//
// Purpose     Takes a new policy word by word, and puts it in force as a whole: it holds launches off,
//             waits until no kernel is there and the chip is quiet, and changes policy_o in the first
//             cycle of a reset of the chip. What is not supported is refused, and nothing changes.
// Paper       none.
// Interface   write_i, read_i: pulses (S5), one word each; data_o, error_o: registers. launch_taken_i,
//             kernel_done_i: pulses. launch_hold_o, restart_o, policy_o: levels.
// Latency     A word 1 cycle after its read. The change QuietCycles + 2 cycles after the last in which
//             the chip was awake, and launches RestartCycles later.
// Throughput  One read and one write per cycle.
// Reset       DefaultPolicy, in force and in the words.
// Model       model/control/driver/policy_registers.h   Doc  docs/blocks/policy_registers.md
// Nothing changes in a cycle without an access, a launch or an end of a kernel unless awake_o is set.
`include "smk_assert.svh"
`include "smk_policy.svh"

module smk_policy_registers #(
  // A policy_t.
  parameter logic [`SMK_POLICY_WIDTH-1:0] DefaultPolicy = `SMK_POLICY_DEFAULT,
  // Cycles in a row in which nothing in the chip is awake before it is reset; cycles of that reset.
  parameter int unsigned QuietCycles   = 32,
  parameter int unsigned RestartCycles = 4
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,
  // The bus: a word is written, is read, or both, which gives what it was. Addresses count words.
  input  logic                  write_i,
  input  logic                  read_i,
  input  logic [7:0]            address_i,
  input  logic [31:0]           data_i,
  // The word that was read last; whether the last access was refused.
  output logic [31:0]           data_o,
  output logic                  error_o,
  // A launch is taken, into this slot; kernels have ended; something in the chip is awake.
  input  logic                  launch_taken_i,
  input  smk_pkg::kernel_id_t   launch_kernel_i,
  input  smk_pkg::kernel_mask_t kernel_done_i,
  input  logic                  chip_awake_i,
  // No launch is offered to the chip; the chip is reset.
  output logic                  launch_hold_o,
  output logic                  restart_o,
  // In force. It changes with the first cycle of restart_o only.
  output smk_pkg::policy_t      policy_o,
  // Not idle.
  output logic                  awake_o
);
  `SMK_CHECK_CONFIG
  if (QuietCycles < 1 || RestartCycles < 1) begin : gen_bad_cycles
    $error("SMK: QuietCycles and RestartCycles must be positive");
  end

  localparam int unsigned NumKernels  = smk_pkg::NumKernels;
  localparam int unsigned KernelWidth = smk_pkg::KernelWidth;
  localparam int unsigned PolicyWidth = `SMK_POLICY_WIDTH;
  localparam int unsigned NumWords    = (PolicyWidth + 31) / 32;
  localparam int unsigned LastBits    = PolicyWidth - 32 * (NumWords - 1);
  localparam int unsigned MostCycles  = (QuietCycles > RestartCycles) ? QuietCycles : RestartCycles;
  localparam int unsigned CountWidth  = $clog2(MostCycles + 1);
  // Behind the words of the policy: commands when it is written, the status when it is read.
  localparam logic [7:0]  ControlWord = 8'(NumWords);

  // Nothing to do; a new policy waits for the chip; the chip is reset, and the policy in force.
  typedef enum logic [1:0] {StIdle, StWait, StRestart} step_e;
  step_e step_d, step_q;

  logic [PolicyWidth-1:0] words_q, policy_q;
  smk_pkg::kernel_mask_t  present_d, present_q;
  logic [CountWidth-1:0]  count_d, count_q;
  logic                   chip_awake_d, chip_awake_q, restart_q, done_d, done_q, change, ends;
  logic [3:0]             refusal, refusal_d, refusal_q;
  logic                   error_d, error_q;
  logic [31:0]            data_d, data_q;

  // An access. Words do not change while they wait to be put in force.
  logic pending, control, writes, commit, cancel;
  assign pending = step_q != StIdle;
  assign control = write_i && address_i == ControlWord;
  assign writes  = write_i && !`SMK_CUT(Pending, pending);
  assign commit  = control && data_i[0] && !pending;
  assign cancel  = control && data_i[1] && step_q == StWait;
  assign error_d = address_i > ControlWord || (write_i && pending && !cancel);

  for (genvar w = 0; w < NumWords; w++) begin : gen_word
    localparam int unsigned Bits = (w == NumWords - 1) ? LastBits : 32;
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni)                            words_q[32*w +: Bits] <= DefaultPolicy[32*w +: Bits];
      else if (writes && address_i == 8'(w)) words_q[32*w +: Bits] <= data_i[Bits-1:0];
    end
  end

  // The status: 0 a policy waits, 1 it is in force, 2 it was refused, 7:4 why.
  logic [32*NumWords-1:0] padded;
  assign padded = (32 * NumWords)'(words_q);
  always_comb begin
    data_d = '0;
    for (int unsigned w = 0; w < NumWords; w++) begin
      if (address_i == 8'(w)) data_d = data_d | padded[32*w +: 32];
    end
    if (address_i == ControlWord) begin
      data_d = {24'd0, refusal_q, 1'b0, refusal_q != '0, done_q, pending};
    end
  end

  // Why the words are no policy that the chip supports.
  smk_policy_check u_check (
    .policy_i (words_q),
    .refusal_o(refusal)
  );

  // Who is there, by launches and ends; a slot that has ended may be launched into at once.
  smk_pkg::kernel_mask_t taken;
  logic                  calm;
  for (genvar k = 0; k < NumKernels; k++) begin : gen_taken
    assign taken[k] = launch_taken_i && launch_kernel_i == KernelWidth'(k);
  end
  assign present_d    = (present_q & ~kernel_done_i) | `SMK_CUT(Taken, taken);
  assign chip_awake_d = step_d != StWait || chip_awake_i;
  assign calm         = present_q == '0 && !chip_awake_q;

  // From a commit to its end.
  assign change = step_q == StWait && calm && count_q == CountWidth'(QuietCycles - 1) && !cancel;
  assign ends   = step_q == StRestart && count_q == CountWidth'(RestartCycles - 1);
  always_comb begin
    step_d = step_q;
    if (commit && refusal == '0) step_d = StWait;
    if (cancel || ends)             step_d = StIdle;
    if (change)                                     step_d = StRestart;
    count_d = '0;
    if (step_d == step_q && (calm || step_q == StRestart)) begin
      count_d = pending ? count_q + `SMK_CUT(Count, CountWidth'(1)) : '0;
    end
  end

  // How the last commit ended: it is in force, was refused, or was cancelled.
  assign done_d = commit ? 1'b0 : done_q || ends;
  always_comb begin
    refusal_d = refusal_q;
    if (commit) refusal_d = refusal;
    if (cancel) refusal_d = 4'd10;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      step_q       <= StIdle;
      policy_q     <= DefaultPolicy;
      present_q    <= '0;
      count_q      <= '0;
      chip_awake_q <= 1'b1;
      restart_q    <= 1'b0;
      done_q       <= 1'b0;
      refusal_q    <= '0;
      error_q      <= 1'b0;
      data_q       <= '0;
    end else begin
      step_q       <= step_d;
      if (`SMK_CUT(Change, change)) policy_q <= words_q;
      present_q    <= present_d;
      count_q      <= `SMK_CUT(CountIdle, count_d);
      chip_awake_q <= chip_awake_d;
      restart_q    <= step_d == StRestart;
      done_q       <= done_d;
      refusal_q    <= refusal_d;
      if (write_i || read_i) error_q <= error_d;
      if (read_i) data_q <= data_d;
    end
  end

  assign data_o        = data_q;
  assign error_o       = error_q;
  assign launch_hold_o = `SMK_CUT(Hold, pending);
  assign restart_o     = restart_q;
  assign policy_o      = policy_q;
  assign awake_o       = pending;

  // No launch reaches the chip while launches are held off.
  `SMK_ASSERT(LaunchIsHeld_M, launch_taken_i |-> !launch_hold_o)
  // Who ends is there.
  `SMK_ASSERT(EndsOnce_M, (kernel_done_i & ~present_q) == '0)
  // A policy changes in the first cycle of a reset of the chip, and no kernel is there.
  `SMK_ASSERT(ChangesInReset_A, !$stable(policy_q) |-> $rose(restart_o) && present_q == '0)
  // The chip is reset only while launches are held off.
  `SMK_ASSERT(HeldInReset_A, restart_o |-> launch_hold_o && present_q == '0)
  // Nothing is reported done and refused.
  `SMK_ASSERT(OneEnd_A, !(done_q && refusal_q != '0))
  // Nothing changes in an idle cycle.
  `SMK_ASSERT(IdleHolds_A, !write_i && !read_i && !launch_taken_i && kernel_done_i == '0 && !awake_o
              |=> $stable({step_q, words_q, policy_q, present_q, count_q, chip_awake_q, restart_q,
                           done_q, refusal_q, error_q, data_q}))
  // A commit really waits for a kernel, and for a chip that is not quiet yet, in our tests.
  `SMK_COVER(WaitsForKernel_C, step_q == StWait && present_q != '0)
  `SMK_COVER(WaitsForQuiet_C, step_q == StWait && present_q == '0 && chip_awake_q && count_q == '0)
endmodule
