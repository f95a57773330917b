# SPDX-License-Identifier: Apache-2.0
#
# The netlist of one block for simulation: gates and flip-flops, ports as in the RTL. For the lockstep
# tests (tests/netlist), called by CMake, and for gates in a run (gates.tcl). Environment: SMK_TOP,
# SMK_FILES, SMK_INCLUDE, SMK_LIBERTY (empty: Yosys's own gates), SMK_OUT (the file).
yosys -import

# As in synth/yosys/block.tcl: larger memories become SRAM, and stay what they are.
set sram_words 64

proc read_rtl {options} {
  set includes [lmap folder $::env(SMK_INCLUDE) {string cat -I $folder}]
  yosys read_verilog -sv {*}$options {*}$includes {*}$::env(SMK_FILES)
}

# The module `top` of the design that was read as operators, memories and flip-flops.
proc operators {top} {
  yosys hierarchy -check -top $top
  procs
  yosys flatten
  yosys opt
  yosys wreduce
  yosys peepopt
  yosys opt_clean
  yosys alumacc
  yosys opt
}

# The module `top` of the design that was read, into the file `out`; it needs output_buffer.v beside it.
proc write_netlist {top liberty out} {
  operators $top
  yosys memory -nomap
  yosys opt_clean
  yosys memory_map t:\$mem_v2 r:SIZE<$::sram_words %i
  yosys opt -undriven -fine
  yosys techmap
  yosys opt
  if {$liberty ne ""} {
    yosys read_liberty -lib $liberty
    yosys dfflibmap -liberty $liberty
    yosys abc -liberty $liberty
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
  yosys tee -q -o $out.txt stat
  yosys write_verilog -noattr $out
}

if {[info exists ::env(SMK_TOP)]} {
  read_rtl {}
  write_netlist $::env(SMK_TOP) $::env(SMK_LIBERTY) $::env(SMK_OUT)
}
