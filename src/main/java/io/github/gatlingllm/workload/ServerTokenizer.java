package io.github.gatlingllm.workload;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.github.gatlingllm.load.DataFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.BiFunction;
import java.util.function.LongSupplier;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * The tokenizer of a model, queried at its server beside {@code /v1}: it needs no file, and knows
 * the chat template. It is queried before the load only: for {@value #OPENING_SECONDS} s what it
 * can, then, as long as it answers, for {@value #COUNTING_SECONDS} s; after {@link #close} a text
 * that it has not counted is {@link Uncounted}.
 */
public final class ServerTokenizer implements Tokenizer {

  static final String NAME = "server";

  private static final int OPENING_SECONDS = 10;

  /** For a server or a machine that is busy; one that does not answer ends it at its first text. */
  private static final int COUNTING_SECONDS = 60;

  private static final int AT_A_TIME = 8;
  private static final int NONCES = 5;
  private static final int LONGEST_KEY = 60;
  private static final String PROBE = "Hello world, 東京 42!";
  private static final Pattern NONCE = Pattern.compile("^\\d{18}(?!\\d)");
  private static final ObjectMapper JSON = new ObjectMapper();

  /** How servers are queried, in the order in which they are tried. */
  private enum Form {
    VLLM("prompt", "add_special_tokens", "/tokenize"),
    LLAMA_CPP("content", "add_special", "/v1/chat/completions/input_tokens"),
    TGI("inputs", null, "/chat_tokenize");

    private final String text;
    private final @Nullable String special;
    private final String chat;

    Form(String text, @Nullable String special, String chat) {
      this.text = text;
      this.special = special;
      this.chat = chat;
    }
  }

  private final BiFunction<String, String, CompletableFuture<String>> server;
  private final String model;
  private final Form form;
  private final LongSupplier nanoClock;
  private final long startNanos;
  private int seconds = OPENING_SECONDS;
  private final Map<String, Integer> counts = new ConcurrentHashMap<>();
  private boolean areNoncesAlike;
  private @Nullable Integer context;
  private @Nullable Integer template;
  private @Nullable Path cacheFile;
  private int known;
  private volatile boolean isClosed;

  /** Null where words do not add up to texts. */
  private volatile @Nullable Tokenizer words;

  private ServerTokenizer(
      BiFunction<String, String, CompletableFuture<String>> server,
      String model,
      Form form,
      LongSupplier nanoClock,
      long startNanos) {
    this.server = server;
    this.model = model;
    this.form = form;
    this.nanoClock = nanoClock;
    this.startNanos = startNanos;
  }

  /**
   * The tokenizer of a server in the first form that it answers.
   *
   * @param server answers JSON at a path beside {@code /v1}
   * @param model its name; empty where it is not known
   * @param cache the folder where counts are stored for later runs; null for none
   * @throws IOException why it has none
   */
  public static ServerTokenizer open(
      BiFunction<String, String, CompletableFuture<String>> server,
      String model,
      @Nullable Path cache,
      LongSupplier nanoClock)
      throws IOException {
    long start = nanoClock.getAsLong();
    IOException why = null;
    for (Form form : Form.values()) {
      ServerTokenizer tokenizer = new ServerTokenizer(server, model, form, nanoClock, start);
      try {
        tokenizer.probe(cache);
        tokenizer.seconds = COUNTING_SECONDS;
        return tokenizer;
      } catch (IOException e) {
        why = why == null ? e : why;
        if (!String.valueOf(e.getMessage()).matches("HTTP 4(00|22)|no count in its answer.*")) {
          break; // it is the same page in the other forms
        }
      }
    }
    throw why == null ? new IOException("it has no known form") : why;
  }

  private void probe(@Nullable Path cache) throws IOException {
    JsonNode first = query("/tokenize", plain(PROBE));
    int tokens = tokens(first);
    if (tokens < 1 || tokens != tokens(query("/tokenize", plain(PROBE)))) {
      throw new IOException("no count in its answer, or two different ones of the same text");
    }
    counts.put(PROBE, tokens);
    read(cache, model + "\n" + first.path("tokens") + tokens);
    context = first.path("max_model_len").isInt() ? first.path("max_model_len").intValue() : null;
    try {
      template = again(form.chat, chat(PROBE)) - tokens;
    } catch (IOException e) {
      template = null;
    }
    areNoncesAlike =
        SyntheticText.samples(NONCES).stream()
                .map(text -> text.substring(0, text.indexOf(ExactLength.BREAK)))
                .map(this::count)
                .distinct()
                .count()
            == 1;
  }

  private ObjectNode body() {
    ObjectNode body = JSON.createObjectNode();
    return model.isEmpty() ? body : body.put("model", model);
  }

  private ObjectNode plain(String text) {
    ObjectNode body = body().put(form.text, text);
    return form.special == null ? body : body.put(form.special, false);
  }

  private ObjectNode chat(String text) {
    ObjectNode body = body();
    body.putArray("messages").addObject().put("role", "user").put("content", text);
    return body;
  }

  private JsonNode query(String path, ObjectNode body) throws IOException {
    if (nanoClock.getAsLong() - startNanos >= TimeUnit.SECONDS.toNanos(seconds)) {
      throw new IOException("no end of counting within " + seconds + " s");
    }
    try {
      return JSON.readTree(server.apply(path, body.toString()).join());
    } catch (CompletionException e) {
      throw new IOException(e.getMessage(), e);
    } catch (JsonProcessingException e) {
      throw new IOException("no count in its answer, which is not JSON", e);
    }
  }

  private static int tokens(JsonNode answer) throws IOException {
    for (String list : List.of("tokens", "tokenize_response")) {
      if (answer.path(list).isArray()) {
        return answer.path(list).size();
      }
    }
    for (String number : List.of("count", "input_tokens")) {
      if (answer.path(number).isInt()) {
        return answer.path(number).intValue();
      }
    }
    if (answer.isArray()) {
      return answer.size();
    }
    throw new IOException("no count in its answer");
  }

  /** Tokens that the chat template adds to one message; null where the server does not tell. */
  public @Nullable Integer template() {
    return template;
  }

  /** The longest context in tokens; null where the server does not tell. */
  public @Nullable Integer context() {
    return context;
  }

  /** Sends no more requests: the load begins. Later runs find what was counted. */
  public void close() {
    isClosed = true;
    if (cacheFile != null && counts.size() > known) {
      try {
        Files.createDirectories(cacheFile.getParent());
        Path part = Files.createTempFile(cacheFile.getParent(), "tokens", ".part");
        JSON.writeValue(part.toFile(), counts);
        Files.move(part, cacheFile, StandardCopyOption.REPLACE_EXISTING);
      } catch (IOException e) {
        cacheFile = null; // a later run queries again
      }
    }
  }

  /** Takes what earlier runs have counted by the same tokenizer. */
  private void read(@Nullable Path cache, String identity) {
    if (cache == null) {
      return;
    }
    cacheFile = cache.resolve("tokens-" + key(identity + " ".repeat(LONGEST_KEY)) + ".json");
    try {
      if (Files.isRegularFile(cacheFile)) {
        counts.putAll(
            JSON.readValue(cacheFile.toFile(), new TypeReference<Map<String, Integer>>() {}));
      }
    } catch (IOException e) {
      counts.keySet().retainAll(List.of(PROBE)); // it is written again
    }
    known = counts.size();
  }

  /** A text, or the digest of a long one. */
  private static String key(String text) {
    return text.length() <= LONGEST_KEY ? text : DataFile.sha256(text);
  }

  @Override
  public String name() {
    return NAME;
  }

  /** By its words in the load, where prompts differ in their nonces. */
  @Override
  public int count(String text) {
    Tokenizer byWords = words;
    return isClosed && byWords != null && !counts.containsKey(key(alike(text)))
        ? byWords.count(text)
        : counted(text);
  }

  /** The same text for all nonces, which differ in the load. */
  private String alike(String text) {
    return areNoncesAlike ? NONCE.matcher(text).replaceFirst("1".repeat(18)) : text;
  }

  private int counted(String text) {
    String queried = alike(text);
    String key = key(queried);
    Integer known = counts.get(key);
    if (known == null) {
      if (isClosed) {
        throw new Uncounted("not counted before the load", null);
      }
      try {
        known = text.isEmpty() ? 0 : again("/tokenize", plain(queried));
      } catch (IOException e) {
        throw new Uncounted(String.valueOf(e.getMessage()), e);
      }
      counts.put(key, known);
    }
    return known;
  }

  /** Twice if need be, as a busy server may be late once in a thousand requests. */
  private int again(String path, ObjectNode body) throws IOException {
    try {
      return tokens(query(path, body));
    } catch (IOException late) {
      return tokens(query(path, body));
    }
  }

  /** Searches the end by the share of tokens to characters, as each try is a request. */
  @Override
  public String head(String text, int tokens) {
    int all = count(text);
    if (all <= tokens) {
      return text;
    }
    int fits = 0;
    int fitting = 0;
    int exceeds = text.codePointCount(0, text.length());
    int exceeding = all;
    while (exceeds - fits > 1 && fitting < tokens) {
      long share = (long) (exceeds - fits) * (tokens - fitting) / (exceeding - fitting);
      int chars = fits + (int) Math.max(1, Math.min(exceeds - fits - 1, share));
      int count = count(text.substring(0, text.offsetByCodePoints(0, chars)));
      if (count <= tokens) {
        fits = chars;
        fitting = count;
      } else {
        exceeds = chars;
        exceeding = count;
      }
    }
    return text.substring(0, text.offsetByCodePoints(0, fits));
  }

  /** A table of words in front of this tokenizer, which it uses in the load too. */
  @Override
  public Tokenizer byWords() {
    Tokenizer table = WordCounts.of(new Words(this));
    words = table instanceof WordCounts ? table : null;
    return words == null ? this : table;
  }

  /** What the table counts by. */
  private record Words(ServerTokenizer server) implements Tokenizer {
    @Override
    public String name() {
      return NAME;
    }

    @Override
    public int count(String text) {
      return server.counted(text);
    }

    @Override
    public String head(String text, int tokens) {
      return server.head(text, tokens);
    }

    @Override
    public void prepare(List<String> texts) {
      server.prepare(texts);
    }
  }

  @Override
  public void prepare(List<String> texts) {
    ExecutorService counters =
        Executors.newFixedThreadPool(
            AT_A_TIME,
            task -> {
              Thread thread = new Thread(task, "llm-tokenize");
              thread.setDaemon(true);
              return thread;
            });
    try {
      List<? extends Future<?>> counting =
          IntStream.range(0, texts.size())
              .mapToObj(i -> counters.submit(() -> counted(texts.get(i))))
              .toList();
      for (Future<?> each : counting) {
        var unused = each.get();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (ExecutionException e) {
      if (e.getCause() instanceof Uncounted uncounted) {
        throw uncounted;
      }
      throw new IllegalStateException(e);
    } finally {
      counters.shutdownNow();
    }
  }
}
