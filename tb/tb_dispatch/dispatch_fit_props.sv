// SPDX-License-Identifier: Apache-2.0
// Proofs of smk_dispatch_fit, from its ports alone: what step Look was given is kept here, and what
// comes of step Fit is recomputed from it as Fig. 4 and 7 say.
`include "formal.svh"

module formal_dispatch_fit (
  input logic                      clk_i,
  input logic                      on_demand_i,
  input logic                      partitioned_i,
  input logic                      at_look_i,
  input logic                      at_fit_i,
  input smk_pkg::need_vec_t        need_i,
  // The kernel that is picked.
  input smk_pkg::kernel_id_t       kernel_i,
  input smk_pkg::kernel_sms_t      look_sms_i,
  input smk_pkg::kernel_sms_t      allowed_i,
  input smk_pkg::kernel_mask_t     waiting_i,
  input smk_pkg::sm_mask_t         ready_i,
  input smk_pkg::resource_vector_t look_taken_i,
  input smk_pkg::tb_cnt_t          look_resident_i,
  input logic                      look_planned_i,
  input smk_pkg::tb_cnt_t          look_tbs_i,
  input logic                      is_reserved_i
);
  `FORMAL_RESET
  smk_pkg::kernel_id_t   kernel, queue_kernel;
  smk_pkg::kernel_mask_t kernel_of, picked;
  smk_pkg::sm_mask_t     sm;
  smk_pkg::tb_need_t     room;
  logic                  dispatch, cancel, repartition, partition_full, no_room, search, stays, goes;
  // But for the SM's credit.
  assign goes = dispatch || stays;
  assign picked = smk_pkg::NumKernels'(1) << kernel_i;
  smk_dispatch_fit u_dut (
    .clk_i, .rst_ni, .on_demand_i, .partitioned_i, .at_look_i, .at_fit_i, .need_i, .look_sms_i,
    .allowed_i, .waiting_i, .ready_i, .look_taken_i, .look_resident_i, .look_planned_i, .look_tbs_i,
    .is_reserved_i,
    .kernel_of_i     (picked),
    .kernel_o        (kernel),
    .queue_kernel_o  (queue_kernel),
    .kernel_of_o     (kernel_of),
    .sm_o            (sm),
    .room_o          (room),
    .dispatch_o      (dispatch),
    .cancel_o        (cancel),
    .repartition_o   (repartition),
    .partition_full_o(partition_full),
    .no_room_o       (no_room),
    .search_o        (search),
    .stays_o         (stays)
  );

  // What Look was given; what a TB of each kernel needed in the cycle before.
  smk_pkg::need_vec_t        need_q;
  smk_pkg::tb_need_t         its_need_q;
  smk_pkg::resource_vector_t taken_q;
  smk_pkg::kernel_id_t       kernel_q;
  smk_pkg::sm_mask_t         sm_q;
  smk_pkg::tb_cnt_t          resident_q, tbs_q;
  logic                      looked_q, allowed_q, waiting_q, planned_q;
  always_ff @(posedge clk_i) begin
    need_q   <= need_i;
    looked_q <= rst_ni && (looked_q || at_look_i);
    if (at_look_i) begin
      kernel_q   <= kernel_i;
      its_need_q <= need_q.kernel[kernel_i];
      sm_q       <= look_sms_i.kernel[kernel_i];
      allowed_q  <= (look_sms_i.kernel[kernel_i] & allowed_i.kernel[kernel_i]) != '0;
      waiting_q  <= waiting_i[kernel_i];
      taken_q    <= look_taken_i;
      resident_q <= look_resident_i;
      planned_q  <= look_planned_i;
      tbs_q      <= look_tbs_i;
    end
  end
  // smk_kernel_table launches no kernel of which no TB fits into an empty SM.
  `ASSUME(NeedWithinLimits_M, !looked_q || (32'(its_need_q.registers) <= smk_pkg::LimitRegisters &&
          32'(its_need_q.shared_memory) <= smk_pkg::LimitSharedMemory &&
          32'(its_need_q.threads) <= smk_pkg::LimitThreads))

  // One TB more fits when every resource has what it needs left.
  logic fits, below, serves;
  assign fits  = 32'(taken_q.registers) + 32'(its_need_q.registers) <= smk_pkg::LimitRegisters &&
                 32'(taken_q.shared_memory) + 32'(its_need_q.shared_memory) <=
                     smk_pkg::LimitSharedMemory &&
                 32'(taken_q.threads) + 32'(its_need_q.threads) <= smk_pkg::LimitThreads &&
                 32'(taken_q.tbs) + 1 <= smk_pkg::LimitTbs;
  assign below = resident_q < tbs_q;
  // The candidate, until the next.
  `PROVE(CandidateIsKept_A, !looked_q || (kernel == kernel_q && queue_kernel == kernel_q &&
         kernel_of == smk_pkg::NumKernels'(1) << kernel_q && sm == sm_q))
  // What may be taken where it fits.
  `PROVE(RoomIsWhatIsLeft_A, !looked_q ||
         (32'(room.registers) + 32'(its_need_q.registers) == smk_pkg::LimitRegisters &&
          32'(room.shared_memory) + 32'(its_need_q.shared_memory) == smk_pkg::LimitSharedMemory &&
          32'(room.threads) + 32'(its_need_q.threads) == smk_pkg::LimitThreads))
  // Reserved room is used if a TB of the kernel still waits and fits, or given back.
  assign serves = waiting_q && allowed_q && fits;
  `PROVE(ReservedRoomIsServed_A, !looked_q || !at_fit_i || !is_reserved_i ||
         (goes == serves && cancel == !serves &&
          {repartition, partition_full, no_room, search} == '0))
  // Fig. 7: into the kernel's partition while it has room; without a partition, plan one.
  logic in_partition, free;
  assign in_partition = looked_q && at_fit_i && !is_reserved_i && allowed_q && partitioned_i;
  `PROVE(PartitionDecides_A, !in_partition ||
         (goes == (planned_q && below) && partition_full == (planned_q && !below) &&
          repartition == !planned_q && {cancel, no_room, search} == '0))
  // Fig. 4: where it fits; else a victim is searched, on demand.
  assign free = looked_q && at_fit_i && !is_reserved_i && allowed_q && !partitioned_i;
  `PROVE(RoomDecides_A, !free ||
         (goes == fits && search == (!fits && on_demand_i) &&
          no_room == (!fits && !on_demand_i) && {cancel, repartition, partition_full} == '0))
  // A TB goes with its SM's credit, and stays without.
  `PROVE(GoesWithCredit_A, !looked_q || (dispatch == (goes && (sm_q & ready_i) != '0) &&
         stays == (goes && !dispatch)))
  // Nothing in other cycles, nor for an SM that may not host the kernel any more.
  `PROVE(NothingElse_A, !looked_q || (at_fit_i && (is_reserved_i || allowed_q)) ||
         {goes, cancel, repartition, partition_full, no_room, search} == '0)
endmodule
