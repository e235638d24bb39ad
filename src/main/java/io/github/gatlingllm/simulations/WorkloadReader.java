package io.github.gatlingllm.simulations;

import io.github.gatlingllm.wire.Api;
import io.github.gatlingllm.workload.Dataset;
import io.github.gatlingllm.workload.DatasetFormat;
import io.github.gatlingllm.workload.LengthDistribution;
import io.github.gatlingllm.workload.PromptFile;
import io.github.gatlingllm.workload.PromptPool;
import io.github.gatlingllm.workload.PromptPrefix;
import io.github.gatlingllm.workload.Prompts;
import io.github.gatlingllm.workload.Tokenizer;
import io.github.gatlingllm.workload.WorkloadScenario;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Reads what is asked, and makes its prompts.
 *
 * @param tokenizer what counts them
 * @param seed what they are drawn from
 * @param requests how many there will be; null where the server decides
 */
record WorkloadReader(
    Settings settings,
    TypedSettings typed,
    Tokenizer tokenizer,
    long seed,
    @Nullable Long requests) {

  private static final Pattern GROUPS = Pattern.compile("(\\d{1,6})x(\\d{1,7})");
  private static final Pattern SHARE = Pattern.compile("(.+):(\\d{1,9}(?:\\.\\d{1,9})?)");
  private static final String NAMES = "A1, A2, B1, B2, C or D";

  Workload workload(Api api, PromptPrefix prefix) {
    typed.refuseTogether(Setting.PROMPT, Setting.PROMPTS, "a fixed text or a file");
    for (Setting other : List.of(Setting.PROMPT, Setting.PROMPTS, Setting.PROMPT_TOKENS)) {
      typed.refuseTogether(Setting.DATASET, other, "each says what is asked");
    }
    typed.refuseTogether(Setting.SCENARIO, Setting.MIX, "one after the other or mixed");
    for (Setting known : List.of(Setting.SCENARIO, Setting.MIX)) {
      typed.refuseTogether(known, Setting.PROMPT, "scenarios bring their prompts");
      typed.refuseTogether(known, Setting.PROMPTS, "scenarios bring their prompts");
      typed.refuseTogether(known, Setting.DATASET, "scenarios bring their prompts");
      typed.refuseTogether(known, Setting.PROMPT_TOKENS, "scenarios bring their lengths");
    }
    if (settings.isSet(Setting.SCENARIO)) {
      return scenarios(api);
    }
    if (settings.isSet(Setting.DATASET)) {
      return recorded();
    }
    return settings.isSet(Setting.MIX) ? mix(api) : pool(prefix);
  }

  private Workload.Recorded recorded() {
    String text = Objects.requireNonNull(settings.text(Setting.DATASET));
    int colon = text.indexOf(':');
    if (colon < 1 || colon == text.length() - 1) {
      throw settings.invalid(Setting.DATASET, "expected <format>:<file>, e.g. sharegpt:chats.json");
    }
    try {
      Dataset dataset =
          Dataset.open(
              DatasetFormat.ofKey(text.substring(0, colon)), text.substring(colon + 1), tokenizer);
      return new Workload.Recorded(dataset, !settings.isSet(Setting.MAX_TOKENS));
    } catch (IllegalArgumentException e) {
      throw settings.invalid(Setting.DATASET, String.valueOf(e.getMessage()));
    }
  }

  private Workload.Pool pool(PromptPrefix prefix) {
    PromptPool source = source();
    LengthDistribution lengths = lengths();
    Prompts prompts = Prompts.of(source, seed);
    if (lengths == null) {
      return new Workload.Pool(prompts);
    }
    PromptPrefix.Texts texts = prefix.texts(tokenizer);
    int before = tokenizer.count(texts.of(0));
    if (lengths.least() <= before && !(lengths instanceof LengthDistribution.Normal)) {
      throw settings.invalid(
          Setting.PROMPT_TOKENS,
          "leaves nothing of a prompt after its prefix of " + before + " tokens; ask for more");
    }
    return new Workload.Pool(prompts.prefix(texts).tokens(lengths, tokenizer, distinct(1)));
  }

  private PromptPool source() {
    String text = settings.text(Setting.PROMPT);
    String file = settings.text(Setting.PROMPTS);
    if (file == null) {
      return text == null ? PromptPool.builtIn() : PromptPool.of(text);
    }
    try {
      return PromptFile.read(Path.of(file));
    } catch (InvalidPathException e) {
      throw settings.invalid(Setting.PROMPTS, "expected a path to a readable file");
    } catch (IllegalArgumentException e) {
      throw settings.invalid(Setting.PROMPTS, String.valueOf(e.getMessage()));
    }
  }

  private @Nullable LengthDistribution lengths() {
    String text = settings.text(Setting.PROMPT_TOKENS);
    try {
      return text == null ? null : LengthDistribution.parse(text);
    } catch (IllegalArgumentException e) {
      throw settings.invalid(Setting.PROMPT_TOKENS, String.valueOf(e.getMessage()));
    }
  }

  private Workload.Scenarios scenarios(Api api) {
    Set<WorkloadScenario> seen = EnumSet.noneOf(WorkloadScenario.class);
    List<WorkloadScenario.Ready> list = new ArrayList<>();
    for (String name : typed.parts(Setting.SCENARIO)) {
      list.add(ready(Setting.SCENARIO, name, "such as A1,B1,C", api, seen));
    }
    return new Workload.Scenarios(list);
  }

  private Workload.Mix mix(Api api) {
    Set<WorkloadScenario> seen = EnumSet.noneOf(WorkloadScenario.class);
    List<Workload.Mix.Share> shares = new ArrayList<>();
    for (String part : typed.parts(Setting.MIX)) {
      Matcher share = SHARE.matcher(part);
      if (!share.matches() || Double.parseDouble(share.group(2)) == 0) {
        throw settings.invalid(
            Setting.MIX, "expected scenarios and their weights above 0, such as C:70,B1:30");
      }
      shares.add(
          new Workload.Mix.Share(
              ready(Setting.MIX, share.group(1), "with weights such as C:70,B1:30", api, seen),
              Double.parseDouble(share.group(2))));
    }
    return new Workload.Mix(shares);
  }

  private WorkloadScenario.Ready ready(
      Setting setting, String name, String example, Api api, Set<WorkloadScenario> seen) {
    WorkloadScenario scenario = WorkloadScenario.of(name);
    if (scenario == null) {
      throw settings.invalid(setting, "expected " + NAMES + ", " + example);
    }
    if (!seen.add(scenario)) {
      throw settings.invalid(setting, "expected each scenario once");
    }
    if (scenario.dialog() && api == Api.COMPLETIONS) {
      throw settings.invalid(setting, scenario + " is a dialog, which needs the chat API");
    }
    return scenario.ready(
        tokenizer, seed, distinct(scenario.dialog() ? WorkloadScenario.TURNS : 1));
  }

  /** As many as are needed, and no more than can be made in seconds. */
  private int distinct(int perRequest) {
    return requests == null
        ? Prompts.MOST_MADE
        : (int) Math.max(1, Math.min(requests * perRequest, Prompts.MOST_MADE));
  }

  PromptPrefix prefix() {
    boolean unique = typed.flag(Setting.UNIQUE_PROMPTS, false);
    String shared = settings.text(Setting.SHARED_PREFIX);
    if (unique && shared != null) {
      throw settings.invalid(
          Setting.SHARED_PREFIX,
          "cannot be set together with llm.uniquePrompts (a nonce first leaves nothing to share)");
    }
    if (shared == null) {
      return unique ? PromptPrefix.unique(seed) : PromptPrefix.NONE;
    }
    Matcher form = GROUPS.matcher(shared);
    try {
      if (form.matches()) {
        return PromptPrefix.shared(
            Integer.parseInt(form.group(1)), Integer.parseInt(form.group(2)), seed);
      }
    } catch (IllegalArgumentException e) {
      // Said below.
    }
    throw settings.invalid(
        Setting.SHARED_PREFIX,
        "expected <groups>x<tokens>, 1 or more groups of 2 or more tokens, such as 8x512");
  }
}
