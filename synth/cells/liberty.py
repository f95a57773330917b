# SPDX-License-Identifier: Apache-2.0
"""Liberty text of the library and its cells: ps, fF, nW and fJ."""
import functools

import timing

SLEWS = (1, 5, 15, 40, 80, 130, 200)  # ps; the last is max_transition
FRACTIONS = (128, 32, 16, 8, 4, 2, 1)  # of max_capacitance
LIMIT_SLEWS = (1, 40, 200)

HEADER = """/* SPDX-License-Identifier: Apache-2.0 */
/* A cell library of 45 nm for estimates, made by synth/cells/make_cells.py of technology.toml and cells.toml.
   No layout and no silicon stand behind it: the transistors are a model, its numbers are published ones or fitted
   within their range so that blocks come out near those of the NanGate 45 nm library. docs/cells.md has both. */
library ({name}) {{
  technology (cmos);
  delay_model : table_lookup;
  library_features (report_delay_calculation, report_power_calculation);
  time_unit : "1ps";
  voltage_unit : "1V";
  current_unit : "1mA";
  pulling_resistance_unit : "1kohm";
  leakage_power_unit : "1nW";
  capacitive_load_unit (1, ff);
  nom_process : 1;
  nom_voltage : {supply};
  nom_temperature : {temperature};
  operating_conditions (typical) {{ process : 1; voltage : {supply}; temperature : {temperature}; }}
  default_operating_conditions : typical;
  slew_lower_threshold_pct_rise : 30;
  slew_lower_threshold_pct_fall : 30;
  slew_upper_threshold_pct_rise : 70;
  slew_upper_threshold_pct_fall : 70;
  input_threshold_pct_rise : 50;
  input_threshold_pct_fall : 50;
  output_threshold_pct_rise : 50;
  output_threshold_pct_fall : 50;
  default_input_pin_cap : 1;
  default_output_pin_cap : 0;
  default_inout_pin_cap : 1;
  default_fanout_load : 1;
  default_cell_leakage_power : 0;
  default_max_transition : {slowest};
  lu_table_template (limits) {{
    variable_1 : constrained_pin_transition;
    variable_2 : related_pin_transition;
    index_1 ("{limits}");
    index_2 ("{limits}");
  }}
  power_lut_template (clock) {{
    variable_1 : input_transition_time;
    index_1 ("{limits}");
  }}
"""


def number(value, digits=2):
    """No zeros at the end."""
    text = f"{value:.{digits}f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def row(values, digits=2):
    return ", ".join(number(value, digits) for value in values)


def header(name, technology):
    values = technology.number
    return HEADER.format(name=name, supply=values["supply"], temperature=values["temperature"],
                         slowest=values["slowest_input"], limits=row(LIMIT_SLEWS))


def table(kind, template, values, depth=8):
    rows = [values] if not isinstance(values[0], (list, tuple)) else values
    blanks, digits = " " * depth, 2 if kind.endswith("power") else 1
    text = ", \\\n".join(f'{blanks}  "{row(line, digits)}"' for line in rows)
    return f"{blanks}{kind} ({template}) {{\n{blanks}values ( \\\n{text});\n{blanks}}}"


def largest_load(slew_at, limit):
    """The load at which an output is as slow as allowed, to three digits."""
    low, high = 0.0, 4000.0
    while high - low > 1e-3:
        middle = (low + high) / 2
        low, high = (middle, high) if slew_at(middle) <= limit else (low, middle)
    return float(f"{low:.3g}")


def templates(name, loads):
    axes = f'    index_1 ("{row(SLEWS)}");\n    index_2 ("{row(loads)}");'
    variables = "variable_1 : input_net_transition;\n    variable_2 : total_output_net_capacitance;"
    power = variables.replace("input_net_transition", "input_transition_time")
    few = f'    index_1 ("{row(LIMIT_SLEWS)}");\n    index_2 ("{row(loads[::3])}");'
    return (f"  lu_table_template (t_{name}) {{\n    {variables}\n{axes}\n  }}\n"
            f"  power_lut_template (e_{name}) {{\n    {power}\n{few}\n  }}")


def rounded_loads(largest):
    return [float(number(largest / fraction)) for fraction in FRACTIONS]


def function(tree, inverted=True):
    kind, parts = tree
    if kind == "input":
        text = parts
    else:
        text = "(" + ("&" if kind == "series" else "|").join(function(part, False) for part in parts) + ")"
    return f"!{text}" if inverted else text


