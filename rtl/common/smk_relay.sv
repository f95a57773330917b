// SPDX-License-Identifier: Apache-2.0
// smk_relay: registers on a long wire.
//
// Purpose     Pulses and their payload, some cycles later. A payload moves only with a pulse.
// Paper       none.
// Interface   pulse_i: any of these; payload_i counts with any pulse.
// Latency     Stages cycles; with none it is a wire.
// Throughput  One message per cycle.
// Reset       Nothing on its way.
// Model       model/control/sm/sm_link.h   Doc  docs/blocks/sm_link.md
`include "smk_assert.svh"

module smk_relay #(
  parameter int unsigned Stages       = 1,
  parameter int unsigned PulseWidth   = 1,
  parameter int unsigned PayloadWidth = 1
) (
  input  logic                    clk_i,
  input  logic                    rst_ni,
  input  logic [PulseWidth-1:0]   pulse_i,
  input  logic [PayloadWidth-1:0] payload_i,
  output logic [PulseWidth-1:0]   pulse_o,
  output logic [PayloadWidth-1:0] payload_o,
  // Something is on its way.
  output logic                    busy_o
);
  if (Stages == 0) begin : gen_wire
    logic [1:0] unused_clock;
    assign unused_clock = {clk_i, rst_ni};
    assign pulse_o      = pulse_i;
    assign payload_o    = payload_i;
    assign busy_o       = 1'b0;
  end else begin : gen_stages
    logic [Stages*PulseWidth-1:0]   pulse_q;
    logic [Stages*PayloadWidth-1:0] payload_q;
    for (genvar s = 0; s < Stages; s++) begin : gen_stage
      logic [PulseWidth-1:0]   pulse;
      logic [PayloadWidth-1:0] payload;
      if (s == 0) begin : gen_first
        assign pulse   = pulse_i;
        assign payload = payload_i;
      end else begin : gen_next
        assign pulse   = pulse_q[(s-1)*PulseWidth +: PulseWidth];
        assign payload = payload_q[(s-1)*PayloadWidth +: PayloadWidth];
      end
      always_ff @(posedge clk_i or negedge rst_ni) begin
        if (!rst_ni) pulse_q[s*PulseWidth +: PulseWidth] <= '0;
        else         pulse_q[s*PulseWidth +: PulseWidth] <= pulse;
      end
      // Not reset: it counts with its pulse.
      always_ff @(posedge clk_i) if (pulse != '0) payload_q[s*PayloadWidth +: PayloadWidth] <= payload;
    end
    assign pulse_o   = pulse_q[(Stages-1)*PulseWidth +: PulseWidth];
    assign payload_o = payload_q[(Stages-1)*PayloadWidth +: PayloadWidth];
    assign busy_o    = pulse_q != '0;
    // Conservation: what comes in goes out, and nothing else.
    logic [31:0] unused_in_q, unused_out_q;
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) begin
        unused_in_q  <= '0;
        unused_out_q <= '0;
      end else begin
        unused_in_q  <= unused_in_q + 32'($countones(pulse_i));
        unused_out_q <= unused_out_q + 32'($countones(pulse_o));
      end
    end
    `SMK_ASSERT(PulsesConserved_A, unused_in_q == unused_out_q + 32'($countones(pulse_q)))
  end
endmodule
