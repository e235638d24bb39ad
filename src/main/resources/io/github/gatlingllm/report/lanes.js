"use strict";
/* A chart of lanes: an agent of a session each, in colours of what it does. Drawn without ECharts, as SVG. */
const lanes = ({ ink, clock, escape }) => {
  const LEFT = 62, RIGHT = 24, TOP = 30, BOTTOM = 26;
  const STATES = ["waiting", "fill", "prefill", "decode", "failed"];
  const color = (c, state) => [c.soft, c.series[3], c.series[1], c.series[0], c.limit][state];
  const rowHeight = (chart) => (chart.series.length <= 40 ? 14 : chart.series.length <= 120 ? 8 : 4);
  const height = (chart) => TOP + BOTTOM + chart.series.length * rowHeight(chart);
  const active = new Map();

  /* What the table below the chart says of a lane. */
  const words = (place, row) => {
    const table = place.closest("figure").querySelector("details table");
    const names = [...table.querySelectorAll("thead th")].map((cell) => cell.textContent);
    return [...table.querySelectorAll("tbody tr")[row].cells].map((cell, i) => [names[i], cell.textContent]).filter(([, text]) => text && text !== "0");
  };

  const draw = (chart, place, zoom, step) => {
    const c = ink();
    const width = place.clientWidth;
    const row = rowHeight(chart);
    const bottom = TOP + chart.series.length * row;
    const span = (chart.x.max || 1) / 100;
    const from = zoom.start * span, to = Math.max(zoom.end * span, from + 1e-3);
    const x = (s) => LEFT + (Math.min(Math.max(s, from), to) - from) / (to - from) * (width - LEFT - RIGHT);
    const at = (v) => v.toFixed(1);
    const paths = STATES.map(() => "");
    const options = chart.series.map((line, i) => {
      const y = TOP + i * row;
      const inner = line.dash ? 0.62 : 0.82;
      line.points.forEach(([s, state], n) => {
        const next = line.points[n + 1]?.[0];
        if (state == null || next == null || next < from || s > to) return;
        const failed = state === STATES.length - 1;
        const thick = failed ? row : state ? Math.max(2, row * inner) : Math.max(1, row * 0.12);
        paths[state] += "M" + at(x(s)) + " " + at(y + (row - thick) / 2) + "H" + at(Math.max(x(next), x(s) + (failed ? 3 : 0.4))) + "v" + at(thick) + "H" + at(x(s)) + "z";
      });
      const name = words(place, i).map((pair) => pair.join(" ")).join(", ");
      return '<rect id="' + chart.id + "-" + i + '" role="option" aria-label="' + escape(name) + '" x="0" y="' + y + '" width="' + width + '" height="' + row + '" fill="transparent"/>';
    });
    const bands = (chart.bands ?? []).map((band) => band.shade && band.to > from && band.from < to ? '<rect x="' + at(x(band.from)) + '" y="' + TOP + '" width="' + at(x(band.to) - x(band.from)) + '" height="' + (bottom - TOP) + '" fill="' + c.soft + '" opacity="' + [0, 0.06, 0.18][band.shade] + '"/>' : "");
    const ticks = [];
    for (let s = Math.ceil(from / step) * step; s <= to + 1e-9; s += step) {
      ticks.push('<path d="M' + at(x(s)) + " " + TOP + "V" + bottom + '" stroke="' + c.hair + '"/><text x="' + at(x(s)) + '" y="' + (bottom + 16) + '" text-anchor="middle">' + clock(s) + "</text>");
    }
    let named = -10;
    const names = chart.series.map((line, i) => (line.dash || (i - named) * row < 10 ? "" : (named = i, '<text x="' + (LEFT - 6) + '" y="' + (TOP + i * row + row / 2 + 4) + '" text-anchor="end" font-size="10">' + escape(line.name.split("/")[0]) + "</text>")));
    const used = STATES.map((_, state) => chart.series.some((line) => line.points.some((point) => point[1] === state)));
    let left = LEFT;
    const legend = STATES.map((name, state) => {
      if (!used[state]) return "";
      const thick = state ? 10 : 2;
      const entry = '<rect x="' + left + '" y="' + (9 - thick / 2) + '" width="22" height="' + thick + '" fill="' + color(c, state) + '"/><text x="' + (left + 28) + '" y="13">' + name + "</text>";
      left += 50 + name.length * 7;
      return entry;
    });
    place.innerHTML = '<svg width="' + width + '" height="' + height(chart) + '" fill="' + c.soft + '" font-size="12" aria-hidden="false">'
      + bands.join("") + ticks.join("") + paths.map((d, state) => '<path d="' + d + '" fill="' + color(c, state) + '"/>').join("")
      + names.join("") + legend.join("") + options.join("") + '</svg><div class="tip" hidden></div>';
    place.setAttribute("role", "listbox");
    place.tabIndex = 0;
    if (active.has(place)) show(chart, place, active.get(place));
  };

  const show = (chart, place, i, left) => {
    const tip = place.querySelector(".tip");
    const old = place.querySelector("[aria-selected]");
    old?.removeAttribute("aria-selected");
    old?.setAttribute("stroke", "none");
    if (i == null) {
      active.delete(place);
      place.removeAttribute("aria-activedescendant");
      tip.hidden = true;
      return;
    }
    active.set(place, i);
    const option = document.getElementById(chart.id + "-" + i);
    option.setAttribute("aria-selected", "true");
    option.setAttribute("stroke", ink().ink);
    place.setAttribute("aria-activedescendant", option.id);
    tip.innerHTML = words(place, i).map(([name, text]) => escape(name) + " <b>" + escape(text) + "</b>").join("<br>");
    tip.hidden = false;
    const row = rowHeight(chart);
    tip.style.left = Math.max(0, Math.min(left ?? LEFT, place.clientWidth - tip.offsetWidth)) + "px";
    const below = TOP + (i + 1) * row + 6;
    tip.style.top = (below + tip.offsetHeight > place.clientHeight ? below - row - 12 - tip.offsetHeight : below) + "px";
  };

  /* Once for each place: the mouse, and keys as in any list. */
  const listen = (chart, place) => {
    const last = chart.series.length - 1;
    place.addEventListener("mousemove", (event) => {
      const box = place.getBoundingClientRect();
      const i = Math.floor((event.clientY - box.top - TOP) / rowHeight(chart));
      show(chart, place, i >= 0 && i <= last ? i : null, event.clientX - box.left + 12);
    });
    place.addEventListener("mouseleave", () => show(chart, place, null));
    place.addEventListener("blur", () => show(chart, place, null));
    place.addEventListener("focus", () => { if (!active.has(place)) show(chart, place, 0); });
    place.addEventListener("keydown", (event) => {
      const i = active.get(place) ?? -1;
      const to = { ArrowDown: Math.min(last, i + 1), ArrowUp: Math.max(0, i - 1), Home: 0, End: last, Escape: null }[event.key];
      if (to === undefined) return;
      event.preventDefault();
      show(chart, place, to);
      place.querySelector("[aria-selected]")?.scrollIntoView({ block: "nearest" });
    });
  };

  return { draw, listen, height };
};
