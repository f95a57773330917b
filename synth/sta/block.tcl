# SPDX-License-Identifier: Apache-2.0
#
# Times one netlist. Called by smk synth; by hand:
#   SMK_TOP=smk_quota_scheduler SMK_NETLISTS=netlist.v SMK_LIBERTY=cells.lib SMK_PERIOD=0.822 \
#   SMK_OUT=/tmp/out sta -exit -no_splash synth/sta/block.tcl
#
# SMK_PERIOD is in the library's unit of time. Writes the worst paths into SMK_OUT: timing.txt of
# all, registers.txt of those from register to register.
#
# What is assumed of a block's surroundings: one ideal clock, no wires, and
#   10 % of the period  spent outside before an input and behind an output,
#   50 % of the period  from the clock to the data of an SRAM,
#   no time at all      for the reset and for what is constant during a run.

# Inputs that are constant during a run: fields of policy_t and what the wiring makes of them.
set constant_inputs {
  rst_ni policy_i warp_policy_i mode_i table_tbs_i epoch_length_i linger_ticks_i spatial_i profile_i
  kernels_per_sm_i count_running_sms_i
}

proc constrain {period} {
  global constant_inputs
  create_clock -name clk -period $period [get_ports clk_i]
  set outside [expr {0.1 * $period}]
  foreach port [all_inputs] {
    set name [get_full_name $port]
    regsub {\[[0-9]+\]$} $name {} word
    if {$name eq "clk_i" || [string match *_CLK $word]} continue
    if {[lsearch -exact $constant_inputs $word] >= 0} {
      set_false_path -from $port
    } elseif {[string match *.RD_DATA $word]} {
      set_input_delay [expr {0.5 * $period}] -clock clk $port
    } else {
      set_input_delay $outside -clock clk $port
    }
  }
  set_output_delay $outside -clock clk [all_outputs]
}

read_liberty $::env(SMK_LIBERTY)
foreach netlist $::env(SMK_NETLISTS) {
  read_verilog $netlist
}
link_design $::env(SMK_TOP)
constrain $::env(SMK_PERIOD)
report_checks -path_delay max -digits 4 > $::env(SMK_OUT)/timing.txt
report_checks -path_delay max -digits 4 -from [all_registers -clock_pins] \
  -to [all_registers -data_pins] > $::env(SMK_OUT)/registers.txt
