package io.github.gatlingllm.simulations;

import io.github.gatlingllm.action.InvalidSimulation;
import io.github.gatlingllm.client.Secrets;
import io.github.gatlingllm.figures.metric.NumberText;
import io.github.gatlingllm.load.DataFile;
import io.github.gatlingllm.record.PrintableText;
import io.github.gatlingllm.run.Observers.MetricsPage;
import io.github.gatlingllm.workload.Tokenizer;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.CompletionException;
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

  private static final String FILE = "tokenizer.json";

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
   * By the {@code tokenizer.json} of a model whose name is a path, which is in the cache of the
   * Hub's own tools, or which {@code HF_ENDPOINT} has; null for others. Nothing is downloaded from
   * the public Hub unless the setting names it.
   */
  static @Nullable ModelTokenizers ofFile(@Nullable String model, Map<String, String> environment) {
    try {
      String file = model == null ? null : file(model, environment);
      return file == null
          ? null
          : new ModelTokenizers(
              Tokenizer.huggingFace(file), "tokenizer.json of the model", true, null, null);
    } catch (IllegalArgumentException | IOException e) {
      PrintableText.print("LLM: no tokenizer.json of the model (" + e.getMessage() + ")");
      return null;
    }
  }

  private static @Nullable String file(String model, Map<String, String> environment)
      throws IOException {
    if (Files.isRegularFile(Path.of(model, FILE)) || model.endsWith(FILE)) {
      return model;
    }
    if (!model.matches("[\\w-][\\w.-]*/[\\w-][\\w.-]*")) {
      return null;
    }
    String home = environment.get("HF_HOME");
    Path snapshots =
        (home == null
                ? Path.of(System.getProperty("user.home"), ".cache", "huggingface")
                : Path.of(home))
            .resolve("hub/models--" + model.replace("/", "--") + "/snapshots");
    if (Files.isDirectory(snapshots)) {
      try (var versions = Files.newDirectoryStream(snapshots)) {
        for (Path version : versions) {
          if (Files.isRegularFile(version.resolve(FILE))) {
            return version.resolve(FILE).toString();
          }
        }
      }
    }
    return environment.getOrDefault("HF_ENDPOINT", "").isBlank() ? null : model;
  }

  /** The server's own; null with a line that says why not. */
  static @Nullable ModelTokenizers ofServer(
      Target target, Map<String, String> headers, boolean verifyTls) {
    String root = target.baseUrl().replaceFirst("/v\\d+$", "");
    String shown = Secrets.redactUrl(root + "/tokenize");
    Map<String, String> sent = new LinkedHashMap<>();
    if (target.apiKey() != null) {
      sent.put("Authorization", "Bearer " + target.apiKey());
    }
    sent.putAll(headers);
    var posting = MetricsPage.posting(TIMEOUT);
    try {
      Tokenizer.OfServer server =
          Tokenizer.ofServer(
              (path, json) -> {
                MetricsPage page =
                    new MetricsPage("", URI.create(root + path), shown, sent, verifyTls, true);
                try {
                  return posting.apply(page, json).join();
                } catch (CompletionException e) {
                  throw new IOException(e.getMessage(), e);
                }
              },
              target.model() == null ? "" : target.model(),
              DataFile.cache(),
              System::nanoTime);
      return new ModelTokenizers(server, shown, true, server.template(), server.context());
    } catch (IOException | Tokenizer.Uncounted e) {
      PrintableText.print("LLM: " + shown + " does not count tokens (" + e.getMessage() + ")");
      return null;
    }
  }

  /** The model's own, from the first source that has it. */
  static ModelTokenizers of(
      Target target, Tokenizer.Unresolved wanted, @Nullable ModelTokenizers server) {
    if (server != null) {
      return server;
    }
    if (wanted.isDemanded()) {
      throw InvalidSimulation.because(
          "llm.tokenizer=server: %s does not count tokens; expected a page /tokenize beside /v1, or set another tokenizer"
              .formatted(Secrets.redactUrl(target.url())));
    }
    ModelTokenizers named = ofName(target.model());
    ModelTokenizers own = named == null ? ofFile(target.model(), System.getenv()) : named;
    return own == null ? about() : own;
  }

  /** Lengths in words: exact only by the model's own tokenizer. */
  String size(String lengths) {
    return isOwn ? lengths : lengths.replace("exactly ", "about ");
  }

  /** Its name in a sentence. */
  String words() {
    return tokenizer instanceof Tokenizer.OfServer
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

  String line() {
    return tokenizer.name()
        + (source.equals(SET)
            ? ""
            : isOwn
                ? ", by " + source
                : ": WARNING, "
                    + source
                    + "; lengths are estimates: set tokenizer=hf:<owner>/<name>");
  }

  void close() {
    if (tokenizer instanceof Tokenizer.OfServer server) {
      server.close();
    }
  }
}
