// SPDX-License-Identifier: Apache-2.0
// Part of formal_quota_calculator: the quota that a command carries, against [SMK] Sec. 5.4 and [D9].

  localparam int unsigned NumKernels  = smk_pkg::NumKernels;
  localparam int unsigned TbCntWidth  = smk_pkg::TbCntWidth;
  // issued x S, and C.
  localparam int unsigned CWidth      = smk_pkg::IssuedWidth + smk_pkg::TbCntWidth;
  localparam int unsigned ScaledWidth = smk_pkg::IssuedWidth + $clog2(smk_pkg::LimitTbs);
  typedef struct packed {logic [NumKernels-1:0][CWidth-1:0] kernel;} scaled_t;

  // The round: what was issued, and T, when it began; partitions have not changed since, and are what
  // the block requires.
  logic                  sound, busy_q, held, held_q;
  smk_pkg::issued_vec_t  issued_q;
  smk_pkg::tb_cnt_vec_t  alone;
  smk_pkg::sm_tb_cnts_t  partition_q;
  smk_pkg::quota_t       epoch_q;
  assign held = sound && (!busy_q || (held_q && partition_i == partition_q));
  always_ff @(posedge clk_i) begin
    busy_q      <= rst_ni && busy;
    held_q      <= held;
    partition_q <= partition_i;
    epoch_q     <= epoch_length_i;
    for (int unsigned k = 0; k < NumKernels; k++) begin
      if (!busy && profile_valid_i[k]) begin
        issued_q.kernel[k] <= profile_issued_i.kernel[k];
        alone.kernel[k]    <= profile_tbs_i.kernel[k];
      end
    end
  end

  // Inside: the partition that quotas are for.
  `WATCH([NumKernels*TbCntWidth-1:0], dut_last, u_dut.last_q)

  // S of every kernel, on the SM of a command or of the one worked for.
  smk_pkg::tb_cnt_vec_t  tbs;
  smk_pkg::kernel_mask_t sharing, lonely;
  assign tbs = (command_valid && held) ? partition_i.sm[command_sm] : dut_last;
  always_comb begin
    for (int unsigned k = 0; k < NumKernels; k++) begin
      sharing[k] = tbs.kernel[k] != '0;
      lonely[k]  = alone.kernel[k] == '0;
    end
  end

  // C = issued x S / T, rounded down; sum(C); the epoch less one for each kernel.
  scaled_t              c;
  logic [CWidth-1:0]    scaled, sum;
  smk_pkg::quota_t      rest;
  always_comb begin
    sum  = '0;
    rest = epoch_length_i;
    for (int unsigned k = 0; k < NumKernels; k++) begin
      scaled      = CWidth'(issued_q.kernel[k]) * CWidth'(tbs.kernel[k]);
      c.kernel[k] = lonely[k] ? '0 : scaled / alone.kernel[k];
      sum         = sum + c.kernel[k];
      rest        = rest - smk_pkg::QuotaWidth'(sharing[k]);
    end
  end
  // What is required: partitions fit; the epoch is constant and has an instruction for every kernel.
  logic [smk_pkg::NumSms-1:0] fits;
  logic [15:0]                all;
  smk_pkg::tb_cnt_vec_t       here;
  always_comb begin
    for (int unsigned s = 0; s < smk_pkg::NumSms; s++) begin
      here = partition_i.sm[s];
      all  = '0;
      for (int unsigned k = 0; k < NumKernels; k++) all = all + 16'(here.kernel[k]);
      fits[s] = 32'(all) <= smk_pkg::LimitTbs;
    end
  end
  assign sound = fits == '1 && 32'(epoch_length_i) > NumKernels &&
                 (!busy_q || epoch_length_i == epoch_q);
  logic is_fraction;
  formal_quota u_fraction (
    .c_i(c.kernel[command.kernel]), .sum_i(sum), .rest_i(rest), .quota_i(command.quota),
    .right_o(is_fraction)
  );
  `PROVE(QuotaIsFraction_A, !command_valid || !held || (sharing[command.kernel] && is_fraction))

  // Inside: what is known by then.
  `WATCH([2:0], dut_step, u_dut.step_q)
  `WATCH([NumKernels-1:0], dut_todo, u_dut.todo_q)
  `WATCH([NumKernels-1:0], dut_seen, u_dut.seen_q)
  `WATCH([NumKernels*smk_pkg::IssuedWidth-1:0], dut_issued, u_dut.issued_q)
  `WATCH([NumKernels*TbCntWidth-1:0], dut_alone, u_dut.alone_q)
  `WATCH([NumKernels*ScaledWidth-1:0], dut_value, u_dut.value_q)
  `WATCH([ScaledWidth-1:0], dut_sum, u_dut.sum_q)
  `WATCH([ScaledWidth-1:0], dut_low, u_dut.low_q)
  `WATCH([NumKernels-1:0], dut_result_of, u_dut.result_of_q)
  `WATCH([0:0], dut_result_is_c, u_dut.result_is_c_q)
  `WATCH([0:0], dut_last_valid, u_dut.last_valid_q)
  `WATCH([smk_pkg::KernelCntWidth-1:0], dut_sharers, u_dut.sharers_q)
  `WATCH([smk_pkg::NumSms-1:0], dut_at, u_dut.at_q)
  `WATCH([5:0], dut_cycles_left, u_dut.cycles_left_q)
  `WATCH([0:0], dut_load, u_dut.load_q)
  logic scales, divides, sends, serves;
  assign scales  = dut_step == 3'd5;
  assign divides = dut_step == 3'd6;
  assign sends   = dut_step == 3'd7;
  assign serves  = scales || divides || sends;
  logic                  shared;
  logic [NumKernels-1:0] lowest;  // the kernel worked on
  assign lowest = dut_todo & (~dut_todo + NumKernels'(1));
  assign shared = (sharing & (sharing - NumKernels'(1))) != '0;
  // The result that is being stored, and the sum of Cs by then.
  logic [NumKernels-1:0]  is_c, is_quota, right, knows, recorded;
  logic [ScaledWidth-1:0] its_value, sum_then;
  logic [CWidth-1:0]      sum_wanted;
  logic [7:0]             sharers;
  smk_pkg::quota_vec_t    its_quota;
  for (genvar k = 0; k < NumKernels; k++) begin : gen_right
    assign recorded[k] =
        dut_issued[k*smk_pkg::IssuedWidth +: smk_pkg::IssuedWidth] == issued_q.kernel[k] &&
        dut_alone[k*TbCntWidth +: TbCntWidth] == alone.kernel[k];
    formal_quota u_right (
      .c_i(c.kernel[k]), .sum_i(sum), .rest_i(rest), .quota_i(its_quota.kernel[k]), .right_o(right[k])
    );
  end
  always_comb begin
    sum_wanted = '0;
    sharers    = '0;
    for (int unsigned k = 0; k < NumKernels; k++) begin
      its_value = dut_result_of[k] ? dut_low : dut_value[k*ScaledWidth +: ScaledWidth];
      its_quota.kernel[k] = its_value[smk_pkg::QuotaWidth-1:0] +
                  smk_pkg::QuotaWidth'(dut_result_of[k] && !dut_result_is_c);
      is_c[k]     = CWidth'(its_value) == c.kernel[k] && !(dut_result_of[k] && !dut_result_is_c);
      is_quota[k] = right[k] && !(dut_result_of[k] && dut_result_is_c);
      knows[k]    = dut_seen[k] && !lonely[k] && recorded[k];
      sharers     = sharers + 8'(sharing[k]);
      if (sharing[k] && (divides || !dut_todo[k])) sum_wanted = sum_wanted + c.kernel[k];
    end
    sum_then = dut_sum + (dut_result_is_c && dut_result_of != '0 ? dut_low : '0);
  end
  `PROVE(KnowsWhatWasIssued_A, !busy || !held || !(serves || dut_last_valid) ||
         (sharing & ~knows) == '0)
  `PROVE(SeenIsRecorded_A, !busy || (dut_seen & (~recorded | lonely)) == '0)
  `PROVE(WorksForItsSm_A, (dut_at == (smk_pkg::NumSms'(1) << command_sm)) &&
         (!serves || (dut_last_valid && (dut_todo & ~sharing) == '0 && shared &&
                      (!held || dut_last == partition_i.sm[command_sm]))) &&
         (!(scales || divides) || (sharing & ~dut_todo) < lowest) &&
         (!sends || (dut_todo == '0) == (command_valid && command.last)) && (!command_valid || sends))
  `PROVE(CyclesAreCounted_A, dut_cycles_left != '0 && dut_cycles_left <= 6'd38 &&
         ((scales || divides) || dut_cycles_left == 6'd38) &&
         dut_load == (dut_cycles_left == 6'd38))
  `PROVE(ValuesAreC_A, !held || (
         (!scales || (sharing & ~dut_todo & ~is_c) == '0) &&
         (!divides || (sharing & dut_todo & ~is_c) == '0) &&
         (!(scales || divides) || CWidth'(sum_then) == sum_wanted)))
  `PROVE(ValuesAreQuotas_A, !held || (
         (!divides || (sharing & ~dut_todo & ~is_quota) == '0) &&
         (!sends || (sharing & ~is_quota) == '0) &&
         (!(busy && dut_last_valid && !serves) || (sharing & ~is_quota) == '0)))
  `PROVE(SharersAreCounted_A, !divides || 8'(dut_sharers) == sharers)
