package io.github.gatlingllm.simulations;

import io.github.gatlingllm.action.InvalidSimulation;
import io.github.gatlingllm.client.Secrets;
import io.github.gatlingllm.figures.metric.NumberText;
import io.github.gatlingllm.load.DataFile;
import io.github.gatlingllm.record.PrintableText;
import io.github.gatlingllm.run.MetricsPage;
import io.github.gatlingllm.settings.TargetSpec;
import io.github.gatlingllm.workload.ServerTokenizer;
import io.github.gatlingllm.workload.Tokenizer;
import java.io.IOException;
import java.net.URI;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The tokenizer of a target.
 *
 * @param source what it comes from, for people
 * @param isOwn whether it is the model's own, so that its lengths are exact
 * @param template tokens that the chat template adds; null where that is not known
 * @param context the longest prompt with its answer; null where that is not known
 */
record ModelTokenizers(
    Tokenizer tokenizer,
    String source,
    boolean isOwn,
    @Nullable Integer template,
    @Nullable Integer context) {

  static final String SET = "setting";
  private static final Pattern EXACT = Pattern.compile("exactly ([0-9]+) tokens?");

  static final Duration TIMEOUT = Duration.ofSeconds(2);

  static ModelTokenizers set(Tokenizer tokenizer) {
    return new ModelTokenizers(tokenizer, SET, true, null, null);
  }

  /** The one that stands in where no source has the model's own. */
  static ModelTokenizers about() {
    return new ModelTokenizers(
        Tokenizer.cl100k(), "no tokenizer of the model was found", false, null, null);
  }

  /** By the name of a model of OpenAI; null for others. */
  static @Nullable ModelTokenizers ofName(@Nullable String model) {
    Tokenizer tokenizer = model == null ? null : Tokenizer.ofModel(model);
    return tokenizer == null
        ? null
        : new ModelTokenizers(tokenizer, "the name of the model", true, null, null);
  }

  /**
   * By the {@code tokenizer.json} of a model whose name is a path, or {@code <owner>/<name>} on the
   * Hub; null for others, and with a line that states why it is not to be had.
   */
  static @Nullable ModelTokenizers ofFile(@Nullable String model, Map<String, String> environment) {
    try {
      Tokenizer tokenizer = model == null ? null : Tokenizer.ofModelFile(model, environment);
      return tokenizer == null
          ? null
          : new ModelTokenizers(tokenizer, "tokenizer.json of the model", true, null, null);
    } catch (IllegalArgumentException e) {
      PrintableText.print("LLM: no tokenizer.json of the model (" + e.getMessage() + ")");
      return null;
    }
  }

  /**
   * The server's own; null with a line that states why not.
   *
   * @param model its name; null where it is not known
   */
  static @Nullable ModelTokenizers ofServer(
      TargetSpec target, @Nullable String model, Map<String, String> headers, boolean verifyTls) {
    String root = target.baseUrl().replaceFirst("/v\\d+$", "");
    String shown = Secrets.redactUrl(root + "/tokenize");
    Map<String, String> sent = new LinkedHashMap<>();
    if (target.apiKey() != null) {
      sent.put("Authorization", "Bearer " + target.apiKey());
    }
    sent.putAll(headers);
    var posting = MetricsPage.posting(TIMEOUT);
    try {
      ServerTokenizer server =
          ServerTokenizer.open(
              (path, json) ->
                  posting.apply(
                      new MetricsPage("", URI.create(root + path), shown, sent, verifyTls, true),
                      json),
              model == null ? "" : model,
              DataFile.cache(),
              System::nanoTime);
      Integer template = target.api().takesMessages() ? server.template() : null;
      return new ModelTokenizers(server, shown, true, template, server.context());
    } catch (IOException | Tokenizer.Uncounted e) {
      PrintableText.print("LLM: " + shown + " does not count tokens (" + e.getMessage() + ")");
      return null;
    }
  }

  /** What servers are queried for before the load: by default nothing. */
  interface Servers {

    Servers SILENT = new Servers() {};

    /** The server's own tokenizer; null where it has none. */
    default @Nullable ModelTokenizers counting(TargetSpec target) {
      return null;
    }

    /** The model that is set, else the only one of the server; null where that is not known. */
    default @Nullable String model(TargetSpec target) {
      return target.model();
    }

    /** The context of that model by the server's list of models; null where that is not known. */
    default @Nullable Integer context(TargetSpec target) {
      return null;
    }
  }

  /**
   * The model's own, from the first source that has it: the server, the model's file, OpenAI's
   * names.
   */
  static ModelTokenizers of(
      TargetSpec target,
      Tokenizer.UnresolvedServer set,
      @Nullable ModelTokenizers server,
      @Nullable String model,
      Map<String, String> environment) {
    if (server != null) {
      return server;
    }
    if (set.isDemanded()) {
      throw InvalidSimulation.because(
          "llm.tokenizer=server: %s does not count tokens; expected a page /tokenize beside /v1, or set another tokenizer"
              .formatted(Secrets.redactUrl(target.url())));
    }
    ModelTokenizers own = ofFile(model, environment);
    ModelTokenizers named = own == null ? ofName(model) : own;
    return named == null ? about() : named;
  }

  /** With the context that the server lists, where its tokenizer does not tell. */
  ModelTokenizers within(@Nullable Integer listed) {
    return new ModelTokenizers(tokenizer, source, isOwn, template, listed);
  }

  /** Lengths in words: exact only by the model's own tokenizer. */
  String size(String lengths) {
    return isOwn ? lengths : lengths.replace("exactly ", "about ");
  }

  /** Its name in a sentence. */
  String words() {
    return tokenizer instanceof ServerTokenizer
        ? "the server's own tokenizer (" + source + ")"
        : tokenizer.name();
  }

  /** What a request of that length has with its template; empty where that is not known. */
  String template(String lengths) {
    Matcher exact = EXACT.matcher(lengths);
    if (template == null || template == 0) {
      return "";
    }
    return exact.matches()
        ? ", %s with the chat template"
            .formatted(NumberText.count(Long.parseLong(exact.group(1)) + template))
        : ", and %s of the chat template".formatted(template);
  }

  /** {@code isQueriedLater}: the run queries the server, and not the dry run. */
  String line(boolean isQueriedLater) {
    if (source.equals(SET)) {
      return tokenizer.name();
    }
    return tokenizer.name()
        + (isOwn
            ? ", by " + source
            : isQueriedLater
                ? ", as a dry run does not ask the server for its own; the run does"
                : ": WARNING, "
                    + source
                    + "; lengths are estimates: set tokenizer=hf:<owner>/<name>");
  }

  void close() {
    if (tokenizer instanceof ServerTokenizer server) {
      server.close();
    }
  }
}
