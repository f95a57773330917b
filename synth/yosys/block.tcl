# SPDX-License-Identifier: Apache-2.0
#
# Synthesizes one module for a standard cell library. Called by smk synth; by hand:
#   SMK_TOP=smk_quota_scheduler \
#   SMK_FILES="rtl/common/smk_pkg.sv rtl/sm/quota_scheduler/smk_quota_scheduler.sv" \
#   SMK_INCLUDE="rtl/common rtl/config/gtx980" SMK_LIBERTY=cells.lib SMK_PERIOD_PS=822 SMK_OUT=/tmp/out \
#   yosys -c synth/yosys/block.tcl
#
# Writes into SMK_OUT: cells.txt (what it is made of), memories.txt (bits that become SRAM) and
# netlist.v. Modules named in SMK_BOXES are left out and keep their ports.
yosys -import

proc from_environment {name default} {
  return [expr {[info exists ::env($name)] ? $::env($name) : $default}]
}
set top $::env(SMK_TOP)
set liberty $::env(SMK_LIBERTY)
set out $::env(SMK_OUT)
# What the gates between two registers should take. The registers need 17 % of the period themselves;
# asked for less than is left, abc does not shrink gates until they just miss it.
set target_ps [expr {int($::env(SMK_PERIOD_PS) * 0.75)}]
# Memories of at least so many words become SRAM; smaller ones flip-flops.
set sram_words 64

yosys read_verilog -sv {*}[lmap folder $::env(SMK_INCLUDE) {string cat -I $folder}] {*}$::env(SMK_FILES)
foreach box [from_environment SMK_BOXES ""] {
  yosys blackbox $box
}
yosys hierarchy -check -top $top
procs
yosys check -assert
yosys flatten
yosys opt
yosys memory -nomap
yosys opt_clean
# An SRAM becomes ports of the block, so that what leads to it and from it stays and is timed.
yosys tee -q -o $out/memories.txt log Memories:
yosys tee -q -a $out/memories.txt dump t:\$mem_v2 r:SIZE>=$sram_words %i
yosys select -set sram t:\$mem_v2 r:SIZE>=$sram_words %i
yosys expose -evert @sram
yosys memory_map

yosys synth -noshare -flatten -run fine: -top $top
# Registers are called after what they drive, so that a timing report can be read.
yosys splitnets
yosys rename -wire -suffix _reg t:\$_*DFF*
yosys dfflibmap -liberty $liberty
# Inputs and registers drive like a small buffer, so that what fans out far gets buffers; outputs
# drive some gates (fF).
set constraints {}
if {[from_environment SMK_DRIVER ""] ne ""} {
  set constraints [list -constr $out/constraints.txt]
  set file [open $out/constraints.txt w]
  puts $file "set_driving_cell $::env(SMK_DRIVER)\nset_load 20"
  close $file
}
# Area-oriented structure first, then sizes and buffers for the clock; with SMK_WIRES, for one that
# has the library's default wires to load.
set wires [expr {[from_environment SMK_WIRES ""] eq "" ? "" : ",-c"}]
set script "+strash;dch;map,-B,0.9,-D,$target_ps;topo;buffer,-c"
append script ";upsize$wires,-D,$target_ps;dnsize$wires,-D,$target_ps"
yosys abc -liberty $liberty {*}$constraints -script $script
yosys setundef -zero
yosys splitnets
yosys opt_clean -purge
yosys tee -q -o $out/cells.txt stat -liberty $liberty
yosys write_verilog -noattr -noexpr $out/netlist.v