def function_of(cell):
    """The last stage's, with the stages before it put in."""
    text = {}
    for stage in cell.stages:
        expression = function(stage.tree)
        for name, inner in text.items():
            expression = _replace(expression, name, f"({inner})")
        text[stage.output] = expression
    return text["Y"]


def _replace(expression, name, inner):
    return "".join(inner if character == name else character for character in expression)


def condition(side):
    return "&".join(name if value else f"!{name}" for name, value in sorted(side.items()))


def groups(technology, cell, pin):
    """(sense, when, {output rises: (input rises, states of the other pins)}) of the arcs from a pin."""
    found = timing.arcs(technology, cell, pin)
    senses = {"positive_unate": (True, False), "negative_unate": (False, True)}
    for sense, (for_rise, for_fall) in senses.items():
        edges = {True: (for_rise, found.get((for_rise, True))), False: (for_fall, found.get((for_fall, False)))}
        if edges[True][1] is None:
            continue
        both = len(found) > 2
        when = "|".join(f"({condition(side)})" for side in edges[True][1]) if both else ""
        yield sense, when, edges


def measured(technology, cell, pin, edges, loads):
    """Tables of one arc: {name: rows}, and energies."""
    tables, energies = {}, {}
    for rises, word in ((True, "rise"), (False, "fall")):
        def at(slew, load, which=edges[rises]):
            return timing.worst(technology, cell, pin, *which, slew, load)

        rows = [[at(slew, load) for load in loads] for slew in SLEWS]
        tables[f"cell_{word}"] = [[point[0] for point in line] for line in rows]
        tables[f"{word}_transition"] = [[point[1] for point in line] for line in rows]
        energies[f"{word}_power"] = [[at(slew, load)[2] for load in loads[::3]] for slew in LIMIT_SLEWS]
    return tables, energies


def arc(pin, sense, when, tables, name, kind=""):
    lines = [f"      timing () {{\n        related_pin : \"{pin}\";"]
    if kind:
        lines.append(f"        timing_type : {kind};")
    lines.append(f"        timing_sense : {sense};")
    if when:
        lines.append(f'        when : "{when}";')
    lines += [table(word, f"t_{name}", rows) for word, rows in tables.items()]
    return "\n".join([*lines, "      }"])


def power(pin, when, energies, name):
    lines = [f"      internal_power () {{\n        related_pin : \"{pin}\";"]
    if when:
        lines.append(f'        when : "{when}";')
    lines += [table(word, f"e_{name}", rows) for word, rows in energies.items()]
    return "\n".join([*lines, "      }"])


def input_pin(technology, name, capacitance, inside="", extra=""):
    return (f"    pin ({name}) {{\n      direction : input;\n      capacitance : {number(capacitance)};\n"
            f"      max_transition : {number(technology.number['slowest_input'])};\n{extra}{inside}    }}")


def cell_head(technology, name, columns, leakage):
    """One site is left between cells."""
    size = (columns + 1) * technology.number["site_width"] * technology.number["cell_height"]
    return f"  cell ({name}) {{\n    area : {size:.3f};\n    cell_leakage_power : {number(leakage)};"


def cell_text(technology, cell):
    arcs = [(pin, *group) for pin in cell.pins for group in groups(technology, cell, pin)]
    limit = technology.number["slowest_output"]

    def slowest(load):
        return max(timing.worst(technology, cell, pin, *edges[rises], SLEWS[0], load)[1]
                   for pin, _, _, edges in arcs for rises in edges)

    loads = rounded_loads(largest_load(slowest, limit))
    net = timing.Loads(technology, cell).net
    lines = [templates(cell.name, loads),
             cell_head(technology, cell.name, timing.columns(cell), timing.leakage(technology, cell))]
    lines += [input_pin(technology, pin, net[pin]) for pin in cell.pins]
    lines.append(f"    pin (Y) {{\n      direction : output;\n      function : \"{function_of(cell)}\";\n"
                 f"      max_capacitance : {number(loads[-1])};")
    for pin, sense, when, edges in arcs:
        tables, energies = measured(technology, cell, pin, edges, loads)
        lines += [arc(pin, sense, when, tables, cell.name), power(pin, when, energies, cell.name)]
    return "\n".join([*lines, "    }\n  }"])


