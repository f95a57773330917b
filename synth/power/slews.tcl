# SPDX-License-Identifier: Apache-2.0
#
# Slews of a netlist, and what OpenSTA says of its power when every net changes once in every cycle. Called by
# scripts/power: SMK_TOP, SMK_NETLIST, SMK_LIBERTY, SMK_PERIOD (ps) sta -exit -no_splash slews.tcl
read_liberty $::env(SMK_LIBERTY)
read_verilog $::env(SMK_NETLIST)
link_design $::env(SMK_TOP)
create_clock -name clk -period $::env(SMK_PERIOD) [get_ports clk_i]
set_input_transition 10 [all_inputs]
# A net without a clock behind it would not change in OpenSTA.
set_input_delay 0 -clock clk [all_inputs]
set_power_activity -global -activity 1 -duty 0.5
report_power -digits 9
foreach pin [get_pins */*] {
  if {[get_property $pin direction] eq "output"} {
    report_slews $pin
  }
}
