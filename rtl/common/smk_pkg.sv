// SPDX-License-Identifier: Apache-2.0
// smk_pkg: the numbers of one configuration, the types made of them, and the messages.
//
// Purpose     One place for every width and limit. The numbers themselves are in smk_config.svh:
//             of the one folder of rtl/config that is searched for it. (In Yosys 0.23 no package
//             can name another one.)
// Paper       [SMK] Table 4 (gtx980); [Warped-Slicer] Table I (fermi); [SMK] Sec. 5, Fig. 3.
// Interface   Written out with its name wherever it is used: smk_pkg::kernel_id_t.
// Model       model/base/ids.h, model/base/resources.h, model/control/control_plane.h, messages.h
// Vectors over kernels, slots or warps are packed structs with one array member: Yosys 0.23 builds
// a packed array of a named type one element wide.
package smk_pkg;

  // NumSms SMs of the GPU, NumKernels kernel slots, NumSchedulers warp schedulers per SM,
  // WarpsPerScheduler warp slots per scheduler. LimitRegisters, LimitSharedMemory, LimitThreads,
  // LimitTbs: resources of one SM, in allocation units. PreemptedDepth: preempted TBs of one kernel
  // that can wait. ShareWhole: the share that is all of an SM, a common multiple of the limits.
`include "smk_config.svh"

  // 128-byte lines in a context at most: registers, shared memory, one per warp, one of barriers.
  parameter int unsigned LineBytes         /*verilator public_flat_rd*/ = 128;
  parameter int unsigned MaxContextLines   /*verilator public_flat_rd*/ =
      LimitRegisters * 8 + LimitSharedMemory * 2 + LimitThreads + 1;
  parameter int unsigned NumWarps          /*verilator public_flat_rd*/ =
      NumSchedulers * WarpsPerScheduler;
  parameter int unsigned NumSlots          /*verilator public_flat_rd*/ = LimitTbs;
  // A resource's share is its amount times its weight: exact, without division.
  parameter int unsigned WeightRegisters    = ShareWhole / LimitRegisters;
  parameter int unsigned WeightSharedMemory = ShareWhole / LimitSharedMemory;
  parameter int unsigned WeightThreads      = ShareWhole / LimitThreads;
  parameter int unsigned WeightTbs          = ShareWhole / LimitTbs;

  // Widths: ids ...
  parameter int unsigned SmWidth           = (NumSms > 1) ? $clog2(NumSms) : 1;
  parameter int unsigned KernelWidth       = $clog2(NumKernels);
  parameter int unsigned WarpWidth         = $clog2(NumWarps);
  parameter int unsigned SlotWidth         = (NumSlots > 1) ? $clog2(NumSlots) : 1;
  parameter int unsigned BufferWidth       = $clog2(PreemptedDepth);
  // (of a warp within its scheduler)
  parameter int unsigned GrantWidth        = $clog2(WarpsPerScheduler);
  parameter int unsigned TbIdWidth         /*verilator public_flat_rd*/ = 32;
  parameter int unsigned AddressWidth      /*verilator public_flat_rd*/ = 48;
  // ... and amounts, which reach their limit.
  parameter int unsigned RegisterCntWidth  = $clog2(LimitRegisters + 1);
  parameter int unsigned SharedCntWidth    = $clog2(LimitSharedMemory + 1);
  parameter int unsigned ThreadCntWidth    = $clog2(LimitThreads + 1);
  parameter int unsigned TbCntWidth        = $clog2(LimitTbs + 1);
  parameter int unsigned LineWidth         = $clog2(MaxContextLines + 1);
  parameter int unsigned LogLinesWidth     = $clog2(LineWidth + 1);
  parameter int unsigned DoneWidth         = 8;
  parameter int unsigned QuotaWidth        /*verilator public_flat_rd*/ = 16;
  parameter int unsigned IssuedWidth       /*verilator public_flat_rd*/ = 16;
  // Share of one TB or of one SM; rK x NumSms, signed: with room reserved on every SM, and below
  // zero for a moment when TBs that are on their way out finish.
  parameter int unsigned ShareWidth        = $clog2(ShareWhole + 1);
  parameter int unsigned TotalShareWidth   = $clog2(2 * NumSms * ShareWhole + 1) + 1;
  // Numbers of kernels and of context buffers, which reach their limit; LatencyScale; ticks.
  parameter int unsigned KernelCntWidth    = $clog2(NumKernels + 1);
  parameter int unsigned BufferCntWidth    = $clog2(PreemptedDepth + 1);
  parameter int unsigned ScaleWidth        = 8;
  parameter int unsigned LingerWidth       = 16;
  // Of a count of a window, of a performance; of what several kernels lose of theirs.
  parameter int unsigned SampleWidth       /*verilator public_flat_rd*/ = 16;
  parameter int unsigned LossWidth         /*verilator public_flat_rd*/ =
      SampleWidth + KernelCntWidth;

  // The usage window of tokens: log2 of its units and of its buckets; log2 of a unit's cycles at
  // most, which is also how many bits count them. Of a token's cycles; of log2 of the window's.
  parameter int unsigned TokenUnitsLog2    /*verilator public_flat_rd*/ = 10;
  parameter int unsigned TokenBucketsLog2  /*verilator public_flat_rd*/ = 3;
  parameter int unsigned TokenUnitWidth    /*verilator public_flat_rd*/ = 14;
  parameter int unsigned TokenQuotaWidth   /*verilator public_flat_rd*/ = 24;
  parameter int unsigned TokenWindowWidth  /*verilator public_flat_rd*/ = 5;
  parameter int unsigned TokenShareWidth   /*verilator public_flat_rd*/ = TokenUnitsLog2 + 1;

  // Chimera: an SM's time in units of 2^TimeUnitLog2 cycles; its limit in cycles; log2 of the cycles
  // that a context line is said to take.
  parameter int unsigned TimeUnitLog2      /*verilator public_flat_rd*/ = 4;
  parameter int unsigned TimeWidth         /*verilator public_flat_rd*/ = 24;
  parameter int unsigned ChimeraLimitWidth /*verilator public_flat_rd*/ = 24;
  parameter int unsigned ChimeraLineWidth  /*verilator public_flat_rd*/ = 3;

  typedef logic [SmWidth-1:0]       sm_id_t;
  typedef logic [KernelWidth-1:0]   kernel_id_t;
  typedef logic [WarpWidth-1:0]     warp_id_t;
  typedef logic [SlotWidth-1:0]     tb_slot_t;
  typedef logic [TbIdWidth-1:0]     tb_id_t;
  typedef logic [BufferWidth-1:0]   buffer_t;
  typedef logic [LineWidth-1:0]     line_t;
  typedef logic [DoneWidth-1:0]     done_t;
  typedef logic [AddressWidth-1:0]  address_t;
  typedef logic [TbCntWidth-1:0]    tb_cnt_t;
  typedef logic [ThreadCntWidth-1:0] thread_cnt_t;
  typedef logic [QuotaWidth-1:0]    quota_t;
  typedef logic [ShareWidth-1:0]    share_t;
  typedef logic [ShareWidth+1:0]    triple_t;
  typedef logic [BufferCntWidth-1:0] buffer_cnt_t;
  typedef logic [KernelCntWidth-1:0] kernel_cnt_t;
  typedef logic [NumSms-1:0]        sm_mask_t;
  typedef logic [NumKernels-1:0]    kernel_mask_t;
  typedef logic [NumSlots-1:0]      slot_mask_t;
  typedef logic [NumWarps-1:0]      warp_mask_t;
  // The warp slots of one scheduler, and one of them.
  typedef logic [WarpsPerScheduler-1:0] grant_mask_t;
  typedef logic [GrantWidth-1:0]    grant_warp_t;

  // Vectors over kernels, SMs and schedulers.
  typedef struct packed {logic [NumKernels-1:0][TbIdWidth-1:0] kernel;} tb_id_vec_t;
  typedef struct packed {logic [NumKernels-1:0][TbCntWidth-1:0] kernel;} tb_cnt_vec_t;
  typedef struct packed {logic [NumKernels-1:0][KernelWidth-1:0] kernel;} order_vec_t;
  typedef struct packed {logic [NumKernels-1:0][ShareWidth-1:0] kernel;} share_vec_t;
  typedef struct packed {logic [NumSms-1:0][ShareWidth-1:0] sm;} sm_shares_t;
  // rK x NumSms, not below zero.
  typedef logic [TotalShareWidth-1:0] total_share_t;
  typedef struct packed {logic [NumKernels-1:0][TotalShareWidth-1:0] kernel;} total_share_vec_t;
  typedef struct packed {logic [NumKernels-1:0][BufferCntWidth-1:0] kernel;} buffer_cnt_vec_t;
  typedef struct packed {logic [NumSms-1:0][NumKernels-1:0] sm;} sm_kernels_t;
  typedef struct packed {logic [NumSms-1:0][KernelWidth-1:0] sm;} sm_kernel_id_t;
  typedef struct packed {logic [NumKernels-1:0][NumSms-1:0] kernel;} kernel_sms_t;
  // TBs of one kernel, and counts of a window, on every SM.
  typedef struct packed {logic [NumSms-1:0][TbCntWidth-1:0] sm;} sm_tb_cnt_t;
  typedef struct packed {logic [NumSms-1:0][SampleWidth-1:0] sm;} sm_samples_t;
  // TBs of each kernel (tb_cnt_vec_t) on every SM.
  typedef struct packed {logic [NumSms-1:0][NumKernels*TbCntWidth-1:0] sm;} sm_tb_cnts_t;
  // Instructions of each kernel (issued_vec_t) on every SM.
  typedef struct packed {logic [NumSms-1:0][NumKernels*IssuedWidth-1:0] sm;} sm_issued_t;
  typedef struct packed {logic [NumSchedulers-1:0][WarpsPerScheduler-1:0] scheduler;}
      scheduler_warps_t;
  typedef struct packed {logic [NumSchedulers-1:0][GrantWidth-1:0] scheduler;}
      grant_warps_t;
  typedef struct packed {logic [NumKernels-1:0][QuotaWidth-1:0] kernel;} quota_vec_t;
  typedef struct packed {logic [NumKernels-1:0][IssuedWidth-1:0] kernel;} issued_vec_t;
  // Units of the usage window of each kernel slot; cycles of a token.
  typedef struct packed {logic [NumKernels-1:0][TokenShareWidth-1:0] kernel;} token_share_vec_t;
  typedef logic [TokenQuotaWidth-1:0] token_quota_t;
  typedef logic [TimeWidth-1:0]     sm_time_t;
  typedef struct packed {logic [NumKernels-1:0][NumSlots-1:0] kernel;} kernel_slots_t;
  typedef struct packed {logic [NumSchedulers-1:0][KernelWidth-1:0] scheduler;} grant_kernels_t;
  typedef struct packed {logic [NumKernels-1:0][NumSchedulers-1:0] kernel;} kernel_schedulers_t;

  // The four resources of SMK Sec. 5.2.
  typedef struct packed {
    logic [RegisterCntWidth-1:0] registers;
    logic [SharedCntWidth-1:0]   shared_memory;
    logic [ThreadCntWidth-1:0]   threads;
    logic [TbCntWidth-1:0]       tbs;
  } resource_vector_t;

  // What one TB needs; it is always one TB.
  typedef struct packed {
    logic [RegisterCntWidth-1:0] registers;
    logic [SharedCntWidth-1:0]   shared_memory;
    logic [ThreadCntWidth-1:0]   threads;
  } tb_need_t;
  parameter int unsigned NeedWidth = RegisterCntWidth + SharedCntWidth + ThreadCntWidth;
  typedef struct packed {logic [NumKernels-1:0][NeedWidth-1:0] kernel;} need_vec_t;

  typedef enum logic [2:0] {DispatchLeftover, DispatchEven, DispatchSpatial, DispatchOnDemand,
                            DispatchPartitioned, DispatchTable, DispatchSlicer, DispatchToken}
      dispatch_mode_e;
  typedef enum logic {WarpPolicyGto, WarpPolicyLrr} warp_policy_e;
  typedef enum logic {EpochSpent, EpochTick} epoch_end_e;
  typedef enum logic [1:0] {PreemptSwitch, PreemptDrain, PreemptFlush, PreemptChimera}
      preempt_mode_e;
  typedef enum logic {ReleaseSaved, ReleaseFlushed} tb_release_e;
  typedef enum logic [2:0] {LaunchNone, LaunchTooLarge, LaunchSlotBusy, LaunchNoTbs,
                            LaunchBadSlot} launch_error_e;

  // Configuration inputs: constant during a run.
  typedef struct packed {
    dispatch_mode_e          dispatch;
    preempt_mode_e           preempt;
    warp_policy_e            warp_policy;
    logic                    quota_enable;
    logic                    stream;         // TBs one per cycle, where room is a question of the SM alone
    logic                    quota_gate;     // quotas are not only worked out, but put in force
    epoch_end_e              epoch_end;      // with the last quota, or with each tick as well
    logic                    preempt_guard;  // room that a kernel gained by preemption is not lost at once
    logic                    leftover_strict;  // under left-over, older kernels dispatch all their TBs first
    kernel_cnt_t             kernels_per_sm;
    tb_cnt_vec_t             table_tbs;      // TBs per SM of each kernel, under DispatchTable
    quota_t                  epoch_length;   // instructions per scheduler and epoch
    logic [LingerWidth-1:0]  linger_ticks;   // before a finished kernel's place is given away
    logic [ScaleWidth-1:0]   latency_scale;  // slows every decision of the driver
    // Under DispatchSlicer: cycles before the first window of a profile, before each further one, of
    // a window, and before a plan is asked for.
    logic [15:0]             slicer_warmup;
    logic [15:0]             slicer_settle;
    logic [15:0]             slicer_window;
    logic [15:0]             slicer_delay;
    logic [2:0]              slicer_change;   // IPC has changed by more than 2^-change of it ...
    logic [3:0]              slicer_sustain;  // ... in so many windows; 0: never
    logic [LossWidth-1:0]    slicer_loss;     // what all kernels together may lose
    // Under DispatchToken: log2 of the cycles of the usage window, cycles of a token, and what each
    // kernel slot shall and may have of the window, in units.
    logic [TokenWindowWidth-1:0] token_window;
    token_quota_t                token_quota;
    token_share_vec_t            token_request;
    token_share_vec_t            token_limit;
    // Under PreemptChimera: cycles within which an SM shall be free; log2 of the cycles of a line.
    logic [ChimeraLimitWidth-1:0] chimera_limit;
    logic [ChimeraLineWidth-1:0]  chimera_line;
  } policy_t;

  // What an SM hears of this; enable: each TB leaves in the way that costs least.
  typedef struct packed {
    logic                         enable;
    logic [ChimeraLimitWidth-1:0] limit;
    logic [ChimeraLineWidth-1:0]  line;
  } chimera_t;

  // What the host says of a kernel; wide enough to ask for more than an SM has.
  typedef struct packed {
    logic [15:0] registers;
    logic [15:0] shared_memory;
    logic [15:0] threads;
    tb_id_t      first_tb;  // index of the first TB: 0, or the start of a slice of the grid
    tb_id_t      tb_count;  // TBs of the launch
    address_t    context_base;
  } kernel_descriptor_t;

  // Where one kernel's TBs live on an SM: [base, limit) of each resource; the TB in slot
  // tb_base + i owns the i-th aligned part. The bases are the upper half.
  typedef struct packed {
    logic [RegisterCntWidth-1:0] registers_base;
    logic [SharedCntWidth-1:0]   shared_memory_base;
    logic [ThreadCntWidth-1:0]   threads_base;
    logic [TbCntWidth-1:0]       tb_base;
    logic [RegisterCntWidth-1:0] registers_limit;
    logic [SharedCntWidth-1:0]   shared_memory_limit;
    logic [ThreadCntWidth-1:0]   threads_limit;
    logic [TbCntWidth-1:0]       tb_count;
  } partition_range_t;
  parameter int unsigned BasesWidth =
      RegisterCntWidth + SharedCntWidth + ThreadCntWidth + TbCntWidth;
  typedef struct packed {logic [NumKernels-1:0][2*BasesWidth-1:0] kernel;} range_vec_t;
  // What is taken of every SM (resource_vector_t).
  typedef struct packed {logic [NumSms-1:0][BasesWidth-1:0] sm;} sm_taken_t;

  typedef enum logic [2:0] {CommandDispatch, CommandPreempt, CommandPartition, CommandEvict,
                            CommandQuota} command_op_e;

  // Driver to SM, stream.
  typedef struct packed {
    command_op_e      op;
    kernel_id_t       kernel;
    tb_id_t           tb;
    logic             restore;
    buffer_t          buffer;
    tb_cnt_t          count;
    preempt_mode_e    mode;
    partition_range_t range;
    logic             first;
    logic             last;
    quota_t           quota;
  } sm_command_t;

  typedef enum logic [2:0] {EventFinished, EventSaved, EventFlushed, EventBufferFree,
                            EventSettled} event_kind_e;

  // SM to driver, pulse. After Saved, Flushed and BufferFree the SM waits for an acknowledgement.
  typedef struct packed {
    logic        valid;
    event_kind_e kind;
    kernel_id_t  kernel;
    tb_id_t      tb;
    buffer_t     buffer;
    logic        counted;
    tb_cnt_t     shortfall;
  } sm_event_t;

  parameter int unsigned EventWidth =
      1 + 3 + KernelWidth + TbIdWidth + BufferWidth + 1 + TbCntWidth;
  typedef struct packed {logic [NumSms-1:0][EventWidth-1:0] sm;} sm_events_t;

  // A preempted TB that waits; restart: it was flushed and has no context.
  typedef struct packed {
    tb_id_t  tb;
    buffer_t buffer;
    logic    restart;
  } preempted_entry_t;

  // What smk_tb_dispatch tells the driver's other blocks, in the cycle after a decision.
  typedef struct packed {
    logic         plan_start;
    kernel_mask_t plan_kernels;
    logic         dispatch_new;       // the kernel's next TB
    logic         pop;                // the kernel's first preempted TB
    logic         dispatch;           // any of the two
    logic         dispatch_reserved;
    logic         reserve;
    logic         cancel;
    logic         preempt;
    kernel_id_t   kernel;
    sm_id_t       sm;
    kernel_id_t   victim;
    tb_cnt_t      victim_tbs;
  } dispatch_pulses_t;

  // A TB on its way to an SM: one bit each, and its kernel and what it needs, for every four SMs:
  // nothing for those among which its SM is not. One register for all of them would be slow.
  parameter int unsigned NumSmGroups = (NumSms + 3) / 4;
  typedef struct packed {logic [NumSmGroups-1:0][NeedWidth-1:0] group;} group_needs_t;
  typedef struct packed {logic [NumSmGroups-1:0][NumKernels-1:0] group;} group_kernels_t;
  typedef struct packed {
    sm_mask_t       sms;
    group_kernels_t kernels;
    group_needs_t   needs;
  } tb_arrival_t;

  typedef enum logic [3:0] {ReasonDispatchNew, ReasonDispatchRestored, ReasonDispatchRestarted,
                            ReasonPreempt, ReasonNoVictim, ReasonRangeNotReduced,
                            ReasonPartitionFull, ReasonNoRoom, ReasonRepartition, ReasonEvictSm,
                            ReasonQueueFull, ReasonRoomComing} decision_reason_e;

  // The steps of a dispatch decision, and the cycles of the last but three.
  typedef enum logic [3:0] {StIdle, StMask, StSm, StLook, StFit, StVictimSm, StVictimLook,
                            StVictimKernel, StCount, StRange, StPlan, StSendPlan, StSend}
      dispatch_step_e;
  parameter int unsigned RangeSteps = 7;

  // What a dispatch decision does in a cycle: one of these, or none.
  typedef struct packed {
    logic evict;
    logic dispatch;
    logic cancel;
    logic repartition;
    logic partition_full;
    logic no_room;
    logic room_coming;
    logic no_victim;
    logic not_reduced;
    logic queue_full;
    logic preempt;
    logic send_plan;
  } dispatch_act_t;

  // One dispatch decision, in the cycle in which it is made: for logs and waveforms.
  typedef struct packed {
    logic             valid;
    decision_reason_e reason;
    kernel_id_t       kernel;
    sm_id_t           sm;
    tb_id_t           tb;
    kernel_id_t       victim;
    tb_cnt_t          victim_tbs;
  } decision_t;

  // Who has the GPU under DispatchToken: for statistics, from registers.
  typedef struct packed {
    kernel_mask_t holder;  // of the token: at most one
    kernel_mask_t user;    // to whom this cycle counts: at most one
    logic         given;   // the holder has got a token, the first one or another
    logic         over;    // the user's token has expired: overuse
  } token_t;

  // Where an SM finds the contexts of a kernel slot: registers of the driver. A context buffer has
  // 2^context_log2_lines lines, of which context_lines are used.
  typedef struct packed {
    address_t                 context_base;
    line_t                    context_lines;
    logic [LogLinesWidth-1:0] context_log2_lines;
  } context_view_t;
  parameter int unsigned ContextViewWidth = AddressWidth + LineWidth + LogLinesWidth;
  typedef struct packed {logic [NumKernels-1:0][ContextViewWidth-1:0] kernel;} context_views_t;

  // Where the registers and the shared memory of a TB begin, in allocation units.
  typedef struct packed {
    logic [RegisterCntWidth-1:0] registers;
    logic [SharedCntWidth-1:0]   shared_memory;
  } tb_base_t;

  // Occupies a warp slot. The payload counts only with valid.
  typedef struct packed {
    logic        valid;
    warp_id_t    warp;
    warp_id_t    warp_in_tb;
    tb_slot_t    tb_slot;
    kernel_id_t  kernel;
    tb_id_t      tb;
    logic        restore;
    tb_base_t    base;
  } warp_start_t;

  // One line of a context on its way to or from memory. The payload counts only with valid.
  typedef struct packed {
    logic     valid;
    logic     store;
    tb_slot_t tb_slot;
    line_t    line;
    address_t address;
  } context_request_t;

  // What the machine and the SMs tell each other, of all SMs.
  parameter int unsigned WarpStartWidth =
      1 + 2 * WarpWidth + SlotWidth + KernelWidth + TbIdWidth + 1 + RegisterCntWidth +
      SharedCntWidth;
  parameter int unsigned ContextRequestWidth = 1 + 1 + SlotWidth + LineWidth + AddressWidth;
  typedef struct packed {logic [NumSms-1:0][NumWarps-1:0] sm;} sm_ready_t;
  typedef struct packed {logic [NumSms-1:0][NumSlots-1:0] sm;} sm_slots_t;
  typedef struct packed {logic [NumSms-1:0][SlotWidth-1:0] sm;} sm_slot_id_t;
  typedef struct packed {logic [NumSms-1:0][DoneWidth-1:0] sm;} sm_done_t;
  typedef struct packed {logic [NumSms-1:0][NumSchedulers-1:0] sm;} sm_grants_t;
  typedef struct packed {logic [NumSms-1:0][NumKernels*NumSchedulers-1:0] sm;} sm_memory_t;
  typedef struct packed {logic [NumSms-1:0][NumSchedulers*GrantWidth-1:0] sm;} sm_grant_warps_t;
  typedef struct packed {logic [NumSms-1:0][WarpStartWidth-1:0] sm;} sm_warp_starts_t;
  typedef struct packed {logic [NumSms-1:0][ContextRequestWidth-1:0] sm;} sm_contexts_t;
  typedef struct packed {logic [NumSms-1:0][NumKernels*QuotaWidth-1:0] sm;} sm_quotas_t;

  // The lowest SM of a mask alone: as deep as the logarithm of the SMs.
  function automatic sm_mask_t lowest_sm(input sm_mask_t mask);
    sm_mask_t from;
    from = mask;
    for (int unsigned step = 1; step < NumSms; step = 2 * step) from = from | (from << step);
    lowest_sm = mask & ~(from << 1);
  endfunction

  // The number of the only SM in a mask; 0 without one.
  function automatic sm_id_t index_of_sm(input sm_mask_t onehot);
    sm_mask_t has_bit;
    for (int unsigned b = 0; b < SmWidth; b++) begin
      for (int unsigned s = 0; s < NumSms; s++) has_bit[s] = onehot[s] && ((s >> b) & 1) != 0;
      index_of_sm[b] = has_bit != '0;
    end
  endfunction

  // The highest set bit alone.
  function automatic logic [63:0] highest_one(input logic [63:0] mask);
    logic [63:0] below;
    below = mask | (mask >> 1);
    below = below | (below >> 2);
    below = below | (below >> 4);
    below = below | (below >> 8);
    below = below | (below >> 16);
    below = below | (below >> 32);
    highest_one = below & ~(below >> 1);
  endfunction

  // The index of the only set bit; 0 without one.
  function automatic logic [5:0] index_of(input logic [63:0] onehot);
    index_of[0] = |(onehot & 64'hAAAA_AAAA_AAAA_AAAA);
    index_of[1] = |(onehot & 64'hCCCC_CCCC_CCCC_CCCC);
    index_of[2] = |(onehot & 64'hF0F0_F0F0_F0F0_F0F0);
    index_of[3] = |(onehot & 64'hFF00_FF00_FF00_FF00);
    index_of[4] = |(onehot & 64'hFFFF_0000_FFFF_0000);
    index_of[5] = |(onehot & 64'hFFFF_FFFF_0000_0000);
  endfunction

  // The same of kernels, TB slots and warp slots, each as wide as it is: what is not supported does
  // not fit, and lint sees it.
  function automatic kernel_id_t index_of_kernel(input kernel_mask_t onehot);
    logic [63:0] wide;
    logic [5:0]  index;
    wide          = '0;
    wide[NumKernels-1:0] = onehot;
    index         = index_of(wide);
    index_of_kernel = index[KernelWidth-1:0];
  endfunction
  function automatic tb_slot_t index_of_slot(input slot_mask_t onehot);
    logic [63:0] wide;
    logic [5:0]  index;
    wide          = '0;
    wide[NumSlots-1:0] = onehot;
    index         = index_of(wide);
    index_of_slot = index[SlotWidth-1:0];
  endfunction
  function automatic warp_id_t index_of_warp(input warp_mask_t onehot);
    logic [63:0] wide;
    logic [5:0]  index;
    wide          = '0;
    wide[NumWarps-1:0] = onehot;
    index         = index_of(wide);
    index_of_warp = index[WarpWidth-1:0];
  endfunction
  function automatic grant_warp_t index_of_grant(input grant_mask_t onehot);
    logic [63:0] wide;
    logic [5:0]  index;
    wide          = '0;
    wide[WarpsPerScheduler-1:0] = onehot;
    index         = index_of(wide);
    index_of_grant = index[GrantWidth-1:0];
  endfunction

  // The lowest and the highest of a mask alone.
  function automatic kernel_mask_t lowest_kernel(input kernel_mask_t mask);
    lowest_kernel = mask & (~mask + NumKernels'(1));
  endfunction
  function automatic slot_mask_t lowest_slot(input slot_mask_t mask);
    lowest_slot = mask & (~mask + NumSlots'(1));
  endfunction
  function automatic warp_mask_t lowest_warp(input warp_mask_t mask);
    lowest_warp = mask & (~mask + NumWarps'(1));
  endfunction
  function automatic slot_mask_t highest_slot(input slot_mask_t mask);
    logic [63:0] wide;
    wide                 = '0;
    wide[NumSlots-1:0]   = mask;
    wide                 = highest_one(wide);
    highest_slot         = wide[NumSlots-1:0];
  endfunction

  // Bits [from, limit) set.
  function automatic logic [63:0] bits_between(input logic [6:0] from, input logic [6:0] limit);
    bits_between = (64'hFFFF_FFFF_FFFF_FFFF << from) & ~(64'hFFFF_FFFF_FFFF_FFFF << limit);
  endfunction

endpackage
