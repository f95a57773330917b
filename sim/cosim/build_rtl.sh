#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Verilates and compiles the RTL of one configuration into a shared object: with parts rtl.so, the parts
# that --control rtl evaluates apart; with chip chip.so, smk_top as one model. Called by smk rtl build.
# Environment: SMK_RTL, SMK_SIM, SMK_MODEL (folders of sources), SMK_CONFIG (the folder of
# smk_config.svh), SMK_OUT (where all is made), CXX.
set -eu
what=$1
cd "$SMK_OUT"
CXX=${CXX:-c++}
root=$(verilator --getenv VERILATOR_ROOT)

# verilate PART MODULE FILE: class Vbuilt_cosim_<part>, in one translation unit. -fno-reloop, -fno-const...:
# Verilator 5.006 gets some loops over wide registers and some trees of bits wrong.
verilate() {
  part=$1 module=$2 file=$3
  set -- -y "$SMK_RTL/common"
  for folder in "$SMK_RTL"/driver/* "$SMK_RTL"/sm/*; do set -- "$@" -y "$folder"; done
  verilator --cc --assert -fno-const-bit-op-tree -fno-reloop --top-module "$module" \
    --prefix "Vbuilt_cosim_$part" --Mdir "$part" "-I$SMK_RTL/common" "-I$SMK_CONFIG" "$@" \
    "$SMK_RTL/lint.vlt" "$SMK_RTL/common/smk_pkg.sv" "$file"
  for unit in "$part"/*.cpp; do
    case $unit in
      *__ALL.cpp) ;;
      *) echo "#include \"${unit##*/}\"" ;;
    esac
  done >"$part/all.cc"
}

# compile OBJECT LEVEL SOURCE
compile() {
  "$CXX" -std=c++17 "$2" -w -fPIC -fvisibility=hidden -ffp-contract=off \
    -DVM_COVERAGE=0 -DVM_SC=0 -DVM_TRACE=0 -DVM_TRACE_FST=0 -DVM_TRACE_VCD=0 \
    "-I$SMK_MODEL" "-I$SMK_SIM" -Idriver -Itables -Ischeduler -Iprofile -Isample -Itop \
    -isystem "$root/include" -isystem "$root/include/vltstd" -c -o "$1" "$3"
}

library() {
  compile verilated.o -O2 "$root/include/verilated.cpp"
  compile threads.o -O2 "$root/include/verilated_threads.cpp"
}
link() { "$CXX" -shared -Wl,-Bsymbolic,--no-undefined -o "$1" ./*.o -lpthread; }

if [ "$what" = chip ]; then
  verilate top smk_top "$SMK_RTL/top/smk_top.sv"
  compile top.o -O1 top/all.cc &
  top=$!
  library
  compile control.o -O2 "$SMK_SIM/cosim/built_chip.cc"
  wait "$top"
  link chip.so
  rm -r top ./*.o
  exit
fi
verilate driver smk_driver "$SMK_RTL/driver/driver/smk_driver.sv"
verilate tables smk_sm_tables "$SMK_RTL/sm/sm_control/smk_sm_tables.sv"
verilate scheduler sim_quota_scheduler "$SMK_SIM/cosim/sim_quota_scheduler.sv"
verilate profile smk_sm_profile "$SMK_RTL/sm/sm_control/smk_sm_profile.sv"
verilate sample smk_sm_sample "$SMK_RTL/sm/sm_control/smk_sm_sample.sv"

# The driver is large and runs in few cycles, an SM's parts run in most. Two at a time.
compile driver.o -O1 driver/all.cc &
driver=$!
compile tables.o -O2 tables/all.cc
compile scheduler.o -O2 scheduler/all.cc
compile profile.o -O2 profile/all.cc
compile sample.o -O2 sample/all.cc
library
compile control.o -O2 "$SMK_SIM/cosim/built_rtl.cc"
wait "$driver"
link rtl.so
rm -r driver tables scheduler profile sample ./*.o
