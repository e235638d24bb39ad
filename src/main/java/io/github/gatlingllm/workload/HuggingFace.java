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
import java.util.regex.Pattern;

/** The tokenizer of a {@code tokenizer.json}: the only class that uses that library. */
record HuggingFace(String file, HuggingFaceTokenizer library) implements Tokenizer {

  static final String PREFIX = "hf:";

  static final String COORDINATES = "ai.djl.huggingface:tokenizers:0.38.0";

  private static final String LIBRARY = "ai.djl.huggingface.tokenizers.HuggingFaceTokenizer";
  private static final String FILE = "tokenizer.json";
  private static final String HUB = "https://huggingface.co";

  /** {@code <owner>/<name>}. */
  private static final Pattern MODEL = Pattern.compile("[\\w-][\\w.-]*/[\\w-][\\w.-]*(?<!\\.json)");

  private static final String OFFLINE = "ai.djl.offline";

  /** Counts the whole plain text. */
  private static final Map<String, String> OPTIONS =
      Map.of("addSpecialTokens", "false", "truncation", "false", "padding", "false");

  static HuggingFace open(String file) {
    requireLibrary();
    if (System.getProperty(OFFLINE) == null) {
      System.setProperty(OFFLINE, "true");
    }
    try {
      Path path = found(file);
      if (!Files.isRegularFile(path) || !Files.isReadable(path)) {
        throw wrong(file, "is no readable file; expected the tokenizer.json of a model", null);
      }
      return new HuggingFace(file, HuggingFaceTokenizer.newInstance(path, OPTIONS));
    } catch (InvalidPathException e) {
      throw wrong(file, "is no path; expected that of a tokenizer.json", e);
    } catch (LinkageError e) {
      throw wrong(file, "cannot be used: its native library is not for this machine", e);
    } catch (IOException | RuntimeException e) {
      if (e instanceof IllegalArgumentException ours && ours.getMessage().startsWith(PREFIX)) {
        throw ours;
      }
      throw wrong(file, "is not understood (" + firstLine(e) + ")", e);
    }
  }

  /** The file, that of a folder, or that of a model on the Hub, which is downloaded once. */
  private static Path found(String file) {
    Path path = Path.of(file);
    if (Files.isDirectory(path)) {
      return path.resolve(FILE);
    }
    if (Files.exists(path) || !MODEL.matcher(file).matches()) {
      return path;
    }
    String mirror = System.getenv("HF_ENDPOINT");
    String hub = mirror == null || mirror.isBlank() ? HUB : mirror.strip().replaceFirst("/+$", "");
    return DataFile.of("%s/%s/resolve/main/%s".formatted(hub, file, FILE)).path();
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
    for (int whole = tokens; whole > 0; whole--) {
      String head = text.substring(0, text.offsetByCodePoints(0, end(spans, whole)));
      if (count(head) <= tokens) {
        return head;
      }
    }
    return "";
  }

  /** End of the first tokens, without a character that is also part of the next. */
  private static int end(CharSpan[] spans, int whole) {
    int end = 0;
    for (int i = 0; i < whole; i++) {
      end = spans[i] == null ? end : Math.max(end, spans[i].getEnd());
    }
    return spans[whole] == null ? end : Math.min(end, spans[whole].getStart());
  }

  private Encoding encoded(String text) {
    return library.encode(Tiktoken.sent(text), false, false);
  }

  private static String firstLine(Exception e) {
    String message = String.valueOf(e.getMessage()).strip();
    return message.lines().findFirst().orElse("");
  }

  private static IllegalArgumentException wrong(String file, String what, Throwable cause) {
    return new IllegalArgumentException(PREFIX + file + " " + what, cause);
  }
}
