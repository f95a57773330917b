# SPDX-License-Identifier: Apache-2.0
#
# The mapped netlist of one block as qflow's placement reads it: BLIF with one name per bit, constants as
# nets of the supply. Called by scripts/layout:
#   SMK_TOP=smk_quota_scheduler SMK_NETLIST=netlist.v SMK_LIBERTY=cells.lib SMK_OUT=out.blif yosys -c netlist.tcl
yosys -import

yosys read_liberty -lib -ignore_miss_dir $::env(SMK_LIBERTY)
yosys read_verilog $::env(SMK_NETLIST)
yosys hierarchy -check -top $::env(SMK_TOP)
# "policy_i[3]" is policy_i_3_ in every tool behind this; nets inside are n1, n2, ...
yosys splitnets -ports -format __
yosys rename -hide w:*
yosys rename -enumerate -pattern n% w:*
yosys opt_clean
yosys tee -q -o $::env(SMK_OUT).txt stat
yosys write_blif -gates -buf BUFX2 A Y -true - vdd -false - gnd -undef - gnd $::env(SMK_OUT)
