package io.github.gatlingllm.workload;

import ai.djl.huggingface.tokenizers.Encoding;
import ai.djl.huggingface.tokenizers.HuggingFaceTokenizer;
import ai.djl.huggingface.tokenizers.jni.CharSpan;
import io.github.gatlingllm.load.DataFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** The tokenizer of a {@code tokenizer.json}: the only class that uses that library. */
record HuggingFace(String file, HuggingFaceTokenizer library) implements Tokenizer {

  static final String PREFIX = "hf:";

  static final String COORDINATES = "ai.djl.huggingface:tokenizers:0.38.0";

  private static final String LIBRARY = "ai.djl.huggingface.tokenizers.HuggingFaceTokenizer";
  private static final String FILE = "tokenizer.json";

  /** {@code <owner>/<name>[@<revision>]}. */
  private static final Pattern MODEL =
      Pattern.compile("([\\w-][\\w.-]*)/([\\w-][\\w.-]*)(?:@([\\w.-]+))?(?<!\\.json)");

  private static final String OFFLINE = "ai.djl.offline";

  /** Counts the complete plain text. */
  private static final Map<String, String> OPTIONS =
      Map.of("addSpecialTokens", "false", "truncation", "false", "padding", "false");

  static HuggingFace open(String file, Map<String, String> environment) {
    requireLibrary();
    if (System.getProperty(OFFLINE) == null) {
      System.setProperty(OFFLINE, "true");
    }
    Path path = found(file, environment);
    if (!Files.isRegularFile(path) || !Files.isReadable(path)) {
      throw wrong(file, " is not a readable file; expected the tokenizer.json of a model", null);
    }
    try {
      return new HuggingFace(file, HuggingFaceTokenizer.newInstance(path, OPTIONS));
    } catch (LinkageError e) {
      throw wrong(file, " cannot be used: its native library is not for this machine", e);
    } catch (IOException | RuntimeException e) {
      throw wrong(file, " is not understood (" + firstLine(e) + ")", e);
    }
  }

  /** Whether it is the name of a file or of a folder that has one, or of a model on the Hub. */
  static boolean isNamed(String model) {
    try {
      return model.endsWith(FILE)
          || Files.isRegularFile(Path.of(model, FILE))
          || MODEL.matcher(model).matches();
    } catch (InvalidPathException e) {
      return false;
    }
  }

  /** The file, that of a folder, or that of a model on the Hub, which is downloaded once. */
  private static Path found(String file, Map<String, String> environment) {
    try {
      Path path = Path.of(file);
      Matcher model = MODEL.matcher(file);
      if (Files.isDirectory(path)) {
        return path.resolve(FILE);
      }
      if (Files.exists(path) || !model.matches()) {
        return path;
      }
      Path cached = cached(model, environment);
      return cached == null
          ? DataFile.ofModel(
                  model.group(1) + "/" + model.group(2), model.group(3), FILE, environment)
              .path()
          : cached;
    } catch (InvalidPathException e) {
      throw wrong(file, " is not a path; expected that of a tokenizer.json", e);
    } catch (IOException | IllegalArgumentException e) {
      throw wrong(file, ": " + firstLine(e), e);
    }
  }

  /** What the Hub's own tools have downloaded; the newest where no revision is named. */
  private static @Nullable Path cached(Matcher model, Map<String, String> environment)
      throws IOException {
    String home =
        environment.getOrDefault(
            "HF_HOME", System.getProperty("user.home") + "/.cache/huggingface");
    Path folder =
        Path.of(environment.getOrDefault("HF_HUB_CACHE", home + "/hub"))
            .resolve("models--" + model.group(1) + "--" + model.group(2));
    String revision = model.group(3) == null ? "main" : model.group(3);
    Path reference = folder.resolve("refs").resolve(revision);
    String commit = Files.isRegularFile(reference) ? Files.readString(reference).strip() : revision;
    Path file = folder.resolve("snapshots").resolve(commit).resolve(FILE);
    return Files.isRegularFile(file) ? file : null;
  }

  private static void requireLibrary() {
    try {
      Class.forName(LIBRARY, false, HuggingFace.class.getClassLoader());
    } catch (ClassNotFoundException e) {
      throw new IllegalArgumentException(
          "hf tokenizers need a library that is not there; add the dependency " + COORDINATES, e);
    }
  }

  @Override
  public String name() {
    return PREFIX + file;
  }

  @Override
  public int count(String text) {
    return encoded(text).getIds().length;
  }

  /** Cuts further until the count fits, as tokens may merge at the end. */
  @Override
  public String head(String text, int tokens) {
    CharSpan[] spans = encoded(text).getCharTokenSpans();
    if (spans.length <= tokens) {
      return text;
    }
    for (int count = tokens; count > 0; count--) {
      String head = text.substring(0, text.offsetByCodePoints(0, end(spans, count)));
      if (count(head) <= tokens) {
        return head;
      }
    }
    return "";
  }

  /** End of the first tokens, without a character that is also part of the next. */
  private static int end(CharSpan[] spans, int count) {
    int end = 0;
    for (int i = 0; i < count; i++) {
      end = spans[i] == null ? end : Math.max(end, spans[i].getEnd());
    }
    return spans[count] == null ? end : Math.min(end, spans[count].getStart());
  }

  private Encoding encoded(String text) {
    return library.encode(Tiktoken.sent(text), false, false);
  }

  private static String firstLine(Exception e) {
    return String.valueOf(e.getMessage()).strip().lines().findFirst().orElse("");
  }

  private static IllegalArgumentException wrong(
      String file, String what, @Nullable Throwable cause) {
    return new IllegalArgumentException(PREFIX + file + what, cause);
  }
}
