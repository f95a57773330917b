// SPDX-License-Identifier: Apache-2.0
// Configuration many: 33 small SMs, for tests.
// What each number means and what is supported: rtl/common/smk_pkg.sv, which includes this file.
  parameter int unsigned NumSms            /*verilator public_flat_rd*/ = 33;
  parameter int unsigned NumKernels        /*verilator public_flat_rd*/ = 4;
  parameter int unsigned NumSchedulers     /*verilator public_flat_rd*/ = 2;
  parameter int unsigned WarpsPerScheduler /*verilator public_flat_rd*/ = 6;
  parameter int unsigned LimitRegisters    /*verilator public_flat_rd*/ = 32;
  parameter int unsigned LimitSharedMemory /*verilator public_flat_rd*/ = 24;
  parameter int unsigned LimitThreads      /*verilator public_flat_rd*/ = 12;
  parameter int unsigned LimitTbs          /*verilator public_flat_rd*/ = 8;
  parameter int unsigned PreemptedDepth    /*verilator public_flat_rd*/ = 16;
  parameter int unsigned ShareWhole        /*verilator public_flat_rd*/ = 96;
