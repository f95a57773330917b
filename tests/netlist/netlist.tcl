# SPDX-License-Identifier: Apache-2.0
#
# The netlist of one block for the lockstep tests: gates and flip-flops, ports as in the RTL. Called
# by CMake. Environment: SMK_TOP, SMK_FILES, SMK_INCLUDE, SMK_LIBERTY (empty: Yosys's
# own gates), SMK_OUT (the file).
yosys -import

# As in synth/yosys/block.tcl: larger memories become SRAM, and stay what they are.
set sram_words 64

set includes [lmap folder $::env(SMK_INCLUDE) {string cat -I $folder}]
yosys read_verilog -sv {*}$includes {*}$::env(SMK_FILES)
yosys hierarchy -check -top $::env(SMK_TOP)
procs
yosys flatten
yosys opt
yosys wreduce
yosys peepopt
yosys opt_clean
yosys alumacc
yosys opt
yosys memory -nomap
yosys opt_clean
yosys memory_map t:\$mem_v2 r:SIZE<$sram_words %i
yosys opt -undriven -fine
yosys techmap
yosys opt
if {$::env(SMK_LIBERTY) ne ""} {
  yosys read_liberty -lib $::env(SMK_LIBERTY)
  yosys dfflibmap -liberty $::env(SMK_LIBERTY)
  yosys abc -liberty $::env(SMK_LIBERTY)
} else {
  yosys abc -fast
}
yosys opt_clean -purge
yosys setundef -zero
# Verilator evaluates whole vectors: bit by bit, and with outputs that nobody reads inside, nothing
# looks like a loop.
yosys check -assert
yosys iopadmap -bits -outpad output_buffer A:Y
yosys splitnets
yosys opt_clean -purge
yosys tee -q -o $::env(SMK_OUT).txt stat
yosys write_verilog -noattr $::env(SMK_OUT)
