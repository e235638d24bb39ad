package io.github.gatlingllm.e2e;

import static io.gatling.javaapi.core.CoreDsl.*;
import static io.github.gatlingllm.javaapi.LlmDsl.*;
import static java.time.Duration.ofMillis;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.gatling.javaapi.core.*;
import io.github.gatlingllm.engine.EmbeddedEngine;
import io.github.gatlingllm.load.RunningLevel;
import io.github.gatlingllm.record.GeneratorSecond;
import io.github.gatlingllm.record.GeneratorSecond.GeneratorField;
import io.github.gatlingllm.record.LevelInfo.Phase;
import io.github.gatlingllm.record.LevelInfo.PhaseWindow;
import io.github.gatlingllm.report.RunReport;
import io.github.gatlingllm.testing.GatlingRun;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

class BlockedLoopIT {
  private static final Pattern SPAN =
      Pattern.compile("c=8: event loops lagged .* from (\\d+) s to (\\d+) s of the load");

  @Test
  void blockedEventLoopIsReportedWithItsTime() throws Exception {
    try (EmbeddedEngine engine =
        EmbeddedEngine.builder().model("m").fixed(ofMillis(40), ofMillis(20)).start()) {
      GatlingRun run = GatlingRun.of(BlockedLoopSimulation.class, engine.baseUrl()).succeed();
      List<GeneratorSecond> seconds = new ArrayList<>();
      assertThat(GeneratorSecond.read(run.files().generator(), seconds::add)).isNull();
      PhaseWindow measured = run.stage("c=8").window(Phase.MEASURE).orElseThrow();
      long blockedAt =
          measured.startUnixNanos()
              + run.lines().stream()
                  .filter(line -> line.startsWith("BLOCKED "))
                  .mapToLong(line -> Long.parseLong(line.substring("BLOCKED ".length())))
                  .findFirst()
                  .orElseThrow();
      assertThat(blockedAt).as("while it was measured").isLessThan(measured.endUnixNanos());

      assertThat(seconds)
          .as("a line per second")
          .hasSizeGreaterThan(BlockedLoopSimulation.MEASURE_SECONDS)
          .allSatisfy(BlockedLoopIT::isComplete);
      assertThat(seconds.stream().mapToLong(s -> s.number(GeneratorField.PROCESS_CPU_S)).sum())
          .as("in each it may be less than is counted")
          .isPositive();
      assertThat(seconds.stream().mapToLong(s -> s.number(GeneratorField.EVENTS)).sum())
          .isEqualTo(run.requests().stream().mapToLong(r -> r.events().count()).sum());
      assertThat(seconds).anyMatch(second -> second.number(GeneratorField.IN_FLIGHT) > 0);
      assertThat(seconds)
          .as("lines end where measuring begins and ends")
          .extracting(second -> second.number(GeneratorField.START_UNIX_NS))
          .contains(measured.startUnixNanos(), measured.endUnixNanos());

      // What else the machine of the test is busy with is left out: other processes, other levels.
      Files.delete(run.files().generator());
      for (GeneratorSecond second : seconds) {
        if (second.number(GeneratorField.START_UNIX_NS) >= measured.startUnixNanos()) {
          second.with(GeneratorField.MACHINE_IDLE_S, null).append(run.files().generator());
        }
      }
      RunReport.of(run.files()).write();
      JsonNode check = run.check("generator");
      assertThat(check.path("level").asText()).as(check.toString()).isNotEqualTo("ok");
      Matcher span = SPAN.matcher(check.path("message").asText());
      assertThat(span.find()).as(check.toString()).isTrue();
      double atS = (blockedAt - run.info().loadStartUnixNanos()) / 1e9;
      assertThat(atS).as(check.toString()).isLessThanOrEqualTo(Double.parseDouble(span.group(2)));
      assertThat(atS + BlockedLoopSimulation.BLOCKED_MILLIS / 1e3)
          .as("a loop is late once it runs again: " + check)
          .isGreaterThanOrEqualTo(Double.parseDouble(span.group(1)));
      assertThat(run.info().machines()).containsOnlyKeys(run.info().injector());
      assertThat(Files.readString(run.files().page())).contains("Lag of the event loops");
    }
  }

  private static void isComplete(GeneratorSecond second) {
    assertThat(second.numbers(GeneratorField.LOOP_LAG_MAX_US)).isNotEmpty();
    assertThat(second.numbers(GeneratorField.LOOP_LAG_P50_US))
        .hasSameSizeAs(second.numbers(GeneratorField.LOOP_LAG_MAX_US));
    assertThat(second.numbers(GeneratorField.LATEST_LOOP_US))
        .hasSize(GeneratorSecond.LATE_MS.size());
    assertThat(second.number(GeneratorField.PROCESS_CPU_S)).isNotNegative();
    assertThat(second.number(GeneratorField.HEAP_USED_BYTES)).isPositive();
    assertThat(second.number(GeneratorField.CPUS)).isPositive();
  }

  /** Two load levels; in the second one a user's function blocks an event loop once. */
  public static final class BlockedLoopSimulation extends Simulation {

    static final int MEASURE_SECONDS = 3;
    static final int BLOCKED_MILLIS = 400;

    private static final long BLOCK_AFTER = TimeUnit.MILLISECONDS.toNanos(1_500);
    private static final AtomicBoolean BLOCKED = new AtomicBoolean();

    {
      ScenarioBuilder chat =
          scenario("Chat")
              .exec(BlockedLoopSimulation::mayBlock)
              .exec(llm("ask").chat().user("hi").maxTokens(8));
      setUp(
              closedLoop(4, 8)
                  .fill(0)
                  .stabilize(ofMillis(100))
                  .measure(MEASURE_SECONDS)
                  .disableCooldown()
                  .inject(chat))
          .protocols(llm.baseUrl(System.getProperty("baseUrl")).model("m"));
    }

    /** How long the second level has been measured when the function blocks. */
    private static Session mayBlock(Session session) {
      long now = System.nanoTime();
      RunningLevel level = session.get(RunningLevel.KEY);
      if (level.label().equals("c=8")
          && now - level.measureStartNanos() > BLOCK_AFTER
          && BLOCKED.compareAndSet(false, true)) {
        System.out.println("BLOCKED " + (now - level.measureStartNanos()));
        long until = now + TimeUnit.MILLISECONDS.toNanos(BLOCKED_MILLIS);
        while (System.nanoTime() < until) {
          LockSupport.parkNanos(until - System.nanoTime());
        }
      }
      return session;
    }
  }
}
