# SPDX-License-Identifier: Apache-2.0
"""Bar charts as SVG, by hand: no library is needed, and the same numbers give the same bytes.

Colours and greys are of middling lightness on no background, so that a chart can be read on a light and
on a dark page.
"""

import math

INK, FAINT = "#7d8590", "#7d859055"
COLOURS = ("#4c8dd6", "#e0873a", "#3fa66a", "#a56cc1", "#c9a227", "#8a94a0")
PAPER = "#d1495b"
CHAR = 6.1  # width of a letter of the small font


class Panel:
    """Groups of bars under one title; the paper's numbers are drawn across the bars they belong to."""

    def __init__(self, title, groups, series, values, paper=None, top=None, base=None, errors=None):
        self.title, self.groups, self.series = title, groups, series
        self.values = values  # {(series, group): number}
        self.errors = errors or {}  # how far each goes up and down
        self.paper = paper or {}
        self.base = base  # a line that means "no difference"
        numbers = [v for v in (*values.values(), *self.paper.values()) if v is not None]
        self.top = top or nice(max(numbers, default=1))


def nice(value):
    """The next round number above a value."""
    if value <= 0:
        return 1.0
    step = 10 ** math.floor(math.log10(value))
    return next(f * step for f in (1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10) if f * step >= value)


def text(x, y, words, anchor="middle", colour=INK, size=11, turn=None, bold=False):
    turned = f' transform="rotate({turn} {x:.1f} {y:.1f})"' if turn else ""
    weight = ' font-weight="600"' if bold else ""
    return (f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{colour}" '
            f'font-size="{size}"{weight}{turned}>{words}</text>')


def line(x1, y1, x2, y2, colour=FAINT, width=1.0, dash=""):
    dashed = f' stroke-dasharray="{dash}"' if dash else ""
    return (f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}" '
            f'stroke-width="{width}"{dashed}/>')


def steps(top):
    """Into how many round parts an axis up to a round number is cut."""
    first = f"{top:e}"[:3]
    return {"1.2": 4, "1.5": 3, "2.0": 4, "3.0": 3, "4.0": 4, "6.0": 3, "8.0": 4}.get(first, 5)


def draw_axis(panel, x, y, width, height):
    parts, cuts = [text(x + width / 2, y - 8, panel.title, bold=True)], steps(panel.top)
    for i in range(cuts + 1):
        value = panel.top * i / cuts
        at = y + height - height * i / cuts
        parts.append(line(x, at, x + width, at))
        parts.append(text(x - 5, at + 4, f"{value:.4g}", "end", size=10))
    if panel.base is not None:
        at = y + height - height * panel.base / panel.top
        parts.append(line(x, at, x + width, at, INK, 1, "4 3"))
    return parts


def draw_bars(panel, x, y, width, height, turned):
    parts, step = [], width / max(1, len(panel.groups))
    bar = step * 0.8 / len(panel.series)
    for g, group in enumerate(panel.groups):
        left = x + g * step + step * 0.1
        for s, name in enumerate(panel.series):
            value = panel.values.get((name, group))
            if value is not None:
                tall = height * min(value, panel.top) / panel.top
                parts.append(
                    f'<rect x="{left + s * bar:.1f}" y="{y + height - tall:.1f}" '
                    f'width="{bar * 0.94:.1f}" height="{tall:.1f}" fill="{COLOURS[s]}">'
                    f"<title>{group}, {name}: {value:.3f}</title></rect>")
                parts += draw_error(panel, (name, group), left + (s + 0.47) * bar, y, height)
            paper = panel.paper.get((name, group))
            if paper is not None:
                at = y + height - height * paper / panel.top
                parts.append(line(left + s * bar - 1, at, left + (s + 1) * bar - 1, at, PAPER, 3))
        middle = x + g * step + step / 2
        if turned:
            parts.append(text(middle + 3, y + height + 10, group, "end", size=10, turn=-55))
        else:
            parts.append(text(middle, y + height + 15, group, size=10))
    return parts


def draw_error(panel, key, x, y, height):
    error = panel.errors.get(key)
    if not error:
        return []
    high, low = (y + height - height * (panel.values[key] + by) / panel.top
                 for by in (error, -error))
    return [line(x, high, x, low, INK, 1.5), line(x - 3, high, x + 3, high, INK, 1.5),
            line(x - 3, low, x + 3, low, INK, 1.5)]


def draw_legend(series, paper, x, y):
    parts = []
    for i, name in enumerate(series):
        parts.append(f'<rect x="{x:.1f}" y="{y - 9}" width="10" height="10" fill="{COLOURS[i]}"/>')
        parts.append(text(x + 14, y, name, "start"))
        x += 30 + CHAR * len(name)
    if paper:
        parts.append(line(x, y - 4, x + 12, y - 4, PAPER, 3))
        parts.append(text(x + 16, y, "the paper's number", "start"))
    return parts


def chart(panels, width=860, height=190):
    """One row of panels with a legend above them."""
    turned = any(len(p.groups) > 10 for p in panels)
    longest = max((len(group) for panel in panels for group in panel.groups), default=0)
    foot = max(82, round(0.85 * CHAR * longest) + 10) if turned else 24
    gap, margin, head = 46, 40, 48
    inner = (width - margin - 10 - gap * (len(panels) - 1)) / len(panels)
    total = head + height + foot
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {total}" '
             f'width="{width}" height="{total}" font-family="system-ui, sans-serif">']
    parts += draw_legend(panels[0].series, any(p.paper for p in panels), margin, 14)
    for i, panel in enumerate(panels):
        x = margin + i * (inner + gap)
        parts += draw_axis(panel, x, head, inner, height)
        parts += draw_bars(panel, x, head, inner, height, turned)
    return "\n".join([*parts, "</svg>", ""])
