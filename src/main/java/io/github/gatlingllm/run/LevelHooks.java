package io.github.gatlingllm.run;

import static java.util.Objects.requireNonNull;
import static java.util.stream.Collectors.groupingBy;
import static java.util.stream.Collectors.joining;

import io.github.gatlingllm.client.Secrets;
import io.github.gatlingllm.load.RunningLevel;
import io.github.gatlingllm.record.LevelInfo;
import io.github.gatlingllm.record.LevelInfo.HookCall;
import io.github.gatlingllm.record.PrintableText;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Requests to a target before and after its load levels, one after the other, such as {@code POST
 * /reset_prefix_cache}. A level before which one failed would measure something else: the run ends.
 * Those above a number of requests in flight are sent while the level runs, and the ones after it
 * only then.
 *
 * @param pages where each is sent to
 * @param measuring called when a level begins to measure
 * @param afterLast called after the last level; the plan ends by its task
 */
public record LevelHooks(
    List<Hook> before,
    List<Hook> after,
    Function<Hook, List<MetricsPage>> pages,
    Duration timeout,
    Consumer<RunningLevel> measuring,
    Consumer<Runnable> afterLast) {

  public static final LevelHooks NONE =
      new LevelHooks(
          List.of(), List.of(), hook -> List.of(), Duration.ZERO, level -> {}, Runnable::run);

  /** Sends them on a separate thread, which then continues; ends the run after a failure. */
  void before(String level, Run run, @Nullable String failedAfter, Consumer<List<HookCall>> then) {
    if (failedAfter != null) {
      // On a separate thread, as what ends the run waits for the lock of the caller.
      start(() -> end(run, failedAfter, "beforeLevel or afterLevel"));
      return;
    }
    List<Hook> hooks = before.stream().filter(hook -> hook.isFor(level)).toList();
    send(hooks, false, level, run, failure -> end(run, failure, "beforeLevel"), then);
  }

  /** The same; what fails is printed, as the level is measured. */
  void after(RunningLevel level, Run run, Consumer<String> failed, Consumer<List<HookCall>> then) {
    List<Hook> hooks =
        after.stream()
            .filter(
                hook ->
                    hook.above == null
                        ? hook.isFor(level.label())
                        : level.highestInFlight() > hook.above)
            .toList();
    send(hooks, true, level.label(), run, failed, then);
  }

  /**
   * Sends those above a number of requests in flight once that is exceeded; never on the thread
   * that exceeds it, which is an event loop. {@code then} is called before the first is sent.
   */
  void during(
      RunningLevel level,
      Run run,
      Consumer<String> failed,
      Consumer<CompletableFuture<List<HookCall>>> then) {
    Map<Integer, List<Hook>> byNumber =
        before.stream()
            .filter(hook -> hook.above != null)
            .collect(groupingBy(hook -> requireNonNull(hook.above)));
    byNumber.forEach(
        (above, hooks) ->
            level.whenAbove(
                above,
                () -> {
                  CompletableFuture<List<HookCall>> sent = new CompletableFuture<>();
                  then.accept(sent);
                  send(hooks, false, level.label(), run, failed, sent::complete);
                }));
  }

  /** Says which were for more requests than were ever in flight. */
  void sayUnsent(int highestInFlight, Run run) {
    Stream.concat(before.stream(), after.stream())
        .filter(hook -> hook.above != null && hook.above >= highestInFlight)
        .map(hook -> Secrets.redactUrl(hook.toString()))
        .forEach(
            hook ->
                run.message(
                    "LLM: %s was not sent: at most %s requests were in flight at once"
                        .formatted(hook, highestInFlight)));
  }

  private void send(
      List<Hook> hooks,
      boolean isAfter,
      String level,
      Run run,
      Consumer<String> failed,
      Consumer<List<HookCall>> then) {
    if (hooks.isEmpty()) {
      then.accept(List.of());
    } else {
      start(() -> then.accept(sent(hooks, isAfter, level, run, failed)));
    }
  }

  private static void start(Runnable task) {
    Thread thread = new Thread(task, "llm-between-levels");
    thread.setDaemon(true);
    thread.start();
  }

  private List<HookCall> sent(
      List<Hook> hooks, boolean isAfter, String level, Run run, Consumer<String> failed) {
    List<HookCall> sent = new ArrayList<>();
    PageClient client = new PageClient(timeout);
    for (Hook hook : hooks) {
      Integer above = hook.above;
      String when =
          isAfter ? "after" : above == null ? "before" : "with more than " + above + " running in";
      for (MetricsPage page : pages.apply(hook)) {
        String call = hook.method + " " + page;
        long start = System.nanoTime();
        try {
          int status = client.send(hook.method, page).join().statusCode();
          double seconds = (System.nanoTime() - start) / 1e9;
          sent.add(new HookCall(call, status, seconds, isAfter, above));
          if (status / 100 != 2) {
            throw new CompletionException("HTTP " + status, null);
          }
          run.message("LLM " + when + " " + level + ": " + call + ": HTTP " + status);
        } catch (CompletionException e) {
          failed.accept("%s %s level %s failed: %s".formatted(call, when, level, e.getMessage()));
        }
      }
    }
    return sent;
  }

  /** The report is made of what there is, as after a signal. */
  @SuppressWarnings("SystemExitOutsideMain") // main is Gatling's
  private static void end(Run run, String failure, String setting) {
    run.describe(info -> info.config("failed", failure));
    PrintableText.print(
        "LLM: " + failure + ". The run ends here; look at the server, or correct " + setting);
    System.exit(1);
  }

  /**
   * A method, a path of the server or a URL, and what it is for, if not for every level.
   *
   * @param level the label of the only level it is for
   * @param above a number of requests in flight: only for levels that exceed it
   */
  public record Hook(String method, String path, @Nullable String level, @Nullable Integer above) {

    private static final Pattern FORM =
        Pattern.compile("([A-Z]+):((?:https?://[^/]+)?/\\S*?)(?:@([^@/?&]+))?");

    private static final Pattern ABOVE = Pattern.compile("running>(\\d{1,7})");

    public static Hook parse(String text) {
      Matcher form = FORM.matcher(text);
      if (!form.matches()) {
        throw new IllegalArgumentException(
            "'%s' is not a request; expected a method and a path such as POST:/reset_prefix_cache"
                .formatted(text));
      }
      String path = URI.create(form.group(2)).toString();
      String only = form.group(3);
      if (only == null || !only.startsWith("running")) {
        return new Hook(form.group(1), path, only, null);
      }
      Matcher above = ABOVE.matcher(only);
      if (!above.matches()) {
        throw new IllegalArgumentException(
            "'@%s' is not a condition; expected a number of requests in flight such as @running>64"
                .formatted(only));
      }
      return new Hook(form.group(1), path, null, Integer.valueOf(above.group(1)));
    }

    public static List<Hook> all(String... texts) {
      return Stream.of(texts).map(Hook::parse).toList();
    }

    /** Without secrets in URLs. */
    public static String texts(List<Hook> hooks) {
      return hooks.stream().map(hook -> Secrets.redactUrl(hook.toString())).collect(joining(","));
    }

    /** Whether it is sent at a level or a repeat of it, whatever is in flight. */
    boolean isFor(String label) {
      return above == null
          && (level == null || level.equals(label) || level.equals(LevelInfo.unnumbered(label)));
    }

    @Override
    public String toString() {
      String only = above == null ? level : "running>" + above;
      return method + ":" + path + (only == null ? "" : "@" + only);
    }
  }
}
