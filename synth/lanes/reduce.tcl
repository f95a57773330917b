# SPDX-License-Identifier: Apache-2.0
#
# Logic with fewer gates, for logic.py. Environment: SMK_IN, SMK_OUT (JSON). As few gates as possible, however many come
# one after the other; no gate with an inverted output, which would be two operations of a processor.
yosys -import

yosys read_json $::env(SMK_IN)
yosys abc -g AND,OR,XOR,ANDNOT -script "+strash;dc2;dch;map,-a"
yosys opt_clean
yosys write_json $::env(SMK_OUT)
