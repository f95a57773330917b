# SPDX-License-Identifier: Apache-2.0
"""Points and lines over two axes of numbers as SVG, in the manner of charts.py."""

from paper.charts import COLOURS, INK, PAPER, line, text


class Plot:
    """One field of points and curves; `ranges` are the ends of both axes and the step of their marks."""

    def __init__(self, title, axes, ranges, points=None, curves=None, marks=None):
        self.title, self.axes, self.ranges = title, axes, ranges
        self.points = points or {}  # {series: [(x, y, words)]}
        self.curves = curves or {}  # {series: [(x, y), ...]}
        self.marks = marks or []  # straight lines (x1, y1, x2, y2) that belong to no series

    def series(self):
        return list(dict.fromkeys([*self.points, *self.curves]))


class Field:
    """Where a plot's numbers are on the picture."""

    def __init__(self, plot, x, y, width, height):
        self.ranges = [axis[:2] for axis in plot.ranges]
        self.x, self.y, self.width, self.height = x, y, width, height

    def at(self, x, y):
        (left, right), (low, high) = self.ranges
        return (self.x + self.width * (x - left) / (right - left),
                self.y + self.height * (high - y) / (high - low))

    def clipped(self, mark):
        """The part of a straight line that is inside, or nothing."""
        x1, y1, x2, y2 = mark
        first, last = 0.0, 1.0
        for start, step, (low, high) in ((x1, x2 - x1, self.ranges[0]), (y1, y2 - y1, self.ranges[1])):
            if step == 0:
                if not low <= start <= high:
                    return None
                continue
            ends = sorted(((low - start) / step, (high - start) / step))
            first, last = max(first, ends[0]), min(last, ends[1])
        if first >= last:
            return None
        return (x1 + first * (x2 - x1), y1 + first * (y2 - y1), x1 + last * (x2 - x1), y1 + last * (y2 - y1))


def ticks(axis):
    first, last, step = axis
    return [first + i * step for i in range(round((last - first) / step) + 1)]


def draw_axes(plot, field):
    parts = [text(field.x + field.width / 2, field.y - 8, plot.title, bold=True)]
    for x in ticks(plot.ranges[0]):
        at = field.at(x, 0)[0]
        parts.append(line(at, field.y, at, field.y + field.height))
        parts.append(text(at, field.y + field.height + 14, f"{x:.4g}", size=10))
    for y in ticks(plot.ranges[1]):
        at = field.at(0, y)[1]
        parts.append(line(field.x, at, field.x + field.width, at))
        parts.append(text(field.x - 5, at + 4, f"{y:.4g}", "end", size=10))
    parts.append(text(field.x + field.width / 2, field.y + field.height + 30, plot.axes[0]))
    middle = field.y + field.height / 2
    return [*parts, text(field.x - 38, middle, plot.axes[1], turn=-90)]


def draw_marks(plot, field):
    parts = []
    for mark in filter(None, map(field.clipped, plot.marks)):
        parts.append(line(*field.at(*mark[:2]), *field.at(*mark[2:]), PAPER, 1.2, "5 3"))
    return parts


def draw_series(plot, field, colours):
    parts = []
    for name, curve in plot.curves.items():
        places = " ".join("{:.1f},{:.1f}".format(*field.at(*place)) for place in curve)
        parts.append(f'<polyline points="{places}" fill="none" stroke="{colours[name]}" stroke-width="1.8"/>')
    for name, points in plot.points.items():
        for x, y, words in points:
            at_x, at_y = field.at(x, y)
            parts.append(f'<circle cx="{at_x:.1f}" cy="{at_y:.1f}" r="3.5" fill="{colours[name]}" '
                         f'fill-opacity="0.8"><title>{words}</title></circle>')
    return parts


def chart(plots, width=860, height=300):
    """One row of plots with a legend above them when there are several series."""
    names = list(dict.fromkeys(name for plot in plots for name in plot.series()))
    colours = dict(zip(names, COLOURS))
    margin, gap, head, foot = 52, 70, 48, 40
    inner = (width - margin - 14 - gap * (len(plots) - 1)) / len(plots)
    total = head + height + foot
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {total}" '
             f'width="{width}" height="{total}" font-family="system-ui, sans-serif">']
    x = margin
    for name in names if len(names) > 1 else []:
        parts.append(f'<circle cx="{x + 5:.1f}" cy="10" r="4" fill="{colours[name]}"/>')
        parts.append(text(x + 14, 14, name, "start", INK))
        x += 34 + 6.1 * len(name)
    for i, plot in enumerate(plots):
        field = Field(plot, margin + i * (inner + gap), head, inner, height)
        parts += [*draw_axes(plot, field), *draw_marks(plot, field), *draw_series(plot, field, colours)]
    return "\n".join([*parts, "</svg>", ""])
