// SPDX-License-Identifier: Apache-2.0
// Assertions: one English sentence above each, the name ends in _A (we guarantee), _M (we require
// of our user) or _C (we want to see it happen). They vanish for every tool but Verilator.
`ifndef SMK_ASSERT_SVH
`define SMK_ASSERT_SVH

// A cut point: just the expression. A fault of tb/<block>/block.toml takes its place, by its name,
// in a copy of the block that checkers or proofs must refuse.
`define SMK_CUT(name, right) (right)

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
