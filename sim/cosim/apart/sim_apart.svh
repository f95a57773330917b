// SPDX-License-Identifier: Apache-2.0
// What the driver's blocks that are evaluated apart hear and say: see sim_driver.
`ifndef SIM_APART_SVH
`define SIM_APART_SVH

typedef struct packed {
  logic                                 enable;
  logic [smk_pkg::TokenWindowWidth-1:0] window;
  smk_pkg::token_quota_t                quota;
  smk_pkg::token_share_vec_t            request;
  smk_pkg::token_share_vec_t            limit;
  smk_pkg::kernel_mask_t                demand;
  smk_pkg::kernel_mask_t                resident;
} sim_arbiter_hears_t;

typedef struct packed {
  logic            assigns;
  smk_pkg::token_t token;
} sim_arbiter_says_t;

typedef struct packed {
  logic                            start;
  smk_pkg::kernel_mask_t           kernels;
  logic                            stop;
  logic                            settled;
  smk_pkg::kernel_mask_t           able;
  logic [15:0]                     warmup;
  logic [15:0]                     settle;
  logic [15:0]                     window;
  logic [15:0]                     delay;
  logic [2:0]                      change;
  logic [3:0]                      sustain;
  smk_pkg::need_vec_t              need;
  logic [smk_pkg::SampleWidth-1:0] issued;
  logic [smk_pkg::SampleWidth-1:0] stalled;
  logic                            planned;
} sim_profiler_hears_t;

typedef struct packed {
  smk_pkg::sm_id_t                 count_sm;
  logic                            window;
  logic                            give_valid;
  smk_pkg::sm_id_t                 give_sm;
  smk_pkg::kernel_id_t             give_kernel;
  smk_pkg::tb_cnt_t                give_tbs;
  logic                            sample_valid;
  smk_pkg::kernel_id_t             sample_kernel;
  smk_pkg::tb_cnt_t                sample_tbs;
  logic [smk_pkg::SampleWidth-1:0] sample_performance;
  logic                            plan;
  smk_pkg::kernel_mask_t           kernels;
  logic                            profiling;
} sim_profiler_says_t;

// Payloads count with their bit, and are zero without it.
typedef struct packed {
  logic                  arrives;
  smk_pkg::kernel_mask_t arrive_kernel;
  smk_pkg::tb_need_t     arrive_need;
  logic                  leaves;
  smk_pkg::kernel_id_t   leave_kernel;
} sim_usage_hears_t;

typedef struct packed {
  smk_pkg::tb_cnt_vec_t                          resident;
  smk_pkg::kernel_mask_t                         some;
  smk_pkg::resource_vector_t                     taken;
  // Without each kernel, and without nobody.
  logic [smk_pkg::NumKernels:0][smk_pkg::ShareWidth-1:0] shares;
} sim_usage_says_t;

// All but the start is zero while nothing is planned.
typedef struct packed {
  logic                    start;
  smk_pkg::kernel_mask_t   kernels;
  smk_pkg::sm_id_t         sm;
  smk_pkg::kernel_mask_t   apart;
  smk_pkg::dispatch_mode_e mode;
  smk_pkg::tb_cnt_vec_t    table_tbs;
  logic                    last_at_end;
  smk_pkg::need_vec_t      need;
  smk_pkg::share_vec_t     tb_share;
  smk_pkg::order_vec_t     order;
} sim_planner_hears_t;

typedef struct packed {
  logic                  busy;
  logic                  done;
  smk_pkg::kernel_mask_t kernels;
  logic                  anywhere;
  smk_pkg::range_vec_t   range;
} sim_planner_says_t;

`endif
