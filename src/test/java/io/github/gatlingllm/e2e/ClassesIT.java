package io.github.gatlingllm.e2e;

import static io.gatling.javaapi.core.CoreDsl.scenario;
import static io.github.gatlingllm.javaapi.LlmDsl.*;
import static java.time.Duration.ofMillis;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.gatling.javaapi.core.ScenarioBuilder;
import io.gatling.javaapi.core.Simulation;
import io.github.gatlingllm.engine.EmbeddedEngine;
import io.github.gatlingllm.record.LevelInfo;
import io.github.gatlingllm.record.LevelInfo.Phase;
import io.github.gatlingllm.simulations.Benchmark;
import io.github.gatlingllm.testing.GatlingRun;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

/** Two classes of traffic on a server that serves four requests at a time, those of chat first. */
class ClassesIT {

  @AutoClose
  private final EmbeddedEngine engine =
      EmbeddedEngine.builder().maxBatch(4).decodeStep(ofMillis(5)).decodeGrowth(0, 0).start();

  @Test
  void classesAreMeasuredAloneAndTogether() throws Exception {
    GatlingRun run =
        GatlingRun.of(Benchmark.class)
            .set("llm.endpoint", engine.baseUrl())
            .set("llm.class.batch.concurrency", 12)
            .llm(
                "class.chat.weight=100 class.chat.body={\"priority\":-1} class.chat.slo=ttft<60s"
                    + " class.chat.maxTokens=4 class.batch.maxTokens=20 class.batch.fill=0 rate=20"
                    + " stabilize=0.1 duration=1 repeats=2 interference=true promptTokens=40 seed=3"
                    + " sharedPrefix=2x20 tokenizer=auto"
                    + " assert=chat:goodput>=100%,batch:ttft.p50<60s")
            .succeed();

    assertThat(run.info().stages())
        .extracting(level -> level.scenario() + " " + level.label())
        .containsExactlyInAnyOrder(
            "chat r=20#1",
            "chat r=20#2",
            "chat r=20 alone#1",
            "chat r=20 alone#2",
            "batch c=12#1",
            "batch c=12#2",
            "batch c=12 alone#1",
            "batch c=12 alone#2");
    List<LevelInfo> levels = run.info().stages();
    for (LevelInfo level : levels) {
      long overlapping = levels.stream().filter(other -> overlaps(level, other)).count();
      assertThat(overlapping).as(level.label()).isEqualTo(LevelInfo.isAlone(level.label()) ? 1 : 2);
    }
    JsonNode summary = run.summary();
    assertThat(summary.path("curves"))
        .extracting(curve -> curve.path("scenario").asText() + curve.path("stages"))
        .containsExactlyInAnyOrder("chat[\"r=20\"]", "batch[\"c=12\"]");
    assertThat(summary.path("requests"))
        .extracting(each -> each.path("name").asText())
        .containsExactlyInAnyOrder("chat", "batch");
    List<String> compared = new ArrayList<>();
    summary
        .path("interference")
        .forEach(
            each -> compared.add(each.path("name").asText() + " " + each.path("figure").asText()));
    assertThat(compared)
        .contains("chat ttft.p50", "chat tpot.p50", "chat goodput.percent", "batch ttft.mean")
        .doesNotContain("batch goodput.percent");
    assertThat(run.row("stages", "label", "c=12").path("goodput").isNull())
        .as("batch has no objectives")
        .isTrue();
    assertThat(run.info().config())
        .containsEntry("class.chat.weight", "100")
        .containsEntry("class.batch.concurrency", "12");
    assertThat(run.output())
        .contains("chat alone", "Classes of traffic: alone, and with the others")
        .contains("Other classes of traffic");
    assertThat(Files.readString(run.files().summaryMarkdown())).contains("| chat ");
    assertThat(Files.readString(run.files().page())).contains("with others");
  }

  private static boolean overlaps(LevelInfo one, LevelInfo other) {
    var a = one.window(Phase.MEASURE).orElseThrow();
    var b = other.window(Phase.MEASURE).orElseThrow();
    return a.startUnixNanos() < b.endUnixNanos() && b.startUnixNanos() < a.endUnixNanos();
  }

  @Test
  void scenariosInCodeAreClasses() throws Exception {
    GatlingRun run = GatlingRun.of(InTurns.class, engine.baseUrl()).succeed();

    assertThat(run.info().stages())
        .extracting(level -> level.scenario() + " " + level.label())
        .containsExactlyInAnyOrder("Ask r=20", "Ask r=20 alone", "Load c=6", "Load c=6 alone");
    assertThat(run.summary().path("interference"))
        .extracting(each -> each.path("name").asText())
        .contains("Ask", "Load");
  }

  public static final class InTurns extends Simulation {

    private final ScenarioBuilder ask =
        scenario("Ask").exec(llm("ask").chat().user("hi").maxTokens(4).body("{\"priority\":-1}"));

    private final ScenarioBuilder load =
        scenario("Load").exec(llm("load").chat().user("hi").maxTokens(20));

    {
      setUp(
              aloneAndTogether(
                  openLoop(20).stabilize(ofMillis(100)).measure(ofMillis(600)).inject(ask),
                  closedLoop(6)
                      .fill(0)
                      .stabilize(ofMillis(100))
                      .measure(ofMillis(600))
                      .inject(load)))
          .protocols(llm.baseUrl(System.getProperty("baseUrl")).model("embedded"));
    }
  }
}
