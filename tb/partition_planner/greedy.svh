// SPDX-License-Identifier: Apache-2.0
// Part of formal_partition_planner: the plan itself (Fig. 6 and 8), TB by TB, from what TBs need.

  localparam int unsigned NumKernels = smk_pkg::NumKernels;
  typedef struct packed {logic [NumKernels-1:0][15:0] kernel;} amounts_t;

  // For which kernels the plan is, and who goes first of equal ones.
  smk_pkg::kernel_mask_t of_q;
  smk_pkg::kernel_id_t   first, first_q;
  // TBs of each kernel, planned so far; who may have one more, and who gets it.
  smk_pkg::tb_cnt_vec_t  planned_q;
  smk_pkg::kernel_mask_t may, next;

  // What each kernel has by then, all have, and one of each needs.
  amounts_t          registers, shared_memory, threads, tbs, share;
  logic [15:0]       all_registers, all_shared_memory, all_threads, all_tbs;
  logic [15:0]       one_registers, one_shared_memory, one_threads;
  smk_pkg::tb_need_t its_need;
  always_comb begin
    {all_registers, all_shared_memory, all_threads, all_tbs} = '0;
    {one_registers, one_shared_memory, one_threads} = '0;
    for (int unsigned k = 0; k < NumKernels; k++) begin
      its_need = need_q.kernel[k];
      tbs.kernel[k]           = 16'(planned_q.kernel[k]);
      registers.kernel[k]     = tbs.kernel[k] * 16'(its_need.registers);
      shared_memory.kernel[k] = tbs.kernel[k] * 16'(its_need.shared_memory);
      threads.kernel[k]       = tbs.kernel[k] * 16'(its_need.threads);
      share.kernel[k]         = tbs.kernel[k] * 16'(tb_share_q.kernel[k]);
      all_registers     = all_registers + registers.kernel[k];
      all_shared_memory = all_shared_memory + shared_memory.kernel[k];
      all_threads       = all_threads + threads.kernel[k];
      all_tbs           = all_tbs + tbs.kernel[k];
      if (kernels_i[k]) begin
        one_registers     = one_registers + 16'(its_need.registers);
        one_shared_memory = one_shared_memory + 16'(its_need.shared_memory);
        one_threads       = one_threads + 16'(its_need.threads);
      end
    end
  end

  // When not one TB of each fits, of the n kernels of every p-th SM the (SM / p mod n)-th goes first
  // [D4]; else the lowest id.
  logic [7:0] sharers, rank, turn;
  logic       each_fits;
  always_comb begin
    sharers = '0;
    for (int unsigned k = 0; k < NumKernels; k++) sharers = sharers + 8'(kernels_i[k]);
    turn = '0;
    for (int unsigned p = 1; p <= NumKernels; p++) begin
      for (int unsigned n = 1; n <= NumKernels; n++) begin
        if (apart_i[p-1] && 32'(sharers) == n) turn = 8'(sm_i) / 8'(p) % 8'(n);
      end
    end
    first = '0;
    rank  = '0;
    for (int unsigned k = 0; k < NumKernels; k++) begin
      if (kernels_i[k] && rank == turn) first = smk_pkg::KernelWidth'(k);
      rank = rank + 8'(kernels_i[k]);
    end
    each_fits = 32'(one_registers) <= smk_pkg::LimitRegisters &&
                32'(one_threads) <= smk_pkg::LimitThreads &&
                32'(one_shared_memory) <= smk_pkg::LimitSharedMemory;
    if (each_fits) first = '0;
  end
  logic each_fits_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni)      each_fits_q <= 1'b0;
    else if (start_i) each_fits_q <= each_fits;
  end

  // Who may have one TB more: it fits with all others. Under the even split it is the first of its
  // kernel [D4], or fits into an n-th of the SM; under a fixed table the table allows it.
  logic [7:0]        sharers_q;
  logic              more_fits, more_even;
  smk_pkg::tb_need_t more;
  always_comb begin
    for (int unsigned k = 0; k < NumKernels; k++) begin
      more      = need_q.kernel[k];
      more_fits = 32'(all_registers) + 32'(more.registers) <= smk_pkg::LimitRegisters &&
                  32'(all_shared_memory) + 32'(more.shared_memory) <= smk_pkg::LimitSharedMemory &&
                  32'(all_threads) + 32'(more.threads) <= smk_pkg::LimitThreads &&
                  32'(all_tbs) + 1 <= smk_pkg::LimitTbs;
      more_even = tbs.kernel[k] == '0;
      for (int unsigned n = 1; n <= NumKernels; n++) begin
        if (32'(sharers_q) == n &&
            32'(registers.kernel[k]) + 32'(more.registers) <= smk_pkg::LimitRegisters / n &&
            32'(shared_memory.kernel[k]) + 32'(more.shared_memory) <= smk_pkg::LimitSharedMemory / n &&
            32'(threads.kernel[k]) + 32'(more.threads) <= smk_pkg::LimitThreads / n &&
            32'(tbs.kernel[k]) + 1 <= smk_pkg::LimitTbs / n) more_even = 1'b1;
      end
      may[k] = of_q[k] && more_fits &&
               (mode_q != smk_pkg::DispatchEven || more_even) &&
               (mode_q != smk_pkg::DispatchTable || planned_q.kernel[k] < table_tbs_q.kernel[k]);
    end
  end

  // Of those the one with the lowest share; of equal ones that with more TBs, then the earlier from
  // the first on [D3].
  logic [7:0] place_j, place_k;
  always_comb begin
    for (int unsigned k = 0; k < NumKernels; k++) begin
      next[k] = may[k];
      for (int unsigned j = 0; j < NumKernels; j++) begin
        place_j = 8'(j) < 8'(first_q) ? 8'(j) + 8'(NumKernels) : 8'(j);
        place_k = 8'(k) < 8'(first_q) ? 8'(k) + 8'(NumKernels) : 8'(k);
        if (may[j] && {share.kernel[j], ~tbs.kernel[j], place_j} <
                      {share.kernel[k], ~tbs.kernel[k], place_k}) next[k] = 1'b0;
      end
    end
  end
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      {of_q, first_q, sharers_q, planned_q} <= '0;
    end else if (start_i) begin
      {of_q, first_q, sharers_q, planned_q} <= {kernels_i, first, sharers, {$bits(planned_q){1'b0}}};
    end else begin
      for (int unsigned k = 0; k < NumKernels; k++) begin
        if (next[k]) planned_q.kernel[k] <= planned_q.kernel[k] + 1'b1;
      end
    end
  end

  // Each kernel's range has room for its TBs, and begins where those of the older kernels end; the
  // youngest's ends with the SM, if so.
  logic [NumKernels-1:0]     as_planned, laid_out, nothing;
  smk_pkg::partition_range_t its;
  logic [15:0]               base_registers, base_shared_memory, base_threads, base_tbs;
  logic                      younger;
  always_comb begin
    for (int unsigned k = 0; k < NumKernels; k++) begin
      its = range.kernel[k];
      younger = 1'b0;
      {base_registers, base_shared_memory, base_threads, base_tbs} = '0;
      for (int unsigned j = 0; j < NumKernels; j++) begin
        if (of_q[j] && order_q.kernel[j] < order_q.kernel[k]) begin
          base_registers     = base_registers + registers.kernel[j];
          base_shared_memory = base_shared_memory + shared_memory.kernel[j];
          base_threads       = base_threads + threads.kernel[j];
          base_tbs           = base_tbs + tbs.kernel[j];
        end
        if (of_q[j] && order_q.kernel[j] > order_q.kernel[k]) younger = 1'b1;
      end
      if (last_at_end_q && !younger) begin
        base_registers     = 16'(smk_pkg::LimitRegisters) - registers.kernel[k];
        base_shared_memory = 16'(smk_pkg::LimitSharedMemory) - shared_memory.kernel[k];
        base_threads       = 16'(smk_pkg::LimitThreads) - threads.kernel[k];
        base_tbs           = 16'(smk_pkg::LimitTbs) - tbs.kernel[k];
      end
      nothing[k]    = its == '0;
      as_planned[k] = its.tb_count == planned_q.kernel[k];
      laid_out[k]   = !of_q[k] || (
          16'(its.registers_base) == base_registers && 16'(its.threads_base) == base_threads &&
          16'(its.shared_memory_base) == base_shared_memory && 16'(its.tb_base) == base_tbs &&
          16'(its.registers_limit) == base_registers + registers.kernel[k] &&
          16'(its.shared_memory_limit) == base_shared_memory + shared_memory.kernel[k] &&
          16'(its.threads_limit) == base_threads + threads.kernel[k]);
    end
  end
  logic planned_now_q;
  always_ff @(posedge clk_i) planned_now_q <= rst_ni && !start_i && (done || planned_now_q);
  logic is_plan;
  assign is_plan = done || planned_now_q;
  // The plan is that of Fig. 6, an even split or the table; nobody may have one TB more.
  `PROVE(PlanIsGreedy_A, !is_plan || (may == '0 && kernels == of_q && as_planned == '1))
  // Ranges lie in order of arrival, without gaps [D5] but one before the youngest's.
  `PROVE(RangesInOrder_A, !is_plan || (laid_out == '1 && (nothing | of_q) == '1))

  // Inside: what is planned so far, and what is left of the SM.
  `WATCH([NumKernels*smk_pkg::TbCntWidth-1:0], dut_tbs, u_dut.tbs_q)
  `WATCH([NumKernels*smk_pkg::NeedWidth-1:0], dut_part, u_dut.part_q)
  `WATCH([NumKernels*(smk_pkg::ShareWidth+2)-1:0], dut_share, u_dut.share_q)
  `WATCH([NumKernels-1:0], dut_kernels, u_dut.kernels_q)
  `WATCH([NumKernels-1:0], dut_first, u_dut.first_q)
  `WATCH([NumKernels*NumKernels-1:0], dut_at_place, u_dut.at_place_q)
  `WATCH([NumKernels-1:0], dut_last, u_dut.last_q)
  `WATCH([NumKernels-1:0], dut_sharers, u_dut.sharers_q)
  `WATCH([0:0], dut_at_end, u_dut.at_end_q)
  `WATCH([smk_pkg::BasesWidth-1:0], dut_room, u_dut.room_q)
  smk_pkg::resource_vector_t room;
  assign room = dut_room;
  logic [NumKernels-1:0] part_is, share_is;
  smk_pkg::tb_need_t     its_part;
  always_comb begin
    for (int unsigned k = 0; k < NumKernels; k++) begin
      its_part    = dut_part[k*smk_pkg::NeedWidth +: smk_pkg::NeedWidth];
      part_is[k]  = 16'(its_part.registers) == registers.kernel[k] &&
                    16'(its_part.shared_memory) == shared_memory.kernel[k] &&
                    16'(its_part.threads) == threads.kernel[k];
      share_is[k] = 16'(dut_share[k*(smk_pkg::ShareWidth+2) +: smk_pkg::ShareWidth+2]) ==
                    share.kernel[k];
    end
  end
  `PROVE(PlansTbByTb_A, dut_tbs == planned_q && part_is == '1 && share_is == '1)
  `PROVE(RoomIsLeft_A,
         32'(room.registers) + 32'(all_registers) == smk_pkg::LimitRegisters &&
         32'(room.shared_memory) + 32'(all_shared_memory) == smk_pkg::LimitSharedMemory &&
         32'(room.threads) + 32'(all_threads) == smk_pkg::LimitThreads &&
         32'(room.tbs) + 32'(all_tbs) == smk_pkg::LimitTbs)
  // The kernel at each place is the one that so many of them came before; the last one is apart.
  logic [NumKernels*NumKernels-1:0] is_at_place;
  logic [NumKernels-1:0]            is_last;
  logic [7:0]                       came_before;
  always_comb begin
    for (int unsigned k = 0; k < NumKernels; k++) begin
      came_before = '0;
      for (int unsigned j = 0; j < NumKernels; j++) begin
        if (of_q[j] && order_q.kernel[j] < order_q.kernel[k]) came_before = came_before + 1'b1;
      end
      is_last[k] = of_q[k] && came_before + 1'b1 == sharers_q;
      for (int unsigned p = 0; p < NumKernels; p++) begin
        is_at_place[p*NumKernels + k] = of_q[k] && 32'(came_before) == p && !is_last[k];
      end
    end
  end
  `PROVE(PlacesByArrival_A, dut_at_place == is_at_place && dut_last == is_last)
  // Where the last one ends stays as it was when the plan was made.
  `PROVE(EndAsPlanned_A, !is_plan || dut_at_end == last_at_end_q)
  // It says whether the plan is that of every SM.
  `PROVE(AnywhereIsAnySm_A, anywhere == each_fits_q)
  logic [NumKernels-1:0] is_first, is_sharers, more_than_0;
  always_comb begin
    for (int unsigned k = 0; k < NumKernels; k++) begin
      is_first[k]    = smk_pkg::KernelWidth'(k) == first_q;
      is_sharers[k]  = 32'(sharers_q) == k + 1;
      more_than_0[k] = of_q[k] || planned_q.kernel[k] == '0;
    end
  end
  `PROVE(PlanIsOfThese_A, dut_kernels == of_q && dut_sharers == is_sharers && more_than_0 == '1 &&
         32'(sharers_q) == $countones(of_q) &&
         (dut_first == is_first || (dut_first == '0 && first_q == '0)))
  // It is busy until nobody may have one TB more.
  `PROVE(BusyUntilPlanned_A, busy || may == '0)
