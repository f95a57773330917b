// SPDX-License-Identifier: Apache-2.0
// Proof of smk_driver_held, from its ports alone, for any kernels that arrived one after the other.
`include "formal.svh"

module formal_driver_held (
  input logic                  clk_i,
  input logic                  enable_i,
  input smk_pkg::order_vec_t   order_i,
  input smk_pkg::kernel_mask_t able_i,
  input smk_pkg::sm_kernels_t  allowed_i,
  // Any two kernels and SM.
  input smk_pkg::kernel_id_t   older_i,
  input smk_pkg::kernel_id_t   younger_i,
  input smk_pkg::sm_id_t       sm_i
);
  localparam int unsigned NumKernels = smk_pkg::NumKernels;

  `FORMAL_RESET
  smk_pkg::kernel_mask_t held;
  smk_driver_held u_dut (
    .clk_i, .rst_ni, .enable_i, .order_i, .able_i, .allowed_i,
    .held_o(held)
  );

  // The watched SM might host the older one in the cycle before, and it has TBs that are on no SM.
  smk_pkg::sm_kernels_t  allowed_q;
  always_ff @(posedge clk_i) allowed_q <= rst_ni ? allowed_i : '0;
  smk_pkg::kernel_mask_t hosts;
  logic                  waits, is_older;
  assign hosts    = allowed_q.sm[sm_i];
  assign waits    = hosts[older_i] && able_i[older_i];
  assign is_older = order_i.kernel[older_i] < order_i.kernel[younger_i];
  `PROVE(YoungerWaits_A, !(enable_i && waits && is_older) || held[younger_i])
  // Who is younger than one that is held, is held as well.
  `PROVE(HeldByAge_A, !held[older_i] || !is_older || held[younger_i])
  // Who is held has somebody who goes, older, and on some SM: of those that wait and have one, not all are.
  smk_pkg::kernel_mask_t hosted, goes, older;
  always_comb begin
    hosted = '0;
    for (int unsigned s = 0; s < smk_pkg::NumSms; s++) hosted = hosted | allowed_q.sm[s];
    for (int unsigned k = 0; k < NumKernels; k++) begin
      goes[k]  = hosted[k] && able_i[k] && !held[k];
      older[k] = order_i.kernel[k] < order_i.kernel[younger_i];
    end
  end
  `PROVE(SomebodyOlderGoes_A, !held[younger_i] || (enable_i && (goes & older) != '0))
endmodule
