package io.github.gatlingllm.figures.metric;

/** Adds streams that are sent as they come, by their instants. */
public final class BacklogOf {
  private BacklogOf() {}

  public static void add(Backlog backlog, long came, long begun, long ended) {
    backlog.add(came, came, begun, ended, ended, true);
  }
}
