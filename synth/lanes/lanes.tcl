# SPDX-License-Identifier: Apache-2.0
#
# One module as gates and flip-flops, for lanes of words: make_lanes.py makes C++ of it. Environment:
# SMK_BLOCK (the module), SMK_FILES, SMK_INCLUDE, SMK_OUT (the JSON).
yosys -import
source [file join [file dirname [info script]] .. yosys netlist.tcl]

read_rtl {}
operators $::env(SMK_BLOCK)
yosys memory
yosys opt -undriven -fine
yosys techmap
yosys opt
yosys opt_clean -purge
yosys setundef -zero
yosys check -assert
yosys write_json $::env(SMK_OUT)
