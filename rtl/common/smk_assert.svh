// SPDX-License-Identifier: Apache-2.0
// Assertions: one English sentence above each, the name ends in _A (we guarantee), _M (we require
// of our user) or _C (we want to see it happen). They vanish for every tool but Verilator.
`ifndef SMK_ASSERT_SVH
`define SMK_ASSERT_SVH

// A cut point: just the expression. A fault of tb/<block>/block.toml takes its place, by its name,
// in a copy of the block that checkers or proofs must refuse.
`define SMK_CUT(name, right) (right)

// Elaboration fails on a configuration that is not supported: in smk_top and in every block.
`define SMK_CHECK_CONFIG \
  if (smk_pkg::NumSms < 1 || smk_pkg::NumSms > 132) begin : gen_bad_sms \
    $error("SMK: NumSms must be 1 to 132"); \
  end \
  if (smk_pkg::NumKernels < 2 || smk_pkg::NumKernels > 8) begin : gen_bad_kernels \
    $error("SMK: NumKernels must be 2 to 8"); \
  end \
  if (smk_pkg::NumSchedulers != 1 && smk_pkg::NumSchedulers != 2 \
      && smk_pkg::NumSchedulers != 4) begin : gen_bad_schedulers \
    $error("SMK: NumSchedulers must be 1, 2 or 4"); \
  end \
  if (smk_pkg::WarpsPerScheduler < 2 || smk_pkg::WarpsPerScheduler > 32 \
      || smk_pkg::NumWarps > 64) begin : gen_bad_warps \
    $error("SMK: WarpsPerScheduler must be 2 to 32, and an SM has at most 64 warps"); \
  end \
  if (smk_pkg::LimitThreads < 1 || \
      smk_pkg::LimitThreads > smk_pkg::NumWarps) begin : gen_bad_threads \
    $error("SMK: LimitThreads must be 1 to the number of warp slots"); \
  end \
  if (smk_pkg::LimitTbs < 1 || smk_pkg::LimitTbs > 32) begin : gen_bad_tbs \
    $error("SMK: LimitTbs must be 1 to 32"); \
  end \
  if (smk_pkg::LimitRegisters < 1 || smk_pkg::LimitSharedMemory < 1 \
      || smk_pkg::MaxContextLines > 65535) begin : gen_bad_lines \
    $error("SMK: a context has 1 to 65535 lines of registers and of shared memory"); \
  end \
  if (smk_pkg::PreemptedDepth < 4 || smk_pkg::PreemptedDepth < smk_pkg::LimitTbs \
      || smk_pkg::PreemptedDepth > 32768 \
      || (smk_pkg::PreemptedDepth & (smk_pkg::PreemptedDepth - 1)) != 0) begin : gen_bad_depth \
    $error("SMK: PreemptedDepth must be a power of two, 4 to 32768, and not below LimitTbs"); \
  end \
  if (smk_pkg::ShareWhole % smk_pkg::LimitRegisters != 0 \
      || smk_pkg::ShareWhole % smk_pkg::LimitSharedMemory != 0 \
      || smk_pkg::ShareWhole % smk_pkg::LimitThreads != 0 \
      || smk_pkg::ShareWhole % smk_pkg::LimitTbs != 0) begin : gen_bad_share \
    $error("SMK: ShareWhole must be a common multiple of the four limits"); \
  end \
  if (smk_pkg::ShareWhole > 1073741823 / smk_pkg::NumSms) begin : gen_bad_range \
    $error("SMK: ShareWhole x NumSms must be below 2^30"); \
  end

`ifdef VERILATOR

`define SMK_ASSERT(name, property_) \
  name : assert property (@(posedge clk_i) disable iff (!rst_ni) (property_));

// Rules S1 and S2 of docs/protocols.md: an offer holds until it is taken.
`define SMK_ASSERT_STREAM(name, valid, ready, payload) \
  name : assert property (@(posedge clk_i) disable iff (!rst_ni) \
    ((valid) && !(ready)) |=> ((valid) && $stable(payload)));

`define SMK_COVER(name, property_) \
  name : cover property (@(posedge clk_i) disable iff (!rst_ni) (property_));

`else

`define SMK_ASSERT(name, property_)
`define SMK_ASSERT_STREAM(name, valid, ready, payload)
`define SMK_COVER(name, property_)

`endif
`endif
