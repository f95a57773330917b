// SPDX-License-Identifier: Apache-2.0
// Configuration largest: every number at its limit, for the functions of smk_pkg.
// What each number means and what is supported: rtl/common/smk_pkg.sv, which includes this file.
  parameter int unsigned NumSms            /*verilator public_flat_rd*/ = 132;
  parameter int unsigned NumKernels        /*verilator public_flat_rd*/ = 8;
  parameter int unsigned NumSchedulers     /*verilator public_flat_rd*/ = 2;
  parameter int unsigned WarpsPerScheduler /*verilator public_flat_rd*/ = 32;
  parameter int unsigned LimitRegisters    /*verilator public_flat_rd*/ = 256;
  parameter int unsigned LimitSharedMemory /*verilator public_flat_rd*/ = 384;
  parameter int unsigned LimitThreads      /*verilator public_flat_rd*/ = 64;
  parameter int unsigned LimitTbs          /*verilator public_flat_rd*/ = 32;
  parameter int unsigned PreemptedDepth    /*verilator public_flat_rd*/ = 32768;
  parameter int unsigned ShareWhole        /*verilator public_flat_rd*/ = 768;
