// SPDX-License-Identifier: Apache-2.0
// Configuration few: 3 SMs with fewer TBs than kernels, limits that fill their counters; for tests.
// What each number means and what is supported: rtl/common/smk_pkg.sv, which includes this file.
  parameter int unsigned NumSms            /*verilator public_flat_rd*/ = 3;
  parameter int unsigned NumKernels        /*verilator public_flat_rd*/ = 4;
  parameter int unsigned NumSchedulers     /*verilator public_flat_rd*/ = 1;
  parameter int unsigned WarpsPerScheduler /*verilator public_flat_rd*/ = 8;
  parameter int unsigned LimitRegisters    /*verilator public_flat_rd*/ = 31;
  parameter int unsigned LimitSharedMemory /*verilator public_flat_rd*/ = 15;
  parameter int unsigned LimitThreads      /*verilator public_flat_rd*/ = 7;
  parameter int unsigned LimitTbs          /*verilator public_flat_rd*/ = 3;
  parameter int unsigned PreemptedDepth    /*verilator public_flat_rd*/ = 4;
  parameter int unsigned ShareWhole        /*verilator public_flat_rd*/ = 3255;
