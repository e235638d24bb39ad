package io.github.gatlingllm.load;

import org.jspecify.annotations.Nullable;

/**
 * What became of the requests that a level had scheduled in its measure phase.
 *
 * @param label of the level
 * @param attempted requests that the SLO was judged of, failed ones included
 * @param met of those, how many met every objective; null without SLO
 * @param sloPercentile a level holds the SLO when at least this share of its attempted requests, in
 *     percent, meet it
 * @param ended requests that ended by themselves, well or badly
 * @param failed of those, how many were not ok
 * @param arrived requests scheduled in the second half of the measure phase; null where that is not
 *     known: closed levels, levels bounded by a count
 * @param served requests of any phase that ended in that half, well or badly
 * @param failures requests of all phases that were not ok, the cancelled ones excepted
 * @param cut whether a rule ended it before its time
 */
public record LevelResult(
    String label,
    long attempted,
    @Nullable Long met,
    double sloPercentile,
    long ended,
    long failed,
    @Nullable Long arrived,
    long served,
    long failures,
    boolean cut) {

  /** Share of attempted requests that met the SLO, 0 to 1; null without SLO or attempts. */
  public @Nullable Double sloShare() {
    return met == null || attempted == 0 ? null : (Double) ((double) met / attempted);
  }

  /** Whether the level holds the SLO; null without SLO or attempts. */
  public @Nullable Boolean holdsSlo() {
    Double share = sloShare();
    return share == null ? null : (Boolean) (share * 100 >= sloPercentile - 1e-9);
  }

  /** Share of ended requests that failed, 0 to 1; null when none ended. */
  public @Nullable Double failedShare() {
    return ended == 0 ? null : (Double) ((double) failed / ended);
  }
}
