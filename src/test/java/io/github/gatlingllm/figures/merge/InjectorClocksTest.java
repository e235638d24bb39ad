package io.github.gatlingllm.figures.merge;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.github.gatlingllm.record.ClockOffset;
import io.github.gatlingllm.record.ClockOffset.DateChange;
import io.github.gatlingllm.record.ClockOffset.Reading;
import io.github.gatlingllm.record.InjectorShare;
import io.github.gatlingllm.record.LevelInfo;
import io.github.gatlingllm.record.LevelInfo.PhaseWindow;
import io.github.gatlingllm.record.Phase;
import io.github.gatlingllm.record.RunInfo;
import java.util.List;
import java.util.Map;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** What is made of clocks that were compared in one way or another, or not at all. */
class InjectorClocksTest {

  private static final long MS = 1_000_000;
  private static final long START = 1_795_226_400_000L * MS;

  /** A run that measured 10 s from that instant on by its own clock. */
  private static RunInfo run(String injector, long startMs, @Nullable ClockOffset clock) {
    long from = START + startMs * MS;
    PhaseWindow measure = new PhaseWindow(Phase.MEASURE, from, from + 10_000 * MS);
    return RunInfo.started("run-" + injector, "demo.Chat", injector, from)
        .ended(from + 10_000 * MS, RunInfo.State.COMPLETE)
        .clock(clock)
        .stages(
            List.of(
                new LevelInfo("r=1", "a", "s", "open loop", 1.0, "requests/s", List.of(measure))));
  }

  /** Offset and uncertainty in ms. */
  private static ClockOffset ntp(String server, double offset, double uncertainty) {
    Reading reading = new Reading(START, Math.round(offset * MS), Math.round(uncertainty * MS));
    return new ClockOffset("ntp " + server, List.of(reading), 4 * MS, null, Map.of());
  }

  /** What an injector saw whose clock is that much behind, each change within so many ms. */
  private static Map<String, List<DateChange>> dates(double behind, double within) {
    return Map.of(
        "engine:80",
        LongStream.range(START / 1_000 / MS, START / 1_000 / MS + 10)
            .mapToObj(
                second -> {
                  long at = second * 1_000 * MS - Math.round(behind * MS);
                  long half = Math.round(within * MS);
                  return new DateChange(second, at - half, at + half);
                })
            .toList());
  }

  private static void isBegin(InjectorClocks clocks, int injector, double startMs) {
    assertThat((clocks.corrected().get(injector).startUnixNanos() - START) / 1e6)
        .isCloseTo(startMs, within(1e-3));
  }

  @Test
  void ntp() {
    InjectorClocks clocks =
        new InjectorClocks(
            List.of(
                run("north", -199, ntp("t:123", 200, 0.3)), run("south", 0, ntp("t:123", 0, 0.1))));

    isBegin(clocks, 0, 1);
    isBegin(clocks, 1, 0);
    PhaseWindow measure = clocks.corrected().get(0).stages().get(0).phases().get(0);
    assertThat(measure.startUnixNanos()).isEqualTo(START + MS);
    assertThat(measure.endUnixNanos()).isEqualTo(START + 10_001 * MS);
    assertThat(clocks.isCorrected(1)).as("0 is within its uncertainty").isFalse();
    assertThat(clocks.remarks())
        .containsExactly("clock of north: 200.0 ms behind ntp t:123, ± 0.3 ms; corrected");
    assertThat(clocks.correction(0))
        .isEqualTo(new ClockOffset.Correction("ntp t:123", 200 * MS, 3 * MS / 10, true, null));
  }

  @Test
  void differentNtpServersAddTheirOwnUncertainty() {
    InjectorClocks clocks =
        new InjectorClocks(
            List.of(
                run("north", -200, ntp("t:123", 200, 0.3)), run("south", 0, ntp("u:123", 0, 0.1))));

    assertThat(clocks.remarks())
        .containsExactly("clock of north: 200.0 ms behind ntp t:123, ± 4.3 ms; corrected");
  }

