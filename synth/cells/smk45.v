// SPDX-License-Identifier: Apache-2.0
// The cells of smk45.lib. Made by synth/cells/make_cells.py.

module INV_X1 (input A, output Y);
  assign Y = ~A;
endmodule

module INV_X2 (input A, output Y);
  assign Y = ~A;
endmodule

module INV_X4 (input A, output Y);
  assign Y = ~A;
endmodule

module INV_X8 (input A, output Y);
  assign Y = ~A;
endmodule

module INV_X16 (input A, output Y);
  assign Y = ~A;
endmodule

module BUF_X1 (input A, output Y);
  wire n;
  assign n = ~A;
  assign Y = ~n;
endmodule

module BUF_X2 (input A, output Y);
  wire n;
  assign n = ~A;
  assign Y = ~n;
endmodule

module BUF_X4 (input A, output Y);
  wire n;
  assign n = ~A;
  assign Y = ~n;
endmodule

module BUF_X8 (input A, output Y);
  wire n;
  assign n = ~A;
  assign Y = ~n;
endmodule

module BUF_X16 (input A, output Y);
  wire n;
  assign n = ~A;
  assign Y = ~n;
endmodule

module BUF_X32 (input A, output Y);
  wire n;
  assign n = ~A;
  assign Y = ~n;
endmodule

module NAND2_X1 (input A, input B, output Y);
  assign Y = ~(A & B);
endmodule

module NAND2_X2 (input A, input B, output Y);
  assign Y = ~(A & B);
endmodule

module NAND2_X4 (input A, input B, output Y);
  assign Y = ~(A & B);
endmodule

module NAND3_X1 (input A, input B, input C, output Y);
  assign Y = ~(A & B & C);
endmodule

module NAND3_X2 (input A, input B, input C, output Y);
  assign Y = ~(A & B & C);
endmodule

module NAND3_X4 (input A, input B, input C, output Y);
  assign Y = ~(A & B & C);
endmodule

module NAND4_X1 (input A, input B, input C, input D, output Y);
  assign Y = ~(A & B & C & D);
endmodule

module NAND4_X2 (input A, input B, input C, input D, output Y);
  assign Y = ~(A & B & C & D);
endmodule

module NAND4_X4 (input A, input B, input C, input D, output Y);
  assign Y = ~(A & B & C & D);
endmodule

module NOR2_X1 (input A, input B, output Y);
  assign Y = ~(A | B);
endmodule

module NOR2_X2 (input A, input B, output Y);
  assign Y = ~(A | B);
endmodule

module NOR2_X4 (input A, input B, output Y);
  assign Y = ~(A | B);
endmodule

module NOR3_X1 (input A, input B, input C, output Y);
  assign Y = ~(A | B | C);
endmodule

module NOR3_X2 (input A, input B, input C, output Y);
  assign Y = ~(A | B | C);
endmodule

module NOR3_X4 (input A, input B, input C, output Y);
  assign Y = ~(A | B | C);
endmodule

module NOR4_X1 (input A, input B, input C, input D, output Y);
  assign Y = ~(A | B | C | D);
endmodule

module NOR4_X2 (input A, input B, input C, input D, output Y);
  assign Y = ~(A | B | C | D);
endmodule

module NOR4_X4 (input A, input B, input C, input D, output Y);
  assign Y = ~(A | B | C | D);
endmodule

module AND2_X1 (input A, input B, output Y);
  wire n;
  assign n = ~(A & B);
  assign Y = ~n;
endmodule

module AND2_X2 (input A, input B, output Y);
  wire n;
  assign n = ~(A & B);
  assign Y = ~n;
endmodule

module AND2_X4 (input A, input B, output Y);
  wire n;
  assign n = ~(A & B);
  assign Y = ~n;
endmodule

module AND3_X1 (input A, input B, input C, output Y);
  wire n;
  assign n = ~(A & B & C);
  assign Y = ~n;
endmodule

module AND3_X2 (input A, input B, input C, output Y);
  wire n;
  assign n = ~(A & B & C);
  assign Y = ~n;
endmodule

module AND3_X4 (input A, input B, input C, output Y);
  wire n;
  assign n = ~(A & B & C);
  assign Y = ~n;
endmodule

module AND4_X1 (input A, input B, input C, input D, output Y);
  wire n;
  assign n = ~(A & B & C & D);
  assign Y = ~n;
endmodule

module AND4_X2 (input A, input B, input C, input D, output Y);
  wire n;
  assign n = ~(A & B & C & D);
  assign Y = ~n;
endmodule

module AND4_X4 (input A, input B, input C, input D, output Y);
  wire n;
  assign n = ~(A & B & C & D);
  assign Y = ~n;
endmodule

module OR2_X1 (input A, input B, output Y);
  wire n;
  assign n = ~(A | B);
  assign Y = ~n;
endmodule

module OR2_X2 (input A, input B, output Y);
  wire n;
  assign n = ~(A | B);
  assign Y = ~n;
endmodule

module OR2_X4 (input A, input B, output Y);
  wire n;
  assign n = ~(A | B);
  assign Y = ~n;
endmodule

module OR3_X1 (input A, input B, input C, output Y);
  wire n;
  assign n = ~(A | B | C);
  assign Y = ~n;
endmodule

module OR3_X2 (input A, input B, input C, output Y);
  wire n;
  assign n = ~(A | B | C);
  assign Y = ~n;
