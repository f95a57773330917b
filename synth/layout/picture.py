# SPDX-License-Identifier: Apache-2.0
"""A picture of a routed layout: cells by kind, wires by layer of metal.

Runs inside KLayout: klayout -zz -r picture.py -rd def=FILE -rd lef=FILE -rd png=FILE -rd pixels=N
"""
import pya

FLIP_FLOP, GATE, FILL = 100, 101, 102  # layers for cells
CELL_COLOURS = {FLIP_FLOP: 0x9DC3E6, GATE: 0xE2EFDA, FILL: 0xF2F2F2}
WIRE_COLOURS = {"1": 0x7F7F7F, "2": 0xC00000, "3": 0x00602B, "4": 0x1F4E9E, "5": 0xC55A11, "6": 0x7030A0}


def kind_of(name):
    if name.startswith("DFF"):
        return FLIP_FLOP
    return FILL if name.startswith("FILL") else GATE


globals_ = globals()
options = pya.LoadLayoutOptions()
config = options.lefdef_config
config.read_lef_with_def = False
config.lef_files = [globals_["lef"]]
config.macro_resolution_mode = 1  # cells as LEF has them
config.produce_pin_names = config.produce_net_names = config.produce_labels = False
options.lefdef_config = config

view = pya.LayoutView()
view.set_config("background-color", "#ffffff")
view.set_config("grid-visible", "false")
view.set_config("text-visible", "false")
view.set_config("cell-box-visible", "false")
view.load_layout(globals_["def"], options, "", False)
layout = view.cellview(0).layout()
top = layout.top_cell()
outline = layout.layer(next(info for info in layout.layer_infos() if info.name == "OUTLINE"))
for instance in top.each_inst():
    box = instance.cell.bbox_per_layer(outline)
    if not box.empty():
        top.shapes(layout.layer(kind_of(instance.cell.name), 0)).insert(box.transformed(instance.trans))

view.clear_layers()


def show(source, colour):
    properties = pya.LayerProperties()
    properties.source = source
    properties.fill_color = properties.frame_color = 0xFF000000 | colour
    properties.dither_pattern = 0
    view.insert_layer(view.end_layers(), properties)


for layer, colour in CELL_COLOURS.items():
    show(f"{layer}/0@1", colour)
for info in layout.layer_infos():
    name = info.name.upper()
    if name.startswith("METAL") and "." not in name:
        show(f"{info.layer}/{info.datatype}@1", WIRE_COLOURS[name[len("METAL")]])
view.max_hier()
view.update_content()
box = top.dbbox()
width = int(globals_["pixels"])
view.save_image_with_options(globals_["png"], width, int(width * box.height() / box.width()), 0, 2, 0.0, box, False)
