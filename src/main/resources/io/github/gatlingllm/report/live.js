"use strict";
/* What has changed comes as server-sent events; a chart that the page has no place for yet makes it load again. */
(() => {
  const state = document.getElementById("state");
  const show = (text, css) => { state.textContent = text; state.className = "badge " + css; };
  const source = new EventSource("events");
  source.onopen = () => show("● live", "ok");
  source.onerror = () => show("▲ the run does not answer", "warning");
  source.onmessage = (event) => {
    const news = JSON.parse(event.data);
    document.getElementById("live-now").innerHTML = news.now;
    if (news.isOver) {
      source.close();
      show("✓ over", "ok");
    }
    if (news.charts.every((chart) => document.getElementById(chart.id))) {
      document.dispatchEvent(new CustomEvent("charts", { detail: news.charts }));
    } else if (!news.isOver) {
      location.reload();
    }
  };
})();
