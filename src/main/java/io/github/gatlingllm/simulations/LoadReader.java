package io.github.gatlingllm.simulations;

import io.github.gatlingllm.simulations.Load.Arrival;
import io.github.gatlingllm.simulations.Load.Level;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Makes the load of its settings. */
record LoadReader(Settings settings) {

  /** The load. */
  Load load() {
    Arrival arrival = settings.get(Setting.ARRIVAL);
    List<Level> rates = settings.get(Setting.RATE);
    boolean search = search(rates);
    boolean open = !rates.isEmpty() || search || arrival instanceof Load.Replay;
    List<Integer> concurrency = settings.get(Setting.CONCURRENCY);
    Integer requests = settings.get(Setting.REQUESTS);
    if (requests != null && !open && concurrency.stream().anyMatch(c -> c > requests)) {
      settings.warn("llm.requests=" + requests + " is below a level's concurrency: never reached");
    }
    Duration measure = settings.get(Setting.MEASURE);
    return new Load(
        levels(arrival, rates, search, concurrency),
        arrival == null && open ? new Load.Poisson() : arrival,
        measure == null ? settings.get(Setting.DURATION) : measure,
        requests,
        settings.get(Setting.WARMUP),
        fill(open),
        settings.get(Setting.STABILIZE),
        settings.get(Setting.DRAIN),
        settings.get(Setting.STOP_WHEN),
        search,
        settings.get(Setting.TRIALS));
  }

  private static List<Level> levels(
      @Nullable Arrival arrival, List<Level> rates, boolean search, List<Integer> concurrency) {
    if (arrival instanceof Load.Replay recorded) {
      return List.of(recorded);
    }
    if (!rates.isEmpty()) {
      return rates;
    }
    return search
        ? List.of(new Load.Open(1))
        : concurrency.stream().<Level>map(Load.Closed::new).toList();
  }

  /** Whether to search; the one rate, if there is one, is where it starts. */
  private boolean search(List<Level> rates) {
    boolean search = settings.get(Setting.SEARCH);
    if (search && rates.size() > 1) {
      throw settings.invalid(Setting.SEARCH, "expected one llm.rate at most, where it starts");
    }
    return search;
  }

  private Duration fill(boolean open) {
    Duration fill = settings.get(Setting.FILL);
    if (open && !fill.isZero()) {
      throw settings.invalid(Setting.FILL, "only closed loops fill; use llm.stabilize with rates");
    }
    return fill;
  }
}
