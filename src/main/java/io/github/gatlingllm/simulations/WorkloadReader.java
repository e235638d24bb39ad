package io.github.gatlingllm.simulations;

import io.github.gatlingllm.client.Api;
import io.github.gatlingllm.load.Seed;
import io.github.gatlingllm.load.Trace;
import io.github.gatlingllm.record.PrintableText;
import io.github.gatlingllm.settings.Setting;
import io.github.gatlingllm.settings.SettingValue.Length;
import io.github.gatlingllm.settings.SettingValue.ShownImages;
import io.github.gatlingllm.settings.SettingValue.Weighted;
import io.github.gatlingllm.settings.Settings;
import io.github.gatlingllm.workload.Dataset;
import io.github.gatlingllm.workload.Dataset.SessionFile;
import io.github.gatlingllm.workload.LengthDistribution;
import io.github.gatlingllm.workload.PromptPrefix;
import io.github.gatlingllm.workload.Prompts;
import io.github.gatlingllm.workload.Prompts.PromptPool;
import io.github.gatlingllm.workload.Tokenizer;
import io.github.gatlingllm.workload.WorkloadScenario;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.function.Function;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Reads the settings of the workload and generates its prompts. */
record WorkloadReader(
    Settings settings,
    ModelTokenizers counter,
    long seed,
    @Nullable Long requests,
    @Nullable Trace trace) {

  /** Gives each pair of a grid prompts of its own. */
  private static final long GRID_SALT = 0x7061697273677269L; // "pairsgri"

  private static final int DRAWS = 1_000;

  /** Minimum length of a prompt in tokens that leaves room for a nonce and a text. */
  private static final int ROOM_FOR_NONCE = 32;

  private Tokenizer tokenizer() {
    return counter.tokenizer();
  }

  Workload workload(Api api, PromptPrefix prefix) {
    if (settings.isSet(Setting.INPUTS_PER_REQUEST) && api.generates()) {
      throw settings.invalid(
          Setting.INPUTS_PER_REQUEST, "only embeddings and rerank have inputs (llm.api)");
    }
    Function<Tokenizer, Dataset> dataset = settings.get(Setting.DATASET);
    if (dataset != null) {
      if (settings.get(Setting.TURN_BY_TURN) && !api.takesMessages()) {
        throw settings.invalid(Setting.TURN_BY_TURN, "dialogs need an API that takes messages");
      }
      Dataset opened = settings.checked(Setting.DATASET, () -> dataset.apply(tokenizer()));
      return new Workload(List.of(), opened, null, List.of(), false);
    }
    Function<Tokenizer, SessionFile> sessions = settings.get(Setting.SESSIONS);
    if (sessions != null) {
      SessionFile opened = settings.checked(Setting.SESSIONS, () -> sessions.apply(tokenizer()));
      return new Workload(List.of(), null, opened, List.of(), false);
    }
    checkDatasetsOfScenarios();
    for (Setting<List<Weighted>> known : List.of(Setting.SCENARIO, Setting.MIX)) {
      if (settings.isSet(known)) {
        return new Workload(
            List.of(),
            null,
            null,
            settings.get(known).stream()
                .map(w -> new Workload.Share(ready(known, w.scenario(), api), w.weight()))
                .toList(),
            known == Setting.MIX);
      }
    }
    ShownImages images = settings.get(Setting.IMAGES);
    if (images != null && !api.takesMessages()) {
      throw settings.invalid(Setting.IMAGES, "images need an API of messages, such as chat");
    }
    if (images != null) {
      var unused = settings.checked(Setting.IMAGES, () -> WorkloadScenarios.images(images, seed));
    }
    return new Workload(pools(prefix, api), null, null, List.of(), false);
  }

  static final Map<WorkloadScenario, Setting<@Nullable Function<Tokenizer, Dataset>>> DATASETS =
      Map.of(
          WorkloadScenario.B2, Setting.B2_DATASET,
          WorkloadScenario.D, Setting.D_DATASET);

  private void checkDatasetsOfScenarios() {
    DATASETS.forEach(
        (scenario, setting) -> {
          if (settings.isSet(setting)
              && Stream.of(Setting.SCENARIO, Setting.MIX)
                  .flatMap(known -> settings.get(known).stream())
                  .noneMatch(known -> known.scenario() == scenario)) {
            throw settings.invalid(
                setting, "has no effect without " + scenario + " in llm.scenario or llm.mix");
          }
        });
  }

  private @Nullable Dataset dataset(WorkloadScenario scenario) {
    Setting<@Nullable Function<Tokenizer, Dataset>> setting = DATASETS.get(scenario);
    Function<Tokenizer, Dataset> dataset = setting == null ? null : settings.get(setting);
    return dataset == null ? null : settings.checked(setting, () -> dataset.apply(tokenizer()));
  }

  /** The prompts, or those of each pair of a grid, which draws its own. */
  private List<Workload.Pool> pools(PromptPrefix prefix, Api api) {
    List<Grid.Pair> pairs = Grid.pairs(settings);
    if (pairs.isEmpty()) {
      Prompts all = Prompts.of(source(), seed);
      Prompts sized =
          lengths().isEmpty() ? all : sized(all, prefix, lengths().get(0), distinct(1), api);
      LengthDistribution.Pairs both = settings.get(Setting.LENGTHS);
      if (both == null || settings.isSet(Setting.MAX_TOKENS)) {
        LengthDistribution outputs = settings.get(Setting.MAX_TOKENS).get(0).tokens();
        return List.of(new Workload.Pool("", sized, outputs, null));
      }
      int made = distinct(1);
      return List.of(
          new Workload.Pool(
              "",
              sized,
              both.outputs(seed, made),
              both.pairs().size() == 1 ? null : index -> both.at(seed, made, index).name()));
    }
    int each = Math.min(distinct(1), Workload.maxMade(pairs.size()));
    return IntStream.range(0, pairs.size())
        .mapToObj(
            i -> {
              Prompts own = Prompts.of(source(), Seed.at(seed, GRID_SALT, i).nextLong());
              Grid.Pair pair = pairs.get(i);
              return new Workload.Pool(
                  pair.name(),
                  sized(own, prefix, pair.prompt().tokens(), each, api),
                  pair.output().tokens(),
                  null);
            })
        .toList();
  }

  private Prompts sized(
      Prompts prompts, PromptPrefix prefix, LengthDistribution lengths, int count, Api api) {
    PromptPrefix.Texts texts = prefix.texts(tokenizer());
    int before = tokenizer().count(texts.of(0));
    Setting<?> setting = settings.isSet(Setting.LENGTHS) ? Setting.LENGTHS : Setting.PROMPT_TOKENS;
    if (!lengths.isRoomAfter(before)) {
      throw settings.invalid(
          setting,
          "leaves nothing of a prompt after its prefix of " + before + " tokens; ask for more");
    }
    int template = settings.get(Setting.PROMPT_TOKENS_OF).equals("request") ? template() : 0;
    Prompts sized = prompts.prefix(texts).tokens(lengths, tokenizer(), count, template);
    requireContext(setting, 0, sized, api);
    return sized;
  }

  private int template() {
    Integer known = counter.template();
    if (known == null) {
      throw settings.invalid(
          Setting.PROMPT_TOKENS_OF, "the server does not tell how many tokens its template adds");
    }
    return known;
  }

  /** Refuses what the server would: its context has room for prompt, template and answer. */
  private void requireContext(Setting<?> setting, int before, Prompts prompts, Api api) {
    Integer context = counter.context();
    if (context == null) {
      return;
    }
    int longest =
        before
            + prompts.made().stream()
                .mapToInt(each -> Objects.requireNonNullElse(each.tokens(), 0))
                .max()
                .orElse(0);
    int template = Objects.requireNonNullElse(counter.template(), 0);
    List<LengthDistribution> outputs = api.generates() ? outputs() : List.of();
    int shortest = outputs.stream().mapToInt(LengthDistribution::min).max().orElse(0);
    if (longest + template + shortest > context) {
      throw settings.invalid(
          setting,
          "prompts of %s tokens, %s of the chat template and outputs of %s exceed the server's context of %s; ask for less"
              .formatted(longest, template, shortest, context));
    }
    int drawn = longest(outputs);
    if (longest + template + drawn > context) {
      PrintableText.print(
          "LLM WARNING: prompts of up to %s tokens, %s of the chat template and outputs of up to %s may exceed the server's context of %s"
              .formatted(longest, template, drawn, context));
    }
  }

  private List<LengthDistribution> outputs() {
    LengthDistribution.Pairs pairs = settings.get(Setting.LENGTHS);
    return pairs == null || settings.isSet(Setting.MAX_TOKENS)
        ? settings.get(Setting.MAX_TOKENS).stream().map(Length::tokens).toList()
        : pairs.pairs().stream().map(LengthDistribution.RecordedPair::output).toList();
  }

  /** The longest output of {@value #DRAWS} draws. */
  private int longest(List<LengthDistribution> outputs) {
    SplittableRandom random = new SplittableRandom(seed);
    return outputs.stream()
        .flatMapToInt(
            lengths -> IntStream.range(0, DRAWS).map(index -> lengths.draw(random, index)))
        .max()
        .orElse(0);
  }

  /** The lengths of prompts, several in a grid; empty where prompts keep theirs. */
  private List<LengthDistribution> lengths() {
    boolean isBuiltIn =
        settings.get(Setting.PROMPTS) == null
            && settings.get(Setting.PROMPT) == null
            && !settings.get(Setting.SELF_TEST);
    List<Length> set = settings.get(Setting.PROMPT_TOKENS);
    LengthDistribution.Pairs both = settings.get(Setting.LENGTHS);
    if (both != null) {
      return List.of(both.inputs(seed, distinct(1)));
    }
    if (set.isEmpty()
        && trace != null
        && trace.hasInputs()
        && settings.get(Setting.PROMPT) == null) {
      return List.of(LengthDistribution.recorded(trace));
    }
    if (!set.isEmpty() || !isBuiltIn) {
      return set.stream().map(Length::tokens).toList();
    }
    PromptPrefix.Shared shared = settings.get(Setting.SHARED_PREFIX);
    int before = shared == null ? 0 : shared.tokens(); // comes on top
    return List.of(
        LengthDistribution.uniform(Length.BUILT_IN_MIN + before, Length.BUILT_IN_MAX + before));
  }

  private PromptPool source() {
    String text = settings.get(Setting.PROMPT);
    return Objects.requireNonNullElseGet(
        settings.get(Setting.PROMPTS),
        () -> text == null ? PromptPool.builtIn() : PromptPool.of(text));
  }

  private WorkloadScenario.Ready ready(Setting<?> setting, WorkloadScenario scenario, Api api) {
    if (!api.generates()) {
      throw settings.invalid(
          setting,
          scenario + " requires generated text; " + api.key() + " needs prompts or a dataset");
    }
    if (scenario.dialog() && !api.takesMessages()) {
      throw settings.invalid(
          setting, scenario + " is a dialog, which needs an API that takes messages");
    }
    WorkloadScenario.Ready ready =
        scenario.ready(
            tokenizer(),
            seed,
            distinct(scenario.dialog() ? settings.get(Setting.TURNS) : 1),
            dataset(scenario));
    requireContext(setting, ready.systemTokens(), ready.prompts(), api);
    return ready;
  }

  /** As many distinct prompts as needed, but no more than can be generated in seconds. */
  private int distinct(int perRequest) {
    return requests == null
        ? Prompts.MAX_MADE
        : (int) Math.max(1, Math.min(requests * perRequest, Prompts.MAX_MADE));
  }

  PromptPrefix prefix() {
    PromptPrefix.Shared shared = settings.get(Setting.SHARED_PREFIX);
    if (shared != null) {
      return shared.seed(seed);
    }
    boolean isUnique =
        settings.get(Setting.UNIQUE_PROMPTS)
            && (settings.isSet(Setting.UNIQUE_PROMPTS) || saysNothingOfSharing());
    return isUnique ? new PromptPrefix.Unique(seed) : PromptPrefix.NONE;
  }

  private boolean saysNothingOfSharing() {
    return settings.get(Setting.SCENARIO).isEmpty()
        && !settings.isSet(Setting.MIX)
        && settings.get(Setting.DATASET) == null
        && !settings.get(Setting.SELF_TEST)
        && lengths().stream().allMatch(each -> each.isRoomAfter(ROOM_FOR_NONCE - 1));
  }
}
