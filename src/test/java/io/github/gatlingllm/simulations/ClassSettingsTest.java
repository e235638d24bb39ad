package io.github.gatlingllm.simulations;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.gatlingllm.load.LoadLevel;
import io.github.gatlingllm.settings.Setting;
import io.github.gatlingllm.settings.Settings;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Classes of traffic: their loads, what they have of their own and in common, and mistakes. */
class ClassSettingsTest {

  private static final String TWO = "class.batch.concurrency=8 class.chat.rate=2 ";

  private static List<BenchmarkPlan> classes(String settings) {
    return CheckedSettings.plan(settings).classes();
  }

  private static String loads(String settings) {
    return String.join(
        " + ",
        classes(settings).stream()
            .map(
                plan ->
                    String.join(
                        " ", plan.loadText().levels().stream().map(LoadLevel::label).toList()))
            .toList());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "class.a.weight=70 class.b.weight=30 rate=10 | r=7 + r=3",
        "class.a.weight=3 class.b.weight=1 rate=2,4 | r=1.5 r=3 + r=0.5 r=1",
        "class.a.weight=1 class.b.weight=1 class.c.weight=2 concurrency=8 | c=2 + c=2 + c=4",
        "class.a.weight=1 class.b.weight=2 concurrency=10 | c=3 + c=7",
        "class.a.weight=1 class.b.concurrency=5 rate=4 | r=4 + c=5",
        "class.a.concurrency=5 class.b.rate=2 rate=4 | c=5 + r=2",
        "class.a.rate=1 class.b.rate=2 arrival=gamma:2 | r=1 + r=2",
        "class.a.rate=1 | r=1",
      })
  void eachClassHasAPartOfTheLoadOrItsOwn(String settings, String expected) {
    assertThat(loads(settings)).isEqualTo(expected);
  }

  @Test
  void ownSettingsReplaceCommonOnes() {
    List<BenchmarkPlan> both =
        classes(
            TWO
                + "class.chat.slo=ttft<1s class.chat.scenario=C promptTokens=40 maxTokens=9"
                + " class.batch.maxTokens=7");
    BenchmarkPlan batch = both.get(0);
    BenchmarkPlan chat = both.get(1);
    assertThat(batch.get(Setting.MAX_TOKENS).get(0).text()).isEqualTo("7");
    assertThat(chat.get(Setting.MAX_TOKENS).get(0).text()).isEqualTo("9");
    assertThat(batch.get(Setting.PROMPT_TOKENS).get(0).text()).isEqualTo("40");
    assertThat(chat.get(Setting.PROMPT_TOKENS)).as("scenarios have their own prompts").isEmpty();
    assertThat(chat.slo().all().toString()).isEqualTo("ttft<1s");
    assertThat(batch.slo().isEmpty()).isTrue();
    assertThat(chat.config())
        .containsEntry("class.chat.slo", "ttft<1s")
        .containsEntry("class.batch.concurrency", "8");
    assertThat(Stream.of(batch, chat).map(plan -> plan.workload().pools().isEmpty()))
        .containsExactly(false, true);
  }

  @Test
  void classesHaveDifferentPromptsAndArrivals() {
    List<BenchmarkPlan> both = classes("class.a.rate=2 class.b.rate=2 seed=5");
    assertThat(both).extracting(BenchmarkPlan::seed).containsExactly(5L, 5L);
    LoadLevel.Open one = (LoadLevel.Open) both.get(0).loadText().levels().get(0);
    LoadLevel.Open other = (LoadLevel.Open) both.get(1).loadText().levels().get(0);
    assertThat(one.arrivals()).isNotEqualTo(other.arrivals());
    assertThat(both.get(0).workload().pools().get(0).prompts().made())
        .isNotEqualTo(both.get(1).workload().pools().get(0).prompts().made());
  }

  /** In a file as blocks, in the environment in capitals; a property wins. */
  @Test
  void classesAreReadFromAllSources(@TempDir Path folder) throws Exception {
    Path file =
        Files.writeString(
            folder.resolve("bench.conf"),
            """
            class {
              chat { weight = 70, body = { priority = 0 }, header.X-Tenant = acme }
              batch { weight = 30, maxTokens = 512 }
            }
            """);
    Settings settings =
        CheckedSettings.settings(
            Map.of("config", file.toString(), "class.chat.weight", "60", "concurrency", "9"),
            Map.of("LLM_CLASS_BATCH_MAX_TOKENS", "256"),
            folder);
    assertThat(settings.shown())
        .containsEntry("class.chat.weight", "60")
        .containsEntry("class.batch.maxTokens", "256")
        .containsEntry("class.chat.header.X-Tenant", "***");
    List<Settings> each = settings.ofClasses();
    assertThat(each).extracting(Settings::className).containsExactly("batch", "chat");
    assertThat(each.get(1).get(Setting.BODY).path("priority").asInt(-1)).isZero();
    assertThat(each.get(1).headers()).containsEntry("X-Tenant", "acme");
    assertThat(each.get(0).headers()).isEmpty();

    assertThatThrownBy(
            () ->
                CheckedSettings.plan(
                    Map.of("config", Files.writeString(file, "\nclass.a.turn = 3").toString()),
                    Map.of()))
        .hasMessageContaining("bench.conf:2: class.a.turn is not a setting of a class of traffic");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "class.chat.slo=ttft<1s class.batch.rate=1 | llm.class.chat.rate: class of traffic 'chat'"
            + " has no load; set",
        "class.chat.rate=1 class.chat.weight=2 | llm.class.chat.weight=2: a class of traffic has a"
            + " share of the common load or",
        "class.chat.rate=1 interference=true | llm.interference=true: there is one class of"
            + " traffic; expected two or more",
        "interference=true rate=2 | llm.interference=true: compares classes of traffic; set"
            + " llm.class.<name>.<setting> too",
        "class.chat.turn=3 | llm.class.chat.turn is not a setting of a class of traffic; did you"
            + " mean turns?",
        "class.chat.gpus=3 | llm.class.chat.gpus is not a setting of a class of traffic; llm.help"
            + " lists all settings",
        "class.chat.rate=1 class.Chat.turns=2 | llm.class.chat.rate: the class of traffic is also"
            + " called Chat",
        "class.chat.rate=x | llm.class.chat.rate=x: expected",
        "class.chat.rate=1 class.chat.turnByTurn=true | llm.class.chat.turnByTurn=true: replays"
            + " recorded dialogs; set llm.dataset",
        "class.a.weight=1 class.b.weight=9 concurrency=4 | llm.concurrency=4: too few for the"
            + " weights: class of traffic 'a' would",
        "class.a.weight=1 class.b.weight=1 rate=1:5s,2:5s | llm.rate=1:5s,2:5s: classes share rates"
            + " by weight; a curve",
        "class.a.rate=1 class.b.rate=1,2 | llm.class.<name>.<setting>: classes of traffic run"
            + " together; expected the same load levels",
        "class.a.rate=1 class.b.rate=1 requests=5 | llm.class.<name>.<setting>: cannot be set"
            + " together with llm.requests",
        "class.a.rate=1 class.b.rate=1 repeats=auto:3% | expected a number of repeats",
        "class.a.rate=1 scenario=B1,C | llm.class.<name>.<setting>: 'a' would have several"
            + " scenarios",
        "weight=3 rate=2 | llm.weight=3: only classes of traffic share a load",
        "weight=3 class.a.rate=2 | llm.weight=3: a weight belongs to one class of traffic",
        "class.a.rate=1 assert=b:ttft.p99<1s | no load level is called 'b'; expected r=1, a",
      })
  void mistakesAreOneLineBeforeTheLoad(String settings, String message) {
    assertThatThrownBy(() -> CheckedSettings.plan(settings))
        .satisfies(e -> assertThat(e.getMessage()).contains(message).hasSizeLessThanOrEqualTo(200));
  }
}
