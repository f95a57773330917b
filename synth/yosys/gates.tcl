# SPDX-License-Identifier: Apache-2.0
#
# One block of a machine as gates, in place of its RTL: SMK_OUT/<block>.sv has the name, the parameters
# and the ports of the RTL; in it is one of the netlists <block>_gates<n>.v beside it, by its
# parameters. There is a netlist for every value that they have in the machine. Nothing is written
# when the machine has no such block. Called by smk rtl build --gates. Environment: SMK_BLOCK (the
# module), SMK_RTL (the folder rtl), SMK_CONFIG (the folder of smk_config.svh), SMK_LIBERTY (empty:
# Yosys's own gates), SMK_OUT (a folder).
yosys -import

set block $::env(SMK_BLOCK)
set rtl $::env(SMK_RTL)
set out $::env(SMK_OUT)
set files {}
foreach folder [concat [list $rtl/common $rtl/top] [glob $rtl/driver/* $rtl/sm/*]] {
  lappend files {*}[glob -nocomplain $folder/*.sv]
}
set package $rtl/common/smk_pkg.sv
# In order, so that the netlist does not depend on the file system's.
set files [concat [list $package] [lsort [lsearch -all -inline -not -exact $files $package]]]
set ::env(SMK_FILES) $files
set ::env(SMK_INCLUDE) [list $rtl/common $::env(SMK_CONFIG)]
source [file join [file dirname [info script]] netlist.tcl]

proc contents {path} {
  set file [open $path]
  set text [read $file]
  close $file
  return $text
}

# The block in the whole machine: as a module of its name, or of a name that Yosys gave it for its
# parameters.
read_rtl -defer
yosys hierarchy -check -top smk_top
yosys tee -q -o $out/list.txt ls
set modules {}
foreach line [split [contents $out/list.txt] \n] {
  set name [string trim $line]
  if {$name eq $block || [regexp {^\$paramod} $name] && $block in [split $name \\]} {
    lappend modules $name
  }
}

# Everything of the RTL's text up to the end of the ports.
set source [lsearch -inline $files */$block.sv]
regexp "(?:^|\n)(module $block\\M.*?\n\\);)" [contents $source] all header
regsub -all {//[^\n]*} $header {} code
set parameters {}
foreach {all name} [regexp -all -inline {\mparameter\M[^=;]*?(\w+)\s*=} $code] { lappend parameters $name }

# "NAME == VALUE && ..." of a module that was read.
proc condition {module parameters file} {
  yosys tee -q -o $file dump $module
  set text [contents $file]
  file delete $file
  set terms {}
  foreach name $parameters {
    if {![regexp "\n  parameter \\\\$name (?:signed )?(\[^\n\]*)" $text all value]} {
      error "$module: no value of $name"
    }
    regsub {'} $value {'b} value
    lappend terms "$name == $value"
  }
  return [join $terms " && "]
}

set body {}
yosys design -save machine
set count 0
foreach module [lsort $modules] {
  yosys design -load machine
  set netlist ${block}_gates$count
  set holds [condition $module $parameters $out/module.txt]
  yosys hierarchy -check -top $module
  yosys rename $module $netlist
  write_netlist $netlist $::env(SMK_LIBERTY) $out/$netlist.v
  regexp "\nmodule $netlist\\((.*?)\\);" [contents $out/$netlist.v] all ports
  set pins [lmap port [split $ports ,] {set port [string trim $port]; string cat "    .$port ($port)"}]
  set instance "$netlist u_gates (\n[join $pins ",\n"]\n  );"
  append body [expr {$holds eq "" ? "  $instance\n" : "  if ($holds) begin : gen_$count\n  $instance\n  end\n"}]
  incr count
}
if {$count > 0} {
  set file [open $out/$block.sv w]
  puts $file "// SPDX-License-Identifier: Apache-2.0"
  puts $file "// $block as gates, [expr {$count == 1 ? "one netlist" : "$count netlists"}]: made by gates.tcl of the RTL."
  puts $file "$header\n${body}endmodule"
  close $file
}
file delete $out/list.txt
# Last: it says that all is there.
set file [open $out/modules.txt w]
puts -nonewline $file [join [lmap module $modules {string cat $module \n}] ""]
close $file
