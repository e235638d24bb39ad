package io.github.gatlingllm.simulations;

import io.github.gatlingllm.client.Api;
import io.github.gatlingllm.load.Seed;
import io.github.gatlingllm.load.Trace;
import io.github.gatlingllm.record.PrintableText;
import io.github.gatlingllm.settings.Setting;
import io.github.gatlingllm.settings.SettingValue.Length;
import io.github.gatlingllm.settings.SettingValue.ShownImages;
import io.github.gatlingllm.settings.Settings;
import io.github.gatlingllm.workload.Dataset;
import io.github.gatlingllm.workload.Dataset.SessionFile;
import io.github.gatlingllm.workload.LengthDistribution;
import io.github.gatlingllm.workload.PromptPrefix;
import io.github.gatlingllm.workload.Prompts;
import io.github.gatlingllm.workload.Prompts.PromptPool;
import io.github.gatlingllm.workload.Tokenizer;
import io.github.gatlingllm.workload.WorkloadScenario;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.function.Function;
import java.util.function.LongFunction;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The requests of a benchmark: generated prompts, recorded dialogs or sessions, or known scenarios.
 *
 * @param pools several in a grid, one after the other, each with the full load
 * @param known one after the other, each with the full load, unless they have weights
 * @param weights of a mix: the share of a scenario is its weight ÷ their sum
 */
