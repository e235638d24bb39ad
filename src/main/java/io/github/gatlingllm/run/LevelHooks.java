package io.github.gatlingllm.run;

import static java.util.stream.Collectors.joining;

import io.github.gatlingllm.client.Secrets;
import io.github.gatlingllm.record.LevelInfo.HookCall;
import io.github.gatlingllm.record.PrintableText;
import io.github.gatlingllm.run.Observers.MetricsPage;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionException;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Requests to a target before each of its load levels, one after the other, such as {@code POST
 * /reset_prefix_cache}. One that fails ends the run, as the level would measure something else.
 */
public record LevelHooks(List<Call> calls, Duration timeout) {

  public static final LevelHooks NONE = new LevelHooks(List.of(), Duration.ZERO);

  /** A method, and a path of the server or a URL. */
  public record Hook(String method, String path) {

    private static final Pattern FORM = Pattern.compile("([A-Z]+):((?:https?://[^/]+)?/\\S*)");

    public static Hook parse(String text) {
      Matcher form = FORM.matcher(text);
      if (!form.matches()) {
        throw new IllegalArgumentException(
            "'%s' is no request; expected a method and a path such as POST:/reset_prefix_cache"
                .formatted(text));
      }
      return new Hook(form.group(1), URI.create(form.group(2)).toString());
    }

    public static List<Hook> all(String... texts) {
      return Stream.of(texts).map(Hook::parse).toList();
    }

    /** Without secrets in URLs. */
    public static String texts(List<Hook> hooks) {
      return hooks.stream().map(hook -> Secrets.redactUrl(hook.toString())).collect(joining(","));
    }

    @Override
    public String toString() {
      return method + ":" + path;
    }
  }

  public record Call(String method, MetricsPage page) {
    @Override
    public String toString() {
      return method + " " + page;
    }
  }

  /** Sends them on a thread of its own, which then goes on. */
  void before(String level, Run run, Consumer<List<HookCall>> then) {
    if (calls.isEmpty()) {
      then.accept(List.of());
      return;
    }
    Thread thread = new Thread(() -> then.accept(sent(level, run)), "llm-before-level");
    thread.setDaemon(true);
    thread.start();
  }

  private List<HookCall> sent(String level, Run run) {
    List<HookCall> sent = new ArrayList<>();
    PageClient client = new PageClient(timeout);
    for (Call call : calls) {
      long start = System.nanoTime();
      try {
        int status = client.send(call.method, call.page).join().statusCode();
        HookCall ended = new HookCall(call.toString(), status, (System.nanoTime() - start) / 1e9);
        if (status / 100 != 2) {
          throw new CompletionException("HTTP " + status, null);
        }
        sent.add(ended);
        run.message("LLM before " + level + ": " + ended);
      } catch (CompletionException e) {
        end(run, "%s before level %s failed: %s".formatted(call, level, e.getMessage()));
      }
    }
    return sent;
  }

  /** The report is made of what there is, as after a signal. */
  @SuppressWarnings("SystemExitOutsideMain") // main is Gatling's
  private static void end(Run run, String failure) {
    run.describe(info -> info.config("failed", failure));
    PrintableText.print(
        "LLM: " + failure + ". The run ends here; look at the server, or correct beforeLevel");
    System.exit(1);
  }
}