def limit(kind, related, rise, fall):
    """A constraint: functions of the slew of the data and of the clock."""
    lines = [f"      timing () {{\n        related_pin : \"{related}\";\n        timing_type : {kind};"]
    for word, edge in (("rise", rise), ("fall", fall)):
        if edge:
            rows = [[edge(data, clock) for clock in LIMIT_SLEWS] for data in LIMIT_SLEWS]
            lines.append(table(f"{word}_constraint", "limits", rows))
    return "\n".join([*lines, "      }\n"])


def _data_pin(technology, model):
    setup = limit("setup_rising", "CK", lambda d, c: model.setup(True, d, c), lambda d, c: model.setup(False, d, c))
    hold = limit("hold_rising", "CK", lambda d, c: model.hold(True, d, c), lambda d, c: model.hold(False, d, c))
    energy = [model.data_energy()] * len(LIMIT_SLEWS)
    inside = "\n".join(table(f"{word}_power", "clock", energy) for word in ("rise", "fall"))
    return input_pin(technology, "D", technology.gate(model.inner),
                     setup + hold + f"      internal_power () {{\n{inside}\n      }}\n")


def _clock_pin(technology, model):
    energy = [model.clock_energy()] * len(LIMIT_SLEWS)
    inside = "\n".join(table(f"{word}_power", "clock", energy) for word in ("rise", "fall"))
    high = model.clock_to_output(True, LIMIT_SLEWS[1], 0.1)[0]
    low = max(model.setup(rises, LIMIT_SLEWS[1], LIMIT_SLEWS[0]) for rises in (True, False))
    widths = (f"      clock : true;\n      min_pulse_width_high : {number(high)};\n"
              f"      min_pulse_width_low : {number(low)};\n")
    power_text = f"      internal_power () {{\n{inside}\n      }}\n"
    return input_pin(technology, "CK", technology.gate(model.clock_width), power_text, widths)


def _asynchronous_pin(technology, model, pin):
    """The clock may come when the master has what it had without the reset; before, it may not go."""
    recovery = limit("recovery_rising", "CK", lambda d, c: model.setup(True, d, c), None)
    removal = limit("removal_rising", "CK", lambda d, c: model.clock(c)[1][1] + technology.number["hold_margin"], None)
    low = (model.reset_to_output if pin == "RN" else model.set_to_output)(LIMIT_SLEWS[1], 0.1)[0]
    return input_pin(technology, pin, technology.gate(model.last + model.inner), recovery + removal,
                     f"      min_pulse_width_low : {number(low)};\n")


def _edge_tables(word, loads, edge):
    """Delay and slew of one edge of the output."""
    points = [[edge(slew, load) for load in loads] for slew in SLEWS]
    return {f"cell_{word}": [[point[0] for point in line] for line in points],
            f"{word}_transition": [[point[1] for point in line] for line in points]}


def flip_flop_text(technology, name, columns, model, reset, preset):
    limit_slew = technology.number["slowest_output"]
    loads = rounded_loads(largest_load(lambda load: model.clock_to_output(True, SLEWS[0], load)[1], limit_slew))
    asynchronous = f'      clear : "!{reset}";\n' if reset else f'      preset : "!{preset}";\n' if preset else ""
    lines = [templates(name, loads), cell_head(technology, name, columns, model.leakage()),
             f'    ff (IQ, IQN) {{\n      clocked_on : "CK";\n      next_state : "D";\n{asynchronous}    }}',
             _data_pin(technology, model), _clock_pin(technology, model)]
    lines += [_asynchronous_pin(technology, model, pin) for pin in (reset, preset) if pin]
    lines.append(f"    pin (Q) {{\n      direction : output;\n      function : \"IQ\";\n"
                 f"      max_capacitance : {number(loads[-1])};")
    tables = {}
    for rises, word in ((True, "rise"), (False, "fall")):
        tables |= _edge_tables(word, loads, functools.partial(model.clock_to_output, rises))
    lines.append(arc("CK", "non_unate", "", tables, name, "rising_edge"))
    for pin, word, kind, sense, edge in ((reset, "fall", "clear", "positive_unate", model.reset_to_output),
                                         (preset, "rise", "preset", "negative_unate", model.set_to_output)):
        if pin:
            lines.append(arc(pin, sense, "", _edge_tables(word, loads, edge), name, kind))
    energy = [[model.output_energy()] * 3] * len(LIMIT_SLEWS)
    lines.append(power("CK", "", {"rise_power": energy, "fall_power": energy}, name))
    return "\n".join([*lines, "    }\n  }"])
