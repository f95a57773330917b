# SPDX-License-Identifier: Apache-2.0
#
# One netlist with many mutants of a block: the input mutsel chooses one, 0 none. Called by CMake.
# Environment: SMK_TOP, SMK_INCLUDE, SMK_FILES, SMK_KEPT (blocks inside that get no mutants, but their ports do),
# SMK_MUTANTS (how many), SMK_SEED, SMK_OUT (a folder).
# First writes base.il, base.json (what is changed) and all.txt (what could be); then, with mutants.txt
# (line N is mutant N, as a command for Yosys), mutants.v.
yosys -import

set out $::env(SMK_OUT)
set includes [lmap folder $::env(SMK_INCLUDE) {string cat -I $folder}]
yosys read_verilog -sv {*}$includes {*}$::env(SMK_FILES)
foreach block $::env(SMK_KEPT) {
  yosys blackbox smk_$block
}
yosys hierarchy -check -top $::env(SMK_TOP)
procs
yosys flatten
yosys opt
yosys memory -nomap
# What is constant, unused or there twice would only give mutants that nobody can see.
yosys wreduce
yosys opt -full -fine
yosys opt_clean
if {![file exists $out/mutants.txt]} {
  yosys write_rtlil $out/base.il
  yosys write_json $out/base.json
  # Some are of bits that are constant anyway: make_mutants.py drops them, and calls again.
  yosys mutate -list [expr {$::env(SMK_MUTANTS) * 3}] -seed $::env(SMK_SEED) -o $out/all.txt
  exit
}
set file [open $out/mutants.txt]
set mutants [split [string trim [read $file]] "\n"]
close $file
set number 0
foreach mutant $mutants {
  incr number
  # Not as a list: names hold backslashes and brackets.
  yosys {*}[split [string map [list "mutate " "mutate -ctrl mutsel 10 $number "] $mutant] " "]
}
yosys splitnets
yosys opt_clean
yosys write_verilog -noattr $out/mutants.v
