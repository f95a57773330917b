# SPDX-License-Identifier: Apache-2.0
#
# Repairs paths that are too slow in a design that is linked and constrained, across the borders of its
# blocks: mapping block by block cannot do that, a flow with placement does. Sourced by block.tcl.
#
#   repair_timing CHANGES FILE   makes one change at a time, the one that helps most, until all paths are
#                                met, nothing helps or so many are made. FILE gets a line for each.
#
# A change is another size, "gate NAND2_X1 NAND2_X2", or two inputs that are exchanged, "gate A1 A2". The
# type of a cell is what stands before "_X" in its name; the inputs of a NAND, NOR, AND or OR are equal. No
# gate is added or gets another function, so the logic is what it was. What helps: the sum of all negative
# slacks is less, and the worst one no worse. Wires, hold and limits of slew and load are not looked at.

set most_paths 20  ;# that are looked at, from the worst one on, until one can be helped

# The cells of every type, smallest first.
proc find_sizes {} {
  global sizes full_name
  foreach cell [get_lib_cells */*] {
    set name [get_property $cell base_name]
    if {[regexp {^(.+)_X([0-9]+)$} $name all type drive]} {
      lappend drives($type) [list $drive $name]
      set full_name($name) [get_full_name $cell]
    }
  }
  foreach type [array names drives] {
    set sizes($type) [lmap size [lsort -integer -index 0 $drives($type)] {lindex $size 1}]
  }
}

# The gates of a path, registers among them: gate, cell, input that the path takes or nothing.
proc gates_of {end} {
  set gates {}
  set input ""
  foreach point [get_property $end points] {
    set pin [get_property $point pin]
    if {![regexp {^(.*)/([^/]*)$} [get_full_name $pin] all gate port]} continue
    if {[get_property $pin direction] eq "input"} {
      set input $port
    } else {
      lappend gates [list $gate [get_property [sta::find_instance $gate] ref_name] $input]
    }
  }
  return $gates
}

# The next two cells of its type that are larger, as changes.
proc larger_cells {gate cell} {
  global sizes
  if {![regexp {^(.+)_X[0-9]+$} $cell all type] || ![info exists sizes($type)]} {return {}}
  set at [lsearch -exact $sizes($type) $cell]
  return [lmap larger [lrange $sizes($type) [expr {$at + 1}] [expr {$at + 2}]] {list $gate $cell $larger}]
}

# An input and each other one of a gate whose inputs are equal, as changes.
proc other_inputs {gate cell input} {
  if {$input eq "" || ![regexp {^(?:N?AND|N?OR)[2-4]_X[0-9]+$} $cell]} {return {}}
  set changes {}
  foreach pin [get_pins -of_objects [sta::find_instance $gate]] {
    set port [file tail [get_full_name $pin]]
    if {[get_property $pin direction] eq "input" && $port ne $input} {
      lappend changes [list $gate $input $port]
    }
  }
  return $changes
}

# Makes a change; `from` and `to` the other way round take it back. Returns whether it could be made.
proc change {gate from to} {
  global full_name
  if {[info exists full_name($to)]} {
    return [replace_cell [sta::find_instance $gate] $full_name($to)]
  }
  set instance [sta::find_instance $gate]
  set pins [lmap port [list $from $to] {$instance find_pin $port}]
  set nets [lmap pin $pins {$pin net}]
  if {[lsearch $nets NULL] >= 0} {return 0}
  foreach pin $pins {sta::disconnect_pin_cmd $pin}
  foreach port [list $to $from] net $nets {
    sta::connect_pin_cmd $instance [[$instance cell] find_port $port] $net
  }
  return 1
}

# What the sum of negative slacks gains by a change, which is taken back: 0 when the worst one loses.
proc gain_of {change worst sum} {
  lassign $change gate from to
  if {![change $gate $from $to]} {return 0}
  set gain [expr {[sta::worst_slack] < $worst ? 0 : [sta::total_negative_slack] - $sum}]
  change $gate $to $from
  return $gain
}

# The change that gains most on the first of the paths that gains by any; nothing when none does.
proc best_change {worst sum} {
  global most_paths
  set ends [find_timing_paths -path_delay max -slack_max 0 -group_count $most_paths]
  # A path is no more when its gates change.
  set paths [lmap end $ends {gates_of $end}]
  foreach gates $paths {
    set best 0
    foreach gate $gates {
      if {[info exists tried($gate)]} continue
      set tried($gate) 1
      lassign $gate name cell input
      foreach change [concat [larger_cells $name $cell] [other_inputs $name $cell $input]] {
        set gain [gain_of $change $worst $sum]
        if {$gain > $best} {
          set best $gain
          set chosen $change
        }
      }
    }
    if {$best > 0} {return $chosen}
  }
  return {}
}

proc repair_timing {changes file} {
  find_sizes
  set out [open $file w]
  for {set made 0} {$made < $changes && [sta::worst_slack] < 0} {incr made} {
    set chosen [best_change [sta::worst_slack] [sta::total_negative_slack]]
    if {$chosen eq ""} break
    change {*}$chosen
    puts $out [join $chosen " "]
  }
  close $out
}
