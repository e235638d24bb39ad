"use strict";
/* What has changed comes as server-sent events. Charts come as there is something to show: a section that has no place
   for one of them yet is taken from the page as it would be sent now, and what the viewer reads stays where it is. */
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
  source.onerror = () => show("▲ the run does not answer", "warning");
  source.onmessage = async (event) => {
    const news = JSON.parse(event.data);
    document.getElementById("live-now").innerHTML = news.now;
    charts = news.charts;
    if (news.isOver) {
      source.close();
      show("✓ over", "ok");
    } else if (!charts.every(hasPlace)) {
      try { await makePlaces(); } catch { /* the run has just ended, or the next event tries again */ }
    }
    document.dispatchEvent(new CustomEvent("charts", { detail: charts.filter(hasPlace) }));
  };
})();