record Workload(
    PromptPrefix prefix,
    List<Pool> pools,
    @Nullable Dataset dataset,
    @Nullable SessionFile sessions,
    List<WorkloadScenario.Ready> known,
    List<Double> weights) {

  static final Workload NONE =
      new Workload(PromptPrefix.NONE, List.of(), null, null, List.of(), List.of());

  /** Gives each pair of a grid prompts of its own. */
  private static final long GRID_SALT = 0x7061697273677269L; // "pairsgri"

  private static final int DRAWS = 1_000;

  /** Minimum length of a prompt in tokens that leaves room for a nonce and a text. */
  private static final int ROOM_FOR_NONCE = 32;

  private static final Map<WorkloadScenario, Setting<@Nullable Function<Tokenizer, Dataset>>>
      DATASETS =
          Map.of(
              WorkloadScenario.B2, Setting.B2_DATASET,
              WorkloadScenario.D, Setting.D_DATASET);

  /**
   * Reads the settings of the workload and generates its prompts.
   *
   * @param requests how many prompts are needed so that none repeats; null if that is not known
   * @param trace whose lengths prompts have; null without
   */
  static Workload read(
      Settings settings,
      ModelTokenizers counter,
      long seed,
      @Nullable Long requests,
      @Nullable Trace trace,
      Api api) {
    return new Reader(settings, counter, seed, requests, trace).workload(api);
  }

  /** Whether each user runs one of the known scenarios, by weight. */
  boolean isMix() {
    return !weights.isEmpty();
  }

  /**
   * Generated prompts.
   *
   * @param pair the name of its pair of lengths; empty outside a grid
   * @param drawn the names of pairs of lengths that are drawn by weight, by the index of the draw
   */
  record Pool(
      String pair,
      Prompts prompts,
      LengthDistribution outputs,
      @Nullable LongFunction<String> drawn) {}

  private Stream<Prompts> prompts() {
    return Stream.concat(
        pools.stream().map(Pool::prompts), known.stream().map(WorkloadScenario.Ready::prompts));
  }

  /** Prompts that could not get their exact length; usually none. */
  Stream<String> misses() {
    return prompts().flatMap(each -> each.misses().stream());
  }

  /** The datasets by the setting that names them. */
  Map<Setting<?>, Dataset> datasets() {
    Map<Setting<?>, Dataset> datasets = new LinkedHashMap<>();
    if (dataset != null) {
      datasets.put(Setting.DATASET, dataset);
    }
    for (WorkloadScenario.Ready each : known) {
      Dataset own = each.dataset();
      if (own != null) {
        datasets.put(DATASETS.get(each.scenario()), own);
      }
    }
    return datasets;
  }

  /** Whether prompts of a file have lengths of their answers. */
  boolean hasOutputs() {
    return pools.stream().anyMatch(pool -> pool.prompts().hasOutputs());
  }

  long made() {
    return prompts().mapToLong(each -> each.made().size()).sum();
  }

  /** The maximum number of prompts that are generated for each of this number of pools. */
  static int maxMade(int pools) {
    return Math.max(1, Prompts.MAX_MADE / pools);
  }

  /** Number of scenarios that run one after the other. */
  int scenarios() {
    return isMix() ? 1 : Math.max(1, known.size() + pools.size());
  }

  boolean hasDialogs() {
    return known.stream().anyMatch(each -> each.scenario().isDialog());
  }

  /** Makes the workload of its settings. */
  private record Reader(
      Settings settings,
      ModelTokenizers counter,
      long seed,
      @Nullable Long requests,
      @Nullable Trace trace) {

    private Tokenizer tokenizer() {
      return counter.tokenizer();
    }

    private Workload workload(Api api) {
      PromptPrefix prefix = prefix();
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
        return new Workload(prefix, List.of(), opened, null, List.of(), List.of());
      }
      Function<Tokenizer, SessionFile> sessions = settings.get(Setting.SESSIONS);
      if (sessions != null) {
        SessionFile opened = settings.checked(Setting.SESSIONS, () -> sessions.apply(tokenizer()));
        return new Workload(prefix, List.of(), null, opened, List.of(), List.of());
      }
      checkDatasetsOfScenarios();
      for (Setting<Map<WorkloadScenario, Double>> known : List.of(Setting.SCENARIO, Setting.MIX)) {
        if (settings.isSet(known)) {
          Map<WorkloadScenario, Double> some = settings.get(known);
          return new Workload(
              prefix,
              List.of(),
              null,
              null,
              some.keySet().stream().map(each -> ready(known, each, api)).toList(),
              known == Setting.MIX ? List.copyOf(some.values()) : List.of());
        }
      }
      ShownImages images = settings.get(Setting.IMAGES);
      if (images != null && !api.takesMessages()) {
        throw settings.invalid(Setting.IMAGES, "images need an API of messages, such as chat");
      }
      if (images != null) {
        var unused = settings.checked(Setting.IMAGES, () -> WorkloadScenarios.images(images, seed));
      }
      return new Workload(prefix, pools(prefix, api), null, null, List.of(), List.of());
    }

    private void checkDatasetsOfScenarios() {
      DATASETS.forEach(
          (scenario, setting) -> {
            if (settings.isSet(setting)
                && Stream.of(Setting.SCENARIO, Setting.MIX)
                    .noneMatch(known -> settings.get(known).containsKey(scenario))) {
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
    private List<Pool> pools(PromptPrefix prefix, Api api) {
      List<GridPair> pairs = GridPair.pairs(settings);
      if (pairs.isEmpty()) {
        Prompts all = Prompts.of(source(), seed);
        Prompts sized =
            lengths().isEmpty() ? all : sized(all, prefix, lengths().get(0), distinct(1), api);
        LengthDistribution.Pairs both = settings.get(Setting.LENGTHS);
        if (both == null || settings.isSet(Setting.MAX_TOKENS)) {
          LengthDistribution outputs = settings.get(Setting.MAX_TOKENS).get(0).tokens();
          return List.of(new Pool("", sized, outputs, null));
        }
        int made = distinct(1);
        return List.of(
            new Pool(
                "",
                sized,
                both.outputs(seed, made),
                both.size() == 1 ? null : index -> both.name(seed, made, index)));
      }
      int each = Math.min(distinct(1), maxMade(pairs.size()));
      return IntStream.range(0, pairs.size())
          .mapToObj(
              i -> {
                Prompts own = Prompts.of(source(), Seed.at(seed, GRID_SALT, i).nextLong());
                GridPair pair = pairs.get(i);
                return new Pool(
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
      Setting<?> setting =
          settings.isSet(Setting.LENGTHS) ? Setting.LENGTHS : Setting.PROMPT_TOKENS;
      if (!lengths.isRoomAfter(before)) {
        throw settings.invalid(
            setting,
            "leaves nothing of a prompt after its prefix of " + before + " tokens; request more");
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
            "prompts of %s tokens, %s of the chat template and outputs of %s exceed the server's context of %s; request less"
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
          : pairs.outputs();
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

    /** The lengths of prompts, several in a grid; empty where prompts have theirs. */
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
      if (scenario.isDialog() && !api.takesMessages()) {
        throw settings.invalid(
            setting, scenario + " is a dialog, which needs an API that takes messages");
      }
      WorkloadScenario.Ready ready =
          scenario.ready(
              tokenizer(),
              seed,
              distinct(scenario.isDialog() ? settings.get(Setting.TURNS) : 1),
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

    private PromptPrefix prefix() {
      PromptPrefix.Shared shared = settings.get(Setting.SHARED_PREFIX);
      if (shared != null) {
        return shared.seed(seed);
      }
      boolean isUnique =
          settings.get(Setting.UNIQUE_PROMPTS)
              && (settings.isSet(Setting.UNIQUE_PROMPTS) || mayHaveNonces());
      return isUnique ? new PromptPrefix.Unique(seed) : PromptPrefix.NONE;
    }

    private boolean mayHaveNonces() {
      return settings.get(Setting.SCENARIO).isEmpty()
          && !settings.isSet(Setting.MIX)
          && settings.get(Setting.DATASET) == null
          && !settings.get(Setting.SELF_TEST)
          && lengths().stream().allMatch(each -> each.isRoomAfter(ROOM_FOR_NONCE - 1));
    }
  }
}
