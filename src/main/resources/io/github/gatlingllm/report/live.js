"use strict";
/* Server-sent events bring the new figures. A chart appears once it has data: a section without an element for it is
   fetched again and replaced; the scroll position of the viewer does not change. */
(() => {
  const state = document.getElementById("state");
  const show = (text, css) => { state.textContent = text; state.className = "badge " + css; };
  let charts = [];
  const hasPlace = (chart) => document.getElementById(chart.id);
  const makePlaces = async () => {
    const answer = await fetch(location.href);
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    let before = document.getElementById("top");
    for (const section of page.querySelectorAll("main > section")) {
      const shown = document.getElementById(section.id);
      if (!shown) before.after(section);
      else if (![...section.querySelectorAll(".plot")].every(hasPlace)) shown.replaceWith(section);
      before = document.getElementById(section.id);
    }
    document.querySelector("nav").replaceWith(page.querySelector("nav"));
  };
  const source = new EventSource("events");
  source.onopen = () => show("● live", "ok");
  source.onerror = () => show("▲ no connection to the run", "warning");
  source.onmessage = async (event) => {
    const news = JSON.parse(event.data);
    document.getElementById("live-now").innerHTML = news.now;
    charts = news.charts;
    if (news.isOver) {
      source.close();
      show("✓ over", "ok");
    } else if (!charts.every(hasPlace)) {
      try { await makePlaces(); } catch { /* the run has just ended; otherwise the next event tries again */ }
    }
    document.dispatchEvent(new CustomEvent("charts", { detail: charts.filter(hasPlace) }));
  };
})();
