"use strict";
/* Chart forms other than lines: each turns a chart into ECharts options, with functions of report.js. */
const forms = ({ ink, number, withUnit, tick, heading, escape, font }) => {
  const soft = (c) => ({ color: c.soft, fontSize: 12 });
  const box = (c) => ({ confine: true, backgroundColor: c.card, borderColor: c.line, textStyle: { color: c.ink, fontSize: 12.5 } });
  const name = (axis, c, gap) => ({ name: heading(axis), nameLocation: "middle", nameGap: gap, nameTextStyle: soft(c) });

  const rgb = (color) => color.match(/[\d.]+/g).slice(0, 3).map(Number);
  const luminance = (channels) => channels
    .map((v) => v / 255).map((v) => (v <= 0.04045 ? v / 12.92 : Math.pow((v + 0.055) / 1.055, 2.4)))
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  /* White or black: a contrast of at least 4.5 on any colour rgb(…). */
  const legible = (ground) => (luminance(rgb(ground)) + 0.05 < Math.sqrt(1.05 * 0.05) ? "#ffffff" : "#000000");
  const between = (from, to, share) => {
    const [low, high] = [rgb(from), rgb(to)];
    return "rgb(" + low.map((v, i) => Math.round(v + (high[i] - v) * share)).join() + ")";
  };
  const names = (c) => ({ axisLabel: { ...soft(c), width: 150, overflow: "truncate", interval: 0 }, axisTick: { show: false } });

  /* Horizontal stacked bars. */
  const rowsOf = (chart) => chart.x.categories.length;
  const part = (line, c, most) => {
    const color = c.series[line.color % c.series.length];
    const striped = line.dash > 0 && { symbol: "rect", dashArrayX: [1, 0], dashArrayY: [2, 4], rotation: -Math.PI / 4, color: c.card };
    return {
      name: line.name, type: "bar", stack: "all", color, barCategoryGap: "28%", emphasis: { disabled: true },
      itemStyle: { color, decal: striped || { symbol: "none" }, borderColor: c.card, borderWidth: 0.5 },
      label: { color: legible(color), fontSize: 11.5, formatter: ({ value }) => number(value) },
      data: line.points.map(([, v]) => ({ value: v, label: { show: !striped && v > most * 0.06 } })),
    };
  };
  const stack = (chart) => {
    const c = ink();
    const totals = chart.x.categories.map((_, row) => chart.series.reduce((sum, line) => sum + (line.points[row]?.[1] ?? 0), 0));
    const legend = chart.series.length > 1;
    return {
      animation: false, textStyle: { fontFamily: font }, aria: { enabled: false },
      grid: { left: 8, right: 28, top: legend ? 34 : 8, bottom: 26, containLabel: true },
      legend: {
        show: legend, type: "scroll", top: 0, left: 0, itemGap: 10, itemWidth: 12, itemHeight: 10,
        textStyle: { color: c.ink, fontSize: 12, lineHeight: 18 }, inactiveColor: c.line, data: chart.series.map((line) => line.name),
        pageIconColor: c.soft, pageIconInactiveColor: c.line, pageTextStyle: { color: c.soft },
      },
      xAxis: {
        type: "value", ...name(chart.y, c, 28), axisLabel: { ...soft(c), formatter: tick, hideOverlap: true },
        splitLine: { lineStyle: { color: c.hair } }, axisLine: { show: false }, axisTick: { show: false },
      },
      yAxis: {
        type: "category", data: chart.x.categories, inverse: true, axisLine: { lineStyle: { color: c.line } }, ...names(c),
      },
      tooltip: {
        ...box(c), trigger: "axis", axisPointer: { type: "shadow", shadowStyle: { color: c.soft, opacity: 0.12 } },
        formatter: (items) => {
          const row = items[0].dataIndex;
          const rows = items.filter((item) => item.value > 0)
            .map((item) => item.marker + escape(item.seriesName) + " <b>" + withUnit(item.value, chart.y.unit) + "</b>");
          const head = escape(chart.x.categories[row]) + " <b>" + withUnit(totals[row], chart.y.unit) + "</b>";
          return [head, ...rows].join("<br>");
        },
      },
      series: chart.series.map((line) => part(line, c, Math.max(...totals))),
    };
  };

  /* A grid of cells that show their value; colour repeats it. Each column is a part of stacked bars of equal length. */
  const grid = (chart) => {
    const c = ink();
    const columns = chart.x.categories;
    const values = chart.series.map((line) => new Map((line.points ?? []).map(([x, v]) => [x, v])));
    const all = values.flatMap((row) => [...row.values()]);
    const most = Math.max(...all) || 1;
    const cell = (v) => {
      if (v == null) return { value: 1, itemStyle: { color: "transparent" }, label: { show: false } };
      const color = between(c.shade, c.series[0], Math.max(0, v) / most);
      return { value: 1, itemStyle: { color }, label: { show: all.length <= 160, color: legible(color), formatter: number(v) } };
    };
    return {
      animation: false, textStyle: { fontFamily: font },
      grid: { left: 8, right: 12, top: 8, bottom: 28, containLabel: true },
      xAxis: [
        { type: "value", max: columns.length, show: false },
        {
          type: "category", position: "bottom", data: columns, ...name(chart.x, c, 30), axisLabel: { ...soft(c), hideOverlap: true },
          axisTick: { show: false }, axisLine: { lineStyle: { color: c.line } },
        },
      ],
      yAxis: { type: "category", data: chart.series.map((line) => line.name), inverse: true, axisLine: { show: false }, ...names(c) },
      tooltip: {
        ...box(c),
        formatter: ({ seriesIndex: x, dataIndex: y }) => escape(chart.series[y].name + ", " + columns[x]) + " <b>" + withUnit(values[y].get(x), chart.y.unit) + "</b>",
      },
      series: columns.map((_, x) => ({
        type: "bar", stack: "all", barCategoryGap: 0, emphasis: { disabled: true }, itemStyle: { borderColor: c.card, borderWidth: 2 },
        label: { fontSize: 12 }, data: values.map((row) => cell(row.get(x))),
      })),
    };
  };

  /* The height of a chart whose rows decide it; null where the style sheet does. */
  const height = (chart) => {
    const form = chart.series[0].form;
    return form === "stack" ? rowsOf(chart) * 26 + 92 : form === "grid" ? Math.max(150, chart.series.length * 44 + 70) : null;
  };

  return { stack, grid, height };
};