endmodule

module OR3_X4 (input A, input B, input C, output Y);
  wire n;
  assign n = ~(A | B | C);
  assign Y = ~n;
endmodule

module OR4_X1 (input A, input B, input C, input D, output Y);
  wire n;
  assign n = ~(A | B | C | D);
  assign Y = ~n;
endmodule

module OR4_X2 (input A, input B, input C, input D, output Y);
  wire n;
  assign n = ~(A | B | C | D);
  assign Y = ~n;
endmodule

module OR4_X4 (input A, input B, input C, input D, output Y);
  wire n;
  assign n = ~(A | B | C | D);
  assign Y = ~n;
endmodule

module AOI21_X1 (input A, input B, input C, output Y);
  assign Y = ~((A & B) | C);
endmodule

module AOI21_X2 (input A, input B, input C, output Y);
  assign Y = ~((A & B) | C);
endmodule

module AOI21_X4 (input A, input B, input C, output Y);
  assign Y = ~((A & B) | C);
endmodule

module AOI22_X1 (input A, input B, input C, input D, output Y);
  assign Y = ~((A & B) | (C & D));
endmodule

module AOI22_X2 (input A, input B, input C, input D, output Y);
  assign Y = ~((A & B) | (C & D));
endmodule

module AOI22_X4 (input A, input B, input C, input D, output Y);
  assign Y = ~((A & B) | (C & D));
endmodule

module AOI211_X1 (input A, input B, input C, input D, output Y);
  assign Y = ~((A & B) | C | D);
endmodule

module AOI211_X2 (input A, input B, input C, input D, output Y);
  assign Y = ~((A & B) | C | D);
endmodule

module AOI221_X1 (input A, input B, input C, input D, input E, output Y);
  assign Y = ~((A & B) | (C & D) | E);
endmodule

module AOI221_X2 (input A, input B, input C, input D, input E, output Y);
  assign Y = ~((A & B) | (C & D) | E);
endmodule

module OAI21_X1 (input A, input B, input C, output Y);
  assign Y = ~((A | B) & C);
endmodule

module OAI21_X2 (input A, input B, input C, output Y);
  assign Y = ~((A | B) & C);
endmodule

module OAI21_X4 (input A, input B, input C, output Y);
  assign Y = ~((A | B) & C);
endmodule

module OAI22_X1 (input A, input B, input C, input D, output Y);
  assign Y = ~((A | B) & (C | D));
endmodule

module OAI22_X2 (input A, input B, input C, input D, output Y);
  assign Y = ~((A | B) & (C | D));
endmodule

module OAI22_X4 (input A, input B, input C, input D, output Y);
  assign Y = ~((A | B) & (C | D));
endmodule

module OAI211_X1 (input A, input B, input C, input D, output Y);
  assign Y = ~((A | B) & C & D);
endmodule

module OAI211_X2 (input A, input B, input C, input D, output Y);
  assign Y = ~((A | B) & C & D);
endmodule

module OAI211_X4 (input A, input B, input C, input D, output Y);
  assign Y = ~((A | B) & C & D);
endmodule

module OAI221_X1 (input A, input B, input C, input D, input E, output Y);
  assign Y = ~((A | B) & (C | D) & E);
endmodule

module OAI221_X2 (input A, input B, input C, input D, input E, output Y);
  assign Y = ~((A | B) & (C | D) & E);
endmodule

module XOR2_X1 (input A, input B, output Y);
  wire n;
  assign n = ~(A | B);
  assign Y = ~((A & B) | n);
endmodule

module XOR2_X2 (input A, input B, output Y);
  wire n;
  assign n = ~(A | B);
  assign Y = ~((A & B) | n);
endmodule

module XNOR2_X1 (input A, input B, output Y);
  wire n;
  assign n = ~(A & B);
  assign Y = ~((A | B) & n);
endmodule

module XNOR2_X2 (input A, input B, output Y);
  wire n;
  assign n = ~(A & B);
  assign Y = ~((A | B) & n);
endmodule

module MUX2_X1 (input A, input B, input S, output Y);
  wire s;
  assign s = ~S;
  wire n;
  assign n = ~((s & A) | (S & B));
  assign Y = ~n;
endmodule

module MUX2_X2 (input A, input B, input S, output Y);
  wire s;
  assign s = ~S;
  wire n;
  assign n = ~((s & A) | (S & B));
  assign Y = ~n;
endmodule

module DFF_X1 (input D, input CK, output reg Q);
  always @(posedge CK)
    Q <= D;
endmodule

module DFF_X2 (input D, input CK, output reg Q);
  always @(posedge CK)
    Q <= D;
endmodule

module DFFR_X1 (input D, input CK, input RN, output reg Q);
  always @(posedge CK or negedge RN)
    if (!RN) Q <= 1'b0;
    else Q <= D;
endmodule

module DFFR_X2 (input D, input CK, input RN, output reg Q);
  always @(posedge CK or negedge RN)
    if (!RN) Q <= 1'b0;
    else Q <= D;
endmodule

module DFFS_X1 (input D, input CK, input SN, output reg Q);
  always @(posedge CK or negedge SN)
    if (!SN) Q <= 1'b1;
    else Q <= D;
endmodule

module DFFS_X2 (input D, input CK, input SN, output reg Q);
  always @(posedge CK or negedge SN)
    if (!SN) Q <= 1'b1;
    else Q <= D;
endmodule
