"use strict";
(() => {
  const root = document.documentElement;
  root.classList.add("scripted");
  let { charts } = JSON.parse(document.getElementById("chart-data").textContent);
  const drawn = new Map();

  /* One number format with the tables: three significant digits, integers without decimals, thousands separated. */
  const number = (v) => {
    const size = Math.abs(v);
    const digits = size >= 99.95 || Number.isInteger(v) ? 0 : size >= 9.995 ? 1 : size >= 0.9995 ? 2 : 3;
    const text = v.toFixed(digits);
    return (digits ? text : text.replace(/\B(?=(\d{3})+$)/g, ",")).replace("-", "−");
  };
  const withUnit = (v, unit) => (v == null ? "–" : number(v) + (unit ? " " + unit : ""));
  const tick = (v) => {
    const size = Math.abs(v);
    return size >= 1000 ? String(Math.round(v)).replace(/\B(?=(\d{3})+$)/g, ",") : String(+v.toPrecision(6));
  };
  const clock = (s) => {
    const rounded = Math.round(s);
    const two = (n) => String(n).padStart(2, "0");
    const h = Math.floor(rounded / 3600);
    const m = Math.floor((rounded % 3600) / 60);
    return (h ? h + ":" + two(m) : m) + ":" + two(rounded % 60);
  };
  /* x of a scale of nines is -log10(1 - share): 0, 90 %, 99 %, 99.9 % … at equal distances. */
  const nines = (x) => {
    const share = 100 * (1 - Math.pow(10, -x));
    return share.toFixed(Math.max(0, Math.ceil(x - 1e-9) - 2)) + " %";
  };
  const escape = (text) =>
    String(text).replace(/[&<>"']/g, (c) => "&#" + c.charCodeAt(0) + ";");

  const readInk = () => {
    const probe = document.body.appendChild(document.createElement("i"));
    const read = (name) => {
      probe.style.color = "var(--" + name + ")";
      return getComputedStyle(probe).color;
    };
    const colors = {
      ink: read("ink"), soft: read("soft"), line: read("line"), hair: read("hair"),
      card: read("card"), shade: read("shade"), limit: read("limit"),
      series: [1, 2, 3, 4, 5, 6].map((n) => read("series-" + n)),
    };
    probe.remove();
    return colors;
  };
  /* Read once for all charts: each reading forces the browser to recompute styles. */
  let colors = null;
  const ink = () => (colors ??= readInk());

  const symbols = ["circle", "diamond", "triangle", "rect", "roundRect", "arrow"];
  const dashes = ["solid", "dashed", "dotted", [8, 3, 2, 3], [2, 2], [12, 4]];
  const font = 'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Liberation Sans", Arial, sans-serif';

  const places = (chart, x) => chart.x.categories?.[x] ?? "";
  const xText = (chart, x) => {
    const { scale, unit } = chart.x;
    if (scale === "time") return clock(x);
    if (scale === "nines") return nines(x);
    return (scale === "category" ? places(chart, x) : number(x)) + (unit ? " " + unit : "");
  };
  const heading = (axis) => axis.name + (axis.unit ? ", " + axis.unit : "");

  /* Ticks of a clock: at most eight, at full parts of minutes and hours. */
  const timeStep = (span) =>
    [0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600].find((step) => span / step <= 8) ?? 7200;
  /* The part of the run that all charts over time show, in percent; they zoom together. */
  let zoom = { start: 0, end: 100 };
  const shownStep = (chart) => {
    const points = chart.series[0].points;
    return timeStep(((points[points.length - 1][0] - points[0][0]) * (zoom.end - zoom.start)) / 100);
  };

  const xAxis = (chart, c) => {
    const { x } = chart;
    const axis = {
      type: x.scale === "category" ? "category" : "value",
      name: heading(x), nameLocation: "middle", nameGap: 30, nameTextStyle: { color: c.soft, fontSize: 12 },
      axisLine: { lineStyle: { color: c.line } }, axisTick: { show: false },
      axisLabel: { color: c.soft, fontSize: 12, hideOverlap: true },
      splitLine: { show: x.scale === "nines" || x.scale === "value", lineStyle: { color: c.hair } },
    };
    if (x.scale === "category") axis.data = x.categories;
    if (x.scale === "time") Object.assign(axis, { min: "dataMin", max: "dataMax" });
    if (x.scale === "time") Object.assign(axis, { interval: shownStep(chart) });
    if (x.scale === "time") axis.axisLabel.formatter = clock;
    if (x.scale === "nines") Object.assign(axis, { min: 0, max: x.max, interval: 1 });
    if (x.scale === "nines") axis.axisLabel.formatter = nines;
    if (x.scale === "value") axis.axisLabel.formatter = tick;
    return axis;
  };

  /* The largest 1, 2 or 5 × 10ⁿ that is not above any value. */
  const floor125 = (chart) => {
    const least = Math.min(...chart.series.flatMap((line) => (line.points ?? []).map((p) => p[1]).filter((v) => v > 0)));
    const decade = Math.pow(10, Math.floor(Math.log10(least)));
    return decade * ([5, 2].find((n) => n * decade <= least) ?? 1);
  };

  const yAxis = (chart, c) => {
    const { y } = chart;
    const log = y.scale === "log";
    return {
      type: log ? "log" : "value",
      name: heading(y) + (log ? ", logarithmic" : ""), nameGap: 12, nameTextStyle: { color: c.soft, fontSize: 12, align: "left", padding: [0, 0, 0, -46] },
      axisLabel: { color: c.soft, fontSize: 12, formatter: tick, showMaxLabel: y.max == null },
      axisLine: { show: false }, axisTick: { show: false },
      splitLine: { lineStyle: { color: c.hair } },
      splitNumber: 4, min: log ? floor125(chart) : 0, max: y.max,
    };
  };

  /* Labels avoid lines: left of a steep rise, below the point where a rise begins, else above, or below the lowest line. */
  const labelPlaces = (chart, line) => {
    const points = line.points;
    const log = chart.y.scale === "log";
    const height = (p) => (log ? Math.log(p[1]) : p[1]);
    const all = chart.series.flatMap((other) => other.points ?? []);
    const width = Math.max(...all.map((p) => p[0])) || 1;
    const rise = Math.max(...all.map(height)) - (log ? Math.log(floor125(chart)) : 0) || 1;
    const mean = (other) => other.points.reduce((sum, p) => sum + height(p), 0) / other.points.length;
    const lowest = chart.series.length > 1 && chart.series.every((other) => mean(line) <= mean(other));
    const climbs = (p, q) => p && q && Math.abs(height(q) - height(p)) / rise > (1.2 * Math.abs(q[0] - p[0])) / width;
    const underLimit = (p) => chart.limits?.some((limit) => {
      const room = (height([0, limit.y]) - height(p)) / rise;
      return room > 0 && room < 0.13;
    });
    const far = Math.ceil(points.length / 12);
    return points.map((p, i) => (climbs(points[i - far], p) ? "left" : lowest || underLimit(p) || climbs(p, points[i + far]) ? "bottom" : "top"));
  };

  /* At most about a dozen labels: those of marked points, the others at equal steps and not next to a mark. */
  const labelShown = (points) => {
    const step = Math.ceil(points.length / 12);
    const marked = points.map((p) => Boolean(p[2]?.includes("(")));
    return points.map((p, i) => marked[i] || step === 1 || ((points.length - 1 - i) % step === 0 && !marked.slice(Math.max(0, i - step + 1), i + step).some(Boolean)));
  };

  const halo = (c) => ({ textBorderColor: c.card, textBorderWidth: 3 });

  const limitLines = (chart, c) => chart.limits && {
    silent: true, symbol: "none", lineStyle: { color: c.limit, type: [6, 4], width: 1.5 },
    data: chart.limits.map((limit) => ({
      yAxis: limit.y,
      label: { formatter: limit.label, color: c.limit, fontSize: 11.5, position: "insideEndTop", ...halo(c) },
    })),
  };

  const spans = (chart, c) => chart.bands && {
    silent: true,
    data: chart.bands.map((band) => [
      {
        xAxis: band.from,
        itemStyle: { color: band.shade ? c.soft : "transparent", opacity: [1, 0.06, 0.18][band.shade] },
        label: { show: Boolean(band.label), formatter: band.label, color: c.soft, fontSize: 11, lineHeight: 14, position: "insideTop", ...halo(c) },
      },
      { xAxis: band.to },
    ]),
  };

  const rings = (line, c) => line.pins && {
    silent: true, symbol: "circle", symbolSize: 18, label: { show: false },
    itemStyle: { color: "transparent", borderColor: c.ink, borderWidth: 1.8 },
    data: line.pins.map(([x, y]) => ({ coord: [x, y] })),
  };

  /* The height of a layer together with all layers below it. */
  const sumTo = (chart, i, n) => chart.series.slice(0, i + 1).reduce((sum, line) => sum + line.points[n][1], 0);

  const series = (chart, c) =>
    chart.series.map((line, i) => {
      const color = c.series[line.color % c.series.length];
      const points = line.points ?? [];
      const labelled = points.some((p) => p[2]);
      const dense = points.filter((p) => p[1] != null).length > 80;
      const layer = line.form === "layer";
      const spots = labelled ? labelPlaces(chart, line) : [];
      const shown = labelShown(points);
      return {
        name: line.name, type: "line", color, itemStyle: { color },
        data: layer ? points.map(([x], n) => [x, sumTo(chart, i, n)]) : points.map(([x, y, label], n) => (label ? { value: [x, y], label: { show: shown[n], formatter: label, position: spots[n] } } : [x, y])),
        symbol: symbols[line.color % symbols.length], symbolSize: labelled ? 9 : dense ? 5 : 7,
        showSymbol: !dense && !layer, showAllSymbol: !dense && !layer,
        lineStyle: { color, width: 2, type: dashes[line.dash % dashes.length] },
        areaStyle: line.form === "area" ? { color, opacity: 0.15 } : layer ? { color, opacity: 1 } : undefined,
        step: layer ? "end" : undefined, z: layer ? 12 - i : 2,
        label: { show: labelled, color: c.ink, fontSize: 12, distance: 9, ...halo(c) },
        labelLayout: { hideOverlap: true }, emphasis: { disabled: true }, connectNulls: false,
        markLine: i === 0 ? limitLines(chart, c) : undefined,
        markArea: i === 0 ? spans(chart, c) : undefined,
        markPoint: rings(line, c),
      };
    });

  const tooltip = (chart, c) => ({
    trigger: chart.x.scale === "value" ? "item" : "axis", confine: true, backgroundColor: c.card, borderColor: c.line,
    textStyle: { color: c.ink, fontSize: 12.5 },
    axisPointer: { lineStyle: { color: c.soft } },
    formatter: (shown) => {
      const items = [shown].flat();
      const rows = items.map((item) => {
        const line = chart.series[item.seriesIndex];
        const [, value, label] = line.points[item.dataIndex] ?? item.value;
        return item.marker + escape(line.name + (label ? " " + label : "")) + " <b>" + withUnit(value, chart.y.unit) + "</b>";
      });
      return [escape(heading({ name: chart.x.name }) + " " + xText(chart, items[0].value[0])), ...rows].join("<br>");
    },
  });

  const option = (chart) => {
    const c = ink();
    const zooms = chart.x.scale === "time";
    const right = 24;
    const legend = chart.series.length > 1;
    return {
      animation: false, textStyle: { fontFamily: font },
      grid: { left: 62, right, top: legend ? 62 : 34, bottom: zooms ? 82 : 50 },
      legend: {
        show: legend, type: "scroll", top: 0, left: 0, itemGap: 18, itemWidth: 24, itemHeight: 9, icon: undefined,
        textStyle: { color: c.ink, fontSize: 12.5, lineHeight: 18 }, inactiveColor: c.line,
        pageIconColor: c.soft, pageIconInactiveColor: c.line, pageTextStyle: { color: c.soft },
      },
      tooltip: tooltip(chart, c), xAxis: xAxis(chart, c), yAxis: yAxis(chart, c), series: series(chart, c),
      dataZoom: zooms ? [{
        type: "slider", ...zoom, height: 16, bottom: 6, left: 62, right, filterMode: "none", showDetail: false, brushSelect: false,
        borderColor: c.line, backgroundColor: "transparent", fillerColor: c.hair, handleStyle: { color: c.card, borderColor: c.soft },
        moveHandleSize: 0, dataBackground: { lineStyle: { color: c.soft, opacity: 0.6 }, areaStyle: { opacity: 0 } },
        selectedDataBackground: { lineStyle: { color: c.series[0] }, areaStyle: { opacity: 0 } },
      }] : undefined,
    };
  };

  const shapes = forms({ ink, number, withUnit, tick, heading, escape, font });
  const rows = lanes({ ink, clock, escape });
  const isLanes = (chart) => chart.series[0].form === "lane";
  const overTime = (chart) => chart.x.scale === "time" && !isLanes(chart);
  const drawLanes = (chart) => {
    const place = document.getElementById(chart.id);
    const span = (chart.x.max * (zoom.end - zoom.start)) / 100;
    if (!drawn.has(chart.id)) {
      drawn.set(chart.id, rows);
      rows.listen(chart, place);
      let width = place.clientWidth;
      new ResizeObserver(() => {
        if (place.clientWidth && place.clientWidth !== width) { width = place.clientWidth; drawLanes(chart); }
      }).observe(place);
    }
    rows.draw(chart, place, zoom, timeStep(span));
  };

  const drawPlot = (chart) => {
    const place = document.getElementById(chart.id);
    let plot = drawn.get(chart.id);
    if (plot?.getDom() !== place) {
      plot?.dispose();
      plot = echarts.init(place, null, { renderer: "svg" });
      drawn.set(chart.id, plot);
      /* The observer also reports the first size, which is already drawn, and zero when the chart is hidden. */
      new ResizeObserver(() => {
        const { clientWidth, clientHeight } = place;
        if (clientWidth && (clientWidth !== plot.getWidth() || clientHeight !== plot.getHeight())) plot.resize();
      }).observe(place);
      if (overTime(chart)) {
        plot.group = "time";
        plot.on("datazoom", () => {
          const { start, end } = plot.getOption().dataZoom[0];
          zoom = { start, end };
          charts.filter((each) => isLanes(each) && isShown(each)).forEach(drawLanes);
          plot.setOption({ xAxis: { interval: shownStep(charts.find(({ id }) => id === chart.id)) } });
        });
      }
    }
    plot.setOption((shapes[chart.series[0].form] ?? option)(chart), true);
  };
  /* A chart that this browser cannot draw must not prevent the others. */
  const drawOne = (chart) => {
    try { (isLanes(chart) ? drawLanes : drawPlot)(chart); } catch (error) { console.error("chart " + chart.id, error); }
  };
  /* Charts of levels that are not chosen and of folded sections have no size; they are drawn once they are shown. */
  const isShown = (chart) => !document.getElementById(chart.id).closest("[data-level]:not(.shown), .fold:not([open])");
  const isOfLevel = (chart) => document.getElementById(chart.id).closest("[data-level]") != null;
  const draw = () => {
    colors = null;
    charts.filter(isShown).forEach(drawOne);
  };

  /* One chart after the other, so that the page can be read and scrolled while the rest is drawn. */
  for (const chart of charts) {
    const height = isLanes(chart) ? rows.height(chart) : shapes.height(chart);
    if (height) document.getElementById(chart.id).style.height = height + "px";
  }
  const waiting = charts.filter(isShown);
  const drawNext = () => {
    const chart = waiting.shift();
    if (chart) {
      drawOne(chart);
      setTimeout(drawNext);
    } else {
      echarts.connect("time");
      root.classList.add("drawn");
      performance.mark("drawn");
    }
  };
  drawNext();

  /* live.js sends the current charts of a run in progress. */
  document.addEventListener("charts", (event) => { charts = event.detail; draw(); });

  /* A folded section is opened by its heading, by a link to it, and for print. */
  document.addEventListener("toggle", ({ target }) => {
    if (target.matches(".fold[open]")) charts.filter((chart) => isShown(chart) && target.contains(document.getElementById(chart.id))).forEach(drawOne);
  }, true);
  const unfold = (hash) => {
    const fold = hash.length > 1 && document.getElementById(decodeURIComponent(hash.slice(1)))?.querySelector(":scope > .fold");
    if (fold) fold.open = true;
  };
  document.querySelector(".bar").addEventListener("click", ({ target }) => { if (target.hash) unfold(target.hash); });
  addEventListener("hashchange", () => unfold(location.hash));
  unfold(location.hash);
  addEventListener("beforeprint", () => { for (const fold of document.querySelectorAll(".fold")) fold.open = true; });

  /* The load level that tiles, objectives, metrics and distributions show. */
  const level = document.getElementById("level");
  const levelLinks = [...document.querySelectorAll('a[href^="#level-"]')];
  const choose = (key) => {
    const parts = [...document.querySelectorAll("[data-level]")];
    for (const part of parts) part.classList.toggle("shown", part.dataset.level.split(" ").includes(key));
    for (const part of parts) if (part.tagName === "DETAILS") part.open = part.classList.contains("shown");
    for (const link of levelLinks) link.closest("tr").classList.toggle("chosen", link.hash === "#level-" + key);
    level.value = key;
    charts.filter((chart) => isOfLevel(chart) && isShown(chart)).forEach(drawOne);
  };
  level?.addEventListener("change", () => choose(level.value));
  for (const link of levelLinks) {
    link.addEventListener("click", (event) => { event.preventDefault(); choose(link.hash.slice("#level-".length)); });
  }
  for (const link of levelLinks) link.closest("tr").classList.toggle("chosen", link.hash === "#level-" + level?.value);

  /* Marks a table that is wider than its container. */
  const room = new ResizeObserver((boxes) => {
    for (const { target } of boxes) target.classList.toggle("cut", target.scrollWidth > target.clientWidth + 1);
  });
  document.querySelectorAll(".scroll").forEach((box) => room.observe(box));

  /* Zoom buttons, usable by keyboard: every chart over time follows. */
  const zoomTo = (start, end) =>
    drawn.get(charts.find(overTime)?.id)?.dispatchAction({ type: "dataZoom", start: Math.max(0, start), end: Math.min(100, end) });
  const moves = {
    in: ({ start, end }, span) => zoomTo(start + span / 4, end - span / 4),
    out: ({ start, end }, span) => zoomTo(start - span / 2, end + span / 2),
    earlier: ({ start, end }, span) => { const d = Math.min(start, span / 2); zoomTo(start - d, end - d); },
    later: ({ start, end }, span) => { const d = Math.min(100 - end, span / 2); zoomTo(start + d, end + d); },
    all: () => zoomTo(0, 100),
  };
  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-zoom]");
    if (button) moves[button.dataset.zoom](zoom, zoom.end - zoom.start);
  });

  /* The same switch and the same stored choice as on Gatling's own pages. */
  const dark = () => (root.dataset.theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
  document.getElementById("theme").addEventListener("click", () => {
    root.dataset.theme = dark() ? "light" : "dark";
    try { localStorage.setItem("theme", root.dataset.theme); } catch { /* storage may be off for files */ }
    draw();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  matchMedia("print").addEventListener("change", draw);
})();
