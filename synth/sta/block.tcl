# SPDX-License-Identifier: Apache-2.0
#
# Times one netlist. Called by smk synth; by hand:
#   SMK_TOP=smk_quota_scheduler SMK_NETLISTS=netlist.v SMK_LIBERTY=cells.lib SMK_PERIOD=0.822 \
#   SMK_OUT=/tmp/out sta -exit -no_splash synth/sta/block.tcl
#
# SMK_PERIOD is in the library's unit of time, and so is SMK_UNCERTAINTY of the clock, which may be
# missing, as may SMK_SPEF, the wires of a layout, SMK_DERATE, a factor of all delays and checks of
# cells, and SMK_REPAIR, how many changes may repair paths before all is timed; then SMK_REPAIR_TCL is the
# path of repair.tcl, and repaired.txt has these changes. Writes into SMK_OUT the worst path of all (timing.txt) and from register to register
# (registers.txt), the shortest from register to register (hold.txt), when the reset may be let go
# (recovery.txt, removal.txt), and the pins whose slew (slew.txt) or load (load.txt) is above the
# library's limit.
#
# What is assumed of a block's surroundings: one ideal clock, the library's default wire load, and
#   10 % of the period  spent outside before an input and behind an output,
#   50 % of the period  from the clock to the data of an SRAM,
#   no time at all      for the tree of the reset, which is let go as an input changes, and for what is
#                       constant during a run.

# Inputs that are constant during a run: fields of policy_t and what the wiring makes of them.
set constant_inputs {
  policy_i warp_policy_i mode_i table_tbs_i epoch_length_i linger_ticks_i spatial_i profile_i
  kernels_per_sm_i count_running_sms_i
}

# A port has no pin when nothing inside reads or drives it, and cannot be constrained.
proc is_connected {port} {
  return [expr {[[sta::top_instance] find_pin [get_full_name $port]] ne "NULL"}]
}

proc constrain {period} {
  global constant_inputs
  create_clock -name clk -period $period [get_ports clk_i]
  if {[info exists ::env(SMK_UNCERTAINTY)] && $::env(SMK_UNCERTAINTY) > 0} {
    set_clock_uncertainty $::env(SMK_UNCERTAINTY) [get_clocks clk]
  }
  if {[info exists ::env(SMK_DERATE)]} {
    foreach which {-early -late} {
      set_timing_derate $which -cell_delay $::env(SMK_DERATE)
      set_timing_derate $which -cell_check $::env(SMK_DERATE)
    }
  }
  set outside [expr {0.1 * $period}]
  foreach port [all_inputs] {
    set name [get_full_name $port]
    # Bit 3 of a port is "port[3]", and port_3_ behind a layout.
    regsub {(\[[0-9]+\]|_[0-9]+_)$} $name {} word
    if {$name eq "clk_i" || [string match *_CLK $word]} continue
    if {![is_connected $port]} continue
    if {[lsearch -exact $constant_inputs $word] >= 0} {
      set_false_path -from $port
    } elseif {[string match *.RD_DATA $word]} {
      set_input_delay [expr {0.5 * $period}] -clock clk $port
    } else {
      set_input_delay $outside -clock clk $port
    }
  }
  foreach port [all_outputs] {
    if {[is_connected $port]} {set_output_delay $outside -clock clk $port}
  }
}

