#!/usr/bin/env python3
"""Draws the dashboard as a page without Grafana, from what a Prometheus answers to its queries.

  picture.py http://127.0.0.1:9090 <from> <until> > board.html     times in seconds since the epoch
"""
import html
import json
import math
import re
import sys
import urllib.parse
import urllib.request
from pathlib import Path

COLOURS = ["#3274d9", "#e0752d", "#299c46", "#a352cc", "#b8860b", "#c4162a"]
WIDTH, HEIGHT = 1440, 36
UNITS = {"s": (1000, " ms"), "percentunit": (100, " %"), "reqps": (1, "/s")}


def series(prometheus, panel, begin, end):
    for target in panel.get("targets", []):
        query = re.sub(r"\$(target|engine)\b", ".*", target["expr"].replace("$__rate_interval", "5s"))
        form = urllib.parse.urlencode({"query": query, "start": begin, "end": end, "step": 1})
        with urllib.request.urlopen(f"{prometheus}/api/v1/query_range?{form}") as answer:
            for each in json.load(answer)["data"]["result"]:
                name = re.sub(r"{{(\w+)}}", lambda label: each["metric"].get(label[1], ""), target["legendFormat"])
                points = [(float(at), float(value)) for at, value in each["values"]]
                yield name, [point for point in points if math.isfinite(point[1])]


def number(value, unit):
    factor, text = UNITS.get(unit, (1, ""))
    return f"{value * factor:,.{0 if abs(value * factor) >= 10 or not value % 1 else 2}f}{text}"


def chart(lines, unit, begin, end, width, height):
    top = max((value for _, points in lines for _, value in points), default=0) or 1
    parts, legend, colours = [], [], {}
    for name, points in lines:
        colour = colours.setdefault(name, COLOURS[len(colours) % len(COLOURS)])
        last = None
        path = ""
        for at, value in points:
            x, y = 52 + (width - 60) * (at - begin) / (end - begin), 8 + (height - 16) * (1 - value / top)
            path += f"{'L' if last is not None and at - last < 3 else 'M'}{x:.1f} {y:.1f}"
            last = at
        parts.append(f'<path d="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
    for share in (0, 0.5, 1):
        y = 8 + (height - 16) * (1 - share)
        parts.append(f'<path d="M52 {y}H{width - 8}" stroke="#ddd"/>')
        parts.append(f'<text x="48" y="{y + 4}" text-anchor="end">{number(top * share, unit)}</text>')
    for name, colour in colours.items():
        legend.append(f'<span style="color:{colour}">■</span> {html.escape(name)}')
    return f'<svg width="{width}" height="{height}">{"".join(parts)}</svg><p>{" ".join(legend)}</p>'


def main(prometheus, begin, end):
    begin, end = float(begin), float(end)
    board = json.loads(Path(__file__).with_name("dashboards").joinpath("gatling-llm.json").read_text())
    print('<!doctype html><meta charset="utf-8"><style>body{margin:0;background:#f4f5f5;font:12px sans-serif}'
          "div{position:absolute;box-sizing:border-box;background:#fff;border:1px solid #ddd;padding:6px;overflow:hidden}"
          "h2{font-size:13px;margin:0 0 4px}p{margin:2px 0}b{font-size:30px;color:#299c46}text{font-size:10px;fill:#666}"
          ".row{background:none;border:none}</style>")
    for panel in board["panels"]:
        place = panel["gridPos"]
        width, height = place["w"] * WIDTH / 24 - 6, place["h"] * HEIGHT - 6
        lines = list(series(prometheus, panel, begin, end))
        unit = panel.get("fieldConfig", {}).get("defaults", {}).get("unit", "")
        if panel["type"] == "row":
            body = ""
        elif panel["type"] == "stat":
            body = f"<b>{number(lines[0][1][-1][1], unit)}</b>" if lines and lines[0][1] else ""
        else:
            body = chart(lines, unit, begin, end, round(width - 14), round(height - 62))
        print(f'<div class="{panel["type"]}" style="left:{place["x"] * WIDTH / 24:.0f}px;top:{place["y"] * HEIGHT}px;'
              f'width:{width:.0f}px;height:{height:.0f}px"><h2>{html.escape(panel["title"])}</h2>{body}</div>')


if __name__ == "__main__":
    main(*sys.argv[1:])