  @Test
  void datesOfAnswersCompareTwoClocks() {
    InjectorClocks clocks =
        new InjectorClocks(
            List.of(
                run("north", 0, ClockOffset.ofDates(dates(0, 1))),
                run("south", -200, ClockOffset.ofDates(dates(200, 2))),
                run("east", 0, ClockOffset.ofDates(dates(0, 2)))));

    isBegin(clocks, 1, 0);
    assertThat(clocks.isCorrected(0)).isFalse();
    assertThat(clocks.isCorrected(2)).isFalse();
    assertThat(clocks.remarks())
        .singleElement()
        .asString()
        .startsWith("clock of south: 200.0 ms behind that of north (Date of the answers), ± 3.")
        .endsWith(" ms; corrected");
  }

  /** One asked and is 50 ms behind; the other could not, and is 200 ms behind it. */
  @Test
  void datesAndNtpAreCombined() {
    ClockOffset none = ClockOffset.unknown("ntp t:123", "no answer within 500 ms");
    InjectorClocks clocks =
        new InjectorClocks(
            List.of(
                run("south", -250, none.withDates(dates(250, 2))),
                run("north", -50, ntp("t:123", 50, 0.1).withDates(dates(50, 1)))));

    isBegin(clocks, 0, 0);
    isBegin(clocks, 1, 0);
    assertThat(clocks.remarks().get(0))
        .startsWith("clock of south: 250.0 ms behind that of north (Date of the answers)");
  }

  @Test
  void unknownClocksAreReportedAndNotCorrected() {
    InjectorClocks clocks =
        new InjectorClocks(
            List.of(
                run("north", 0, ntp("t:123", 0, 0.1)),
                run("south", -200, null),
                run("east", 0, null),
                run("west", 7, ClockOffset.unknown("ntp t:123", "no answer within 500 ms"))));

    isBegin(clocks, 1, -200);
    assertThat(clocks.remarks())
        .containsExactly(
            "clock of south, east: it was not compared with another",
            "clock of west: ntp t:123: no answer within 500 ms");
    assertThat(clocks.correction(1))
        .isEqualTo(
            new ClockOffset.Correction("", null, null, false, "it was not compared with another"));
  }

  @Test
  void uncertainClocksAreReportedAndNotCorrected() {
    InjectorClocks clocks =
        new InjectorClocks(
            List.of(
                run("north", 0, ntp("t:123", 0, 0.1)), run("south", -200, ntp("t:123", 300, 150))));

    isBegin(clocks, 1, -200);
    assertThat(clocks.remarks())
        .containsExactly(
            "clock of south: 300.0 ms behind ntp t:123, ± 150.0 ms: too uncertain to correct it");
  }

  @Test
  void injectorsOfOneHostHaveOneClock() {
    InjectorClocks clocks =
        new InjectorClocks(
            List.of(
                run("host-1", 0, ntp("t:123", 70, 0.1)).share(new InjectorShare(1, 2)),
                run("host-2", 0, null).share(new InjectorShare(2, 2))));

    isBegin(clocks, 0, 70);
    isBegin(clocks, 1, 70);
    assertThat(clocks.correction(1).doubt()).isNull();
  }

  /** One of the two is wrong: a time server that lies, or two servers behind one address. */
  @Test
  void disagreementOfNtpAndDatesIsReported() {
    InjectorClocks clocks =
        new InjectorClocks(
            List.of(
                run("north", 0, ntp("t:123", 0, 0.1).withDates(dates(0, 1))),
                run("south", -200, ntp("t:123", 200, 0.1).withDates(dates(20, 1)))));

    isBegin(clocks, 1, 0);
    assertThat(clocks.remarks())
        .containsExactly(
            "clock of south: 200.0 ms behind ntp t:123, ± 0.1 ms; corrected",
            "clock of south: by NTP it is 200.0 ms behind that of north, by the Date of the answers"
                + " 20.0 ms behind it; NTP is taken");
  }
}
