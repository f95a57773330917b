// SPDX-License-Identifier: Apache-2.0
// Configuration fermi: the GPU of [Warped-Slicer] Table I.
// What each number means and what is supported: rtl/common/smk_pkg.sv, which includes this file.
  parameter int unsigned NumSms            /*verilator public_flat_rd*/ = 16;
  parameter int unsigned NumKernels        /*verilator public_flat_rd*/ = 4;
  parameter int unsigned NumSchedulers     /*verilator public_flat_rd*/ = 2;
  parameter int unsigned WarpsPerScheduler /*verilator public_flat_rd*/ = 24;
  parameter int unsigned LimitRegisters    /*verilator public_flat_rd*/ = 128;
  parameter int unsigned LimitSharedMemory /*verilator public_flat_rd*/ = 192;
  parameter int unsigned LimitThreads      /*verilator public_flat_rd*/ = 48;
  parameter int unsigned LimitTbs          /*verilator public_flat_rd*/ = 8;
  parameter int unsigned PreemptedDepth    /*verilator public_flat_rd*/ = 512;
  parameter int unsigned ShareWhole        /*verilator public_flat_rd*/ = 384;