# The single bits of an expression of Yosys's netlists: names, slices, constants, concatenations.
proc bits_of {expression ranges} {
  upvar $ranges range
  set bits {}
  set token {(\\\S+|[A-Za-z_]\w*)\s*(?:\[(\d+)(?::(\d+))?\])?|(\d+)'([bh])([0-9a-f]+)}
  foreach {all name high low width base digits} [regexp -all -inline $token $expression] {
    if {$digits ne ""} {
      if {$base eq "h"} {
        set digits [join [lmap digit [split $digits {}] {format %04b 0x$digit}] ""]
      }
      set digits [string repeat 0 $width]$digits
      foreach digit [split [string range $digits end-[expr {$width - 1}] end] {}] {
        lappend bits 1'b$digit
      }
      continue
    }
    if {$high eq "" && ![info exists range($name)]} {
      lappend bits "$name "
      continue
    }
    if {$high eq ""} {lassign $range($name) high low}
    if {$low eq ""} {set low $high}
    for {set bit $high} {$bit >= $low} {incr bit -1} {
      lappend bits "$name \[$bit\]"
    }
  }
  return $bits
}

# OpenSTA takes no concatenation on the left of an assignment, and no parameters of an instance, which
# mean nothing behind synthesis; a layout's fillers have no pins and are in no library. A copy of the
# netlist without them.
proc plain_netlist {netlist copy} {
  set in [open $netlist]
  set out [open $copy w]
  while {[gets $in line] >= 0} {
    if {[regexp {^\s*(?:wire|input|output) \[(\d+):(\d+)\] (\S+)\s*;} $line all high low name]} {
      set range($name) [list $high $low]
    } elseif {[regexp {^  assign (\{.*\}) = (.*);$} $line all left right]} {
      foreach to [bits_of $left range] from [bits_of $right range] {
        puts $out "  assign $to = $from;"
      }
      continue
    }
    if {[regexp {^\s*\S+ \S+ \( *\);} $line]} continue
    if {[regexp {^(\s*\S+) #\($} $line all module]} {
      while {![regexp {^\s*\) (.*)$} [gets $in] all instance]} {}
      set line "$module $instance"
    }
    puts $out $line
  }
  close $in
  close $out
}

# What a library says of the most load of its outputs: name/pin to its unit.
proc load_limits {liberty} {
  set in [open $liberty]
  set cell ""
  set pin ""
  while {[gets $in line] >= 0} {
    regexp {^\s*cell\s*\(\s*"?(\w+)"?\s*\)} $line all cell
    regexp {^\s*pin\s*\(\s*"?(\w+)"?\s*\)} $line all pin
    if {[regexp {^\s*max_capacitance\s*:\s*"?([0-9.eE+-]+)} $line all value]} {
      set limit($cell/$pin) $value
    }
  }
  close $in
  return [array get limit]
}

# OpenSTA of 2019 does not compare loads with their limits.
proc report_loads {liberty file} {
  array set limit [load_limits $liberty]
  set corner [sta::cmd_corner]
  set out [open $file w]
  foreach cell [get_cells -hierarchical *] {
    set type [get_property $cell ref_name]
    foreach key [array names limit $type/*] {
      set name [file tail $key]
      set pin [$cell find_pin $name]
      if {$pin eq "NULL"} continue
      set net [$pin net]
      if {$net eq "NULL"} continue
      set load [sta::capacitance_sta_ui [$net capacitance rise $corner max]]
      if {$load > $limit($key)} {
        puts $out [format "%s/%s (%s) %.2f above %s (VIOLATED)" [get_full_name $cell] $name $type $load $limit($key)]
      }
    }
  }
  close $out
}

# OpenSTA goes on behind an error: one proc, so that nothing is timed when something is missing.
proc time_block {} {
  read_liberty $::env(SMK_LIBERTY)
  foreach netlist $::env(SMK_NETLISTS) {
    plain_netlist $netlist $::env(SMK_OUT)/copy.v
    if {![read_verilog $::env(SMK_OUT)/copy.v]} {
      error "$netlist cannot be read"
    }
    file delete $::env(SMK_OUT)/copy.v
  }
  # What is missing would be left out of every path.
  set ::link_make_black_boxes 0
  if {![link_design $::env(SMK_TOP)]} {
    error "$::env(SMK_TOP) is not whole"
  }
  if {[info exists ::env(SMK_SPEF)]} {
    read_spef $::env(SMK_SPEF)
  }
  constrain $::env(SMK_PERIOD)
  report_check_types -recovery -verbose -digits 4 > $::env(SMK_OUT)/recovery.txt
  report_check_types -removal -verbose -digits 4 > $::env(SMK_OUT)/removal.txt
  set_false_path -from [get_ports rst_ni]
  if {[info exists ::env(SMK_REPAIR)]} {
    source $::env(SMK_REPAIR_TCL)
    repair_timing $::env(SMK_REPAIR) $::env(SMK_OUT)/repaired.txt
  }
  report_checks -path_delay max -digits 4 > $::env(SMK_OUT)/timing.txt
  report_checks -path_delay max -digits 4 -from [all_registers -clock_pins] \
    -to [all_registers -data_pins] > $::env(SMK_OUT)/registers.txt
  report_checks -path_delay min -digits 4 -from [all_registers -clock_pins] \
    -to [all_registers -data_pins] > $::env(SMK_OUT)/hold.txt
  report_check_types -max_transition -all_violators -verbose > $::env(SMK_OUT)/slew.txt
  report_loads $::env(SMK_LIBERTY) $::env(SMK_OUT)/load.txt
}
time_block
