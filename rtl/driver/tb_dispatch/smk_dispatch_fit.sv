// SPDX-License-Identifier: Apache-2.0
// smk_dispatch_fit: whether one TB of the candidate kernel has room on the candidate SM.
//
// Purpose     The part of smk_tb_dispatch that looks at the candidate SM and compares: amounts in
//             the modes without partitions, TBs in those with.
// Paper       [SMK] Sec. 5.3, Fig. 4 and 7.
// Interface   at_look_i, at_fit_i: the step is taken in this cycle. kernel_of_i, look_*: answers of
//             smk_drf_tracker and smk_dispatch_partitions for step Look.
// Latency     Look loads the registers, Fit is combinational from them.
// Throughput  One candidate at a time.
// Reset       No candidate.
// Model       model/control/driver/tb_dispatch.cc (LookAt, Fit)   Doc  docs/blocks/tb_dispatch.md
// What a TB must find taken at most is kept per kernel, so that Fit does not subtract.
`include "smk_assert.svh"

module smk_dispatch_fit (
  input  logic                      clk_i,
  input  logic                      rst_ni,
  input  logic                      on_demand_i,
  input  logic                      partitioned_i,
  input  logic                      at_look_i,
  input  logic                      at_fit_i,
  input  smk_pkg::need_vec_t        need_i,
  // The kernel that is picked, the SM of each kernel, the SMs that may host each.
  input  smk_pkg::kernel_mask_t     kernel_of_i,
  input  smk_pkg::kernel_sms_t      look_sms_i,
  input  smk_pkg::kernel_sms_t      allowed_i,
  input  smk_pkg::kernel_mask_t     waiting_i,
  // SMs that can take a command.
  input  smk_pkg::sm_mask_t         ready_i,
  input  smk_pkg::resource_vector_t look_taken_i,
  input  smk_pkg::tb_cnt_t          look_resident_i,
  input  logic                      look_planned_i,
  input  smk_pkg::tb_cnt_t          look_tbs_i,
  // The decision serves a reservation.
  input  logic                      is_reserved_i,
  // Registers: the candidate, a copy for what is far away, and the most that may be taken where it fits.
  output smk_pkg::kernel_id_t       kernel_o,
  output smk_pkg::kernel_id_t       queue_kernel_o,
  output smk_pkg::kernel_mask_t     kernel_of_o,
  output smk_pkg::sm_mask_t         sm_o,
  output smk_pkg::tb_need_t         room_o,
  // What comes of Fit.
  output logic                      dispatch_o,
  output logic                      cancel_o,
  output logic                      repartition_o,
  output logic                      partition_full_o,
  output logic                      no_room_o,
  output logic                      search_o,
  // A TB would be dispatched, but for the SM's credit.
  output logic                      stays_o
);
  localparam int unsigned NumKernels  = smk_pkg::NumKernels;
  localparam int unsigned NumSms      = smk_pkg::NumSms;
  localparam int unsigned NeedWidth   = smk_pkg::NeedWidth;

  // The limits less what one TB of each kernel needs.
  smk_pkg::need_vec_t rooms_d, rooms_q;
  smk_pkg::tb_need_t  need;
  always_comb begin
    for (int unsigned k = 0; k < NumKernels; k++) begin
      need              = need_i.kernel[k];
      rooms_d.kernel[k] = {
          smk_pkg::RegisterCntWidth'(smk_pkg::LimitRegisters) - need.registers,
          smk_pkg::SharedCntWidth'(smk_pkg::LimitSharedMemory) - need.shared_memory,
          smk_pkg::ThreadCntWidth'(smk_pkg::LimitThreads) - need.threads};
    end
  end

  // Look.
  smk_pkg::kernel_mask_t     may, kernel_of_d, kernel_of_q;
  smk_pkg::sm_mask_t         sm_d, sm_q;
  smk_pkg::tb_need_t         room_d, room_q;
  smk_pkg::kernel_id_t       kernel_d, kernel_q, queue_kernel_n_q;
  smk_pkg::resource_vector_t taken_q;
  smk_pkg::tb_cnt_t          resident_q, tbs_q;
  logic                      allowed_q, waiting_q, planned_q;
  always_comb begin
    sm_d        = sm_q;
    room_d      = room_q;
    kernel_of_d = kernel_of_q;
    kernel_d    = `SMK_CUT(Candidate, kernel_q);
    may         = '0;
    if (at_look_i) begin
      sm_d        = '0;
      room_d      = '0;
      kernel_of_d = kernel_of_i;
      kernel_d    = smk_pkg::index_of_kernel(kernel_of_i);
      for (int unsigned k = 0; k < NumKernels; k++) begin
        sm_d   |= look_sms_i.kernel[k] & {NumSms{kernel_of_i[k]}};
        room_d |= rooms_q.kernel[k] & {NeedWidth{kernel_of_i[k]}};
        may[k]  = (look_sms_i.kernel[k] & allowed_i.kernel[k]) != '0;
      end
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      kernel_q       <= '0;
      queue_kernel_n_q <= '1;
      kernel_of_q    <= '0;
      sm_q           <= '0;
    end else begin
      kernel_q       <= kernel_d;
      queue_kernel_n_q <= ~kernel_d;
      kernel_of_q    <= kernel_of_d;
      sm_q           <= sm_d;
    end
  end
  // What it finds; not reset.
  always_ff @(posedge clk_i) begin
    rooms_q <= rooms_d;
    room_q  <= room_d;
    if (at_look_i) begin
      allowed_q  <= (may & kernel_of_i) != '0;
      waiting_q  <= (waiting_i & kernel_of_i) != '0;
      planned_q  <= look_planned_i;
      taken_q    <= look_taken_i;
      resident_q <= look_resident_i;
      tbs_q      <= look_tbs_i;
    end
  end

  // Fit: is there room, or has the kernel a partition with room?
  logic below, fits, serve, in_partition, free;
  assign below            = resident_q < tbs_q;
  assign fits             = taken_q.registers <= room_q.registers &&
                            taken_q.shared_memory <= room_q.shared_memory &&
                            taken_q.threads <= `SMK_CUT(RoomOfThreads, room_q.threads) &&
                            32'(taken_q.tbs) < smk_pkg::LimitTbs;
  assign serve            = `SMK_CUT(TbWaits, waiting_q) && allowed_q && fits;
  assign in_partition     = at_fit_i && !is_reserved_i && allowed_q && partitioned_i;
  assign free             = at_fit_i && !is_reserved_i && allowed_q && !partitioned_i;
  assign cancel_o         = at_fit_i && is_reserved_i && !serve;
  assign repartition_o    = in_partition && !planned_q;
  assign partition_full_o = in_partition && planned_q && !below;
  assign no_room_o        = free && !fits && !on_demand_i;
  assign search_o         = free && !fits && on_demand_i;
  logic goes, ready;
  assign goes             = (at_fit_i && is_reserved_i && serve) || (free && fits) ||
                            (in_partition && planned_q && below);
  assign ready            = (sm_q & ready_i) != '0;
  assign dispatch_o       = goes && ready;
  assign stays_o          = goes && !ready;

  assign kernel_o       = kernel_q;
  // Kept inverted, so that synthesis does not make one register of the two.
  assign queue_kernel_o = ~queue_kernel_n_q;
  assign kernel_of_o    = kernel_of_q;
  assign sm_o           = sm_q;
  assign room_o         = room_q;

  // There is one candidate, and one SM.
  `SMK_ASSERT(OneCandidate_A, at_fit_i |-> $onehot(kernel_of_q) && $onehot(sm_q))
  // The tracker answers with one of the kernels asked for.
  `SMK_ASSERT(PickedKernelIsOne_M, at_look_i |-> $onehot(kernel_of_i))
  // What is dispatched fits; with partitions, into its partition.
  `SMK_ASSERT(DispatchFits_A, dispatch_o && (is_reserved_i || !partitioned_i)
              |-> fits && allowed_q)
  `SMK_ASSERT(PartitionNotExceeded_A, dispatch_o && partitioned_i |-> planned_q && below)
  // Idle: the candidate holds until the next one.
  `SMK_ASSERT(IdleKeepsState_A, !at_look_i |=> $stable({kernel_q, kernel_of_q, sm_q, room_q}))
  // Both outcomes without partitions, and a reservation of no use, occur in our tests.
  `SMK_COVER(Fits_C, free && fits)
  `SMK_COVER(DoesNotFit_C, free && !fits)
endmodule
