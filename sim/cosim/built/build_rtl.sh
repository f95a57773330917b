#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Verilates and compiles the RTL of one configuration. Called by smk rtl build:
#   build_rtl.sh part NAME MODULE FILE LEVEL [FOLDER...]   one of the parts that --control rtl evaluates
#                                     apart: NAME.o, NAME/*.h. A block that a FOLDER has is made of gates
#                                     (synth/yosys/gates.tcl), everything else of RTL.
#   build_rtl.sh lanes NAME CLASS FILE   a block as gates on words in which every instance is a bit
#                                     (synth/lanes): NAME.o, NAME/NAME.h
#   build_rtl.sh link OBJECT GATES WORD...   the shared object of the parts: -IFOLDER/NAME and FOLDER/NAME.o
#                                     of each. Which blocks are gates is written beside it.
#   build_rtl.sh chip                 chip.so, smk_top as one model
# Environment: SMK_RTL, SMK_SIM, SMK_MODEL, SMK_SYNTH (folders of sources), SMK_CONFIG (the folder of
# smk_config.svh), SMK_OUT (where all is made), CXX.
set -eu
what=$1
shift
cd "$SMK_OUT"
CXX=${CXX:-c++}
root=$(verilator --getenv VERILATOR_ROOT)

# verilate PART MODULE FILE [FOLDER...]: class Vbuilt_cosim_<part>, in one translation unit. -fno-reloop,
# -fno-const...: Verilator 5.006 gets some loops over wide registers and some trees of bits wrong. The driver has
# nothing apart when something in it is gates.
verilate() {
  part=$1 module=$2 file=$3 define=
  shift 3
  if [ "$part" = driver ] && [ $# -eq 0 ]; then
    define=-DSIM_APART
    set -- "$SMK_SIM/cosim/apart"
  fi
  # What is found first is taken: gates before RTL.
  count=$#
  while [ "$count" -gt 0 ]; do
    if [ -e "$1/$module.sv" ]; then file=$1/$module.sv; fi
    set -- "$@" -y "$1"
    shift
    count=$((count - 1))
  done
  set -- "$@" -v "$SMK_SYNTH/yosys/output_buffer.v" -v "$SMK_SYNTH/cells/smk45.v" -y "$SMK_RTL/common"
  for folder in "$SMK_RTL"/driver/* "$SMK_RTL"/sm/*; do set -- "$@" -y "$folder"; done
  verilator --cc --assert -fno-const-bit-op-tree -fno-reloop --top-module "$module" \
    --prefix "Vbuilt_cosim_$part" --Mdir "$part" "-I$SMK_RTL/common" "-I$SMK_CONFIG" $define "$@" \
    "-I$SMK_SIM/cosim/apart" \
    "$SMK_RTL/lint.vlt" "$SMK_RTL/common/smk_pkg.sv" "$file"
  for unit in "$part"/*.cpp; do
    case $unit in
      *__ALL.cpp) ;;
      *) echo "#include \"${unit##*/}\"" ;;
    esac
  done >"$part/all.cc"
}

# compile OBJECT LEVEL SOURCE FLAG...
compile() {
  compiled=$1 level=$2 source=$3
  shift 3
  "$CXX" -std=c++17 "$level" -w -fPIC -fvisibility=hidden -ffp-contract=off \
    -DVM_COVERAGE=0 -DVM_SC=0 -DVM_TRACE=0 -DVM_TRACE_FST=0 -DVM_TRACE_VCD=0 \
    "-I$SMK_MODEL" "-I$SMK_SIM" "$@" \
    -isystem "$root/include" -isystem "$root/include/vltstd" -c -o "$compiled" "$source"
}

library() {
  compile verilated.o -O2 "$root/include/verilated.cpp"
  compile threads.o -O2 "$root/include/verilated_threads.cpp"
}
link() {
  linked=$1
  shift
  "$CXX" -shared -Wl,-Bsymbolic,--no-undefined -o "$linked" ./*.o "$@" -lpthread
}

case $what in
  part)
    name=$1 module=$2 file=$3 level=$4
    shift 4
    verilate "$name" "$module" "$file" "$@"
    compile "$name.o" "$level" "$name/all.cc" "-I$name"
    find "$name" -type f ! -name '*.h' -delete
    ;;
  lanes)
    name=$1 class=$2 file=$3
    mkdir -p "$name"
    python3 -B "$SMK_SYNTH/lanes/make_lanes.py" --yosys yosys --rtl "$SMK_RTL" --config "$SMK_CONFIG" \
      --module "$file" --class "$class" --out "$name/$name"
    compile "$name.o" -Os "$name/$name.cc" -fomit-frame-pointer
    find "$name" -type f ! -name '*.h' -delete
    ;;
  link)
    object=$1 gates=$2
    shift 2
    echo "$gates" >gates.txt
    library
    # Neither minds the other's words.
    case $object in
      compiled.so) compile control.o -O2 "$SMK_SIM/cosim/built/built_lanes.cc" "$@" ;;
      *) compile control.o -O2 "$SMK_SIM/cosim/built/built_rtl.cc" "$@" ;;
    esac
    link "$object" "$@"
    rm ./*.o
    ;;
  chip)
    verilate top smk_top "$SMK_RTL/top/smk_top.sv"
    compile top.o -O1 top/all.cc -Itop &
    top=$!
    library
    compile control.o -O2 "$SMK_SIM/cosim/built/built_chip.cc" -Itop
    wait "$top"
    link chip.so
    rm -r top ./*.o
    ;;
esac
