package io.github.gatlingllm.engine;

import com.fasterxml.jackson.core.io.JsonStringEncoder;
import io.github.gatlingllm.engine.GeneratedAnswer.TokenType;
import io.github.gatlingllm.record.RunFiles;
import io.netty.channel.ChannelHandlerContext;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * An answer in the form of its API, which the table {@code answers.txt} has, as server-sent events
 * or as one body. Choices count from 0. In the APIs with typed events each run of tokens of one
 * {@link TokenType} is an item (a content block in {@code messages}): a token of another type ends
 * the open item and begins the next one.
 */
final class ApiAnswer {
  /** The forms by API and name, each as a text, a name of a value, a text, and so on. */
  private static final Map<String, List<String[]>> TABLE = table();

  private final ChannelHandlerContext context;
  private final String api;
  private final boolean isTyped;
  private final boolean stream;
  private final boolean includeUsage;
  private final String requestId;
  private final String id;
  private final List<SentChoice> choices;

  /** The JSON of values by their name. */
  private final Map<String, String> values = new HashMap<>();

  private SentChoice sent = new SentChoice();
  private int items;
  private int events;
  private @Nullable TokenType open;

  private static final class SentChoice {
    private final Map<TokenType, StringBuilder> texts = new EnumMap<>(TokenType.class);
    private String finishReason = "";

    void append(TokenType type, CharSequence text) {
      texts.computeIfAbsent(type, each -> new StringBuilder()).append(text);
    }

    @Nullable String text(TokenType type) {
      StringBuilder text = texts.get(type);
      return text == null ? null : text.toString();
    }
  }

  private ApiAnswer(
      ChannelHandlerContext context,
      String form,
      boolean isTyped,
      boolean stream,
      boolean includeUsage,
      int choices,
      String requestId,
      String model) {
    this.context = context;
    this.api = form;
    this.isTyped = isTyped;
    this.stream = stream;
    this.includeUsage = includeUsage;
    this.requestId = requestId;
    this.id = forms("prefix", null).get(0)[0] + requestId;
    this.choices = Stream.generate(SentChoice::new).limit(choices).toList();
    put("id", id);
    put("toolId", "toolu_" + id);
    put("model", model);
    put("created", System.currentTimeMillis() / 1_000);
    values.put("items", "");
  }

  ApiAnswer(
      ChannelHandlerContext context, CompletionRequest request, String requestId, String model) {
    this(
        context,
        request.api().key(),
        request.api().terminalEvent() != null,
        request.stream(),
        request.includeUsage(),
        request.choices(),
        requestId,
        model);
  }

  ApiAnswer(ChannelHandlerContext context, InputsRequest request, String requestId, String model) {
    this(context, request.form(), false, false, false, request.prompts().size(), requestId, model);
    List<String> results = new ArrayList<>();
    for (int input : request.order()) {
      put("index", input);
      if (request.texts().isEmpty()) {
        values.put("document", "");
      } else {
        put("text", request.texts().get(input));
      }
      values.put("value", request.value(input));
      results.add(filled(forms("result", null).get(0), null));
    }
    values.put("results", String.join(",", results));
  }

  private static Map<String, List<String[]>> table() {
    return rows("answers.txt")
        .map(row -> row.replace('\'', '"').split(" ", 3))
        .collect(
            Collectors.groupingBy(
                row -> row[0] + " " + row[1],
                Collectors.mapping(row -> row[2].split("\\$", -1), Collectors.toList())));
  }

  /** The rows of a file of this package, without comments. */
  static Stream<String> rows(String file) {
    return RunFiles.resource(ApiAnswer.class, file).lines().filter(line -> !line.startsWith("#"));
  }

  void open() {
    if (stream) {
      ResponseWriter.begin(context, requestId);
    }
  }

  /** Sets the usage so far, of all choices together; cached tokens are those of the first one. */
  void count(int prompt, int cached, int output, @Nullable Integer reasoning) {
    put("prompt", prompt);
    put("cached", cached);
    put("uncached", prompt - cached);
    put("output", output);
    put("total", prompt + output);
    put("reasoning", Objects.requireNonNullElse(reasoning, 0));
    if (reasoning == null) {
      values.put("details", "");
    }
  }

  void begin(int choice) {
    if (stream) {
      turnTo(choice);
      events("begin", null);
    }
  }

  void text(int choice, TokenType type, String text) {
    turnTo(choice);
    // The name of a tool and its arguments share one item.
    if (isTyped && (open == null || (type != open && type != TokenType.ARGUMENTS))) {
      closeItem();
      open = type;
      describe(type, items++);
      put("text", text);
      events("open", type);
    }
    put("text", text);
    events("delta", type);
    sent.append(type, text);
  }

  void finish(int choice, String finishReason) {
    turnTo(choice);
    sent.finishReason = finishReason;
    closeItem();
    put("finish", finishReason);
    events("finish", null);
  }

  void end() {
    describeAll();
    if (!stream) {
      ResponseWriter.ok(context, requestId, ResponseWriter.JSON, value("body", null));
      return;
    }
    if (includeUsage) {
      events("usageChunk", null);
    }
    events("end", null);
    ResponseWriter.end(context);
  }

  void flush() {
    context.flush();
  }

  private void closeItem() {
    if (open != null) {
      describe(open, items - 1);
      put("status", "completed");
      events("close", open);
      values.remove("status");
      open = null;
    }
  }

  private void turnTo(int choice) {
    if (sent != choices.get(choice)) {
      sent = choices.get(choice);
      put("choice", choice);
      put("callId", "call_" + (isTyped ? id : requestId + "-" + choice));
    }
  }

  private void describeAll() {
    List<String> all = new ArrayList<>();
    for (int i = 0; i < choices.size(); i++) {
      turnTo(i);
      describeItems();
      forms("choice", null).forEach(form -> all.add(filled(form, null)));
    }
    values.put("choices", String.join(",", all));
  }

  private void describeItems() {
    List<String> each = new ArrayList<>();
    for (TokenType type : List.of(TokenType.REASONING, TokenType.TEXT, TokenType.TOOL_NAME)) {
      if (sent.text(type) != null) {
        describe(type, each.size());
        forms("item", type).forEach(form -> each.add(filled(form, type)));
      }
    }
    values.put("items", String.join(isTyped ? "," : "", each));
    boolean isCall = sent.text(TokenType.TOOL_NAME) != null;
    put("content", isCall ? null : Objects.requireNonNullElse(sent.text(TokenType.TEXT), ""));
    put("finish", sent.finishReason);
  }

  private void describe(TokenType type, int index) {
    String arguments = Objects.requireNonNullElse(sent.text(TokenType.ARGUMENTS), "");
    // Arguments that were cut off are not JSON.
    boolean isJson = !arguments.isEmpty() && !sent.finishReason.equals("length");
    put("index", index);
    put("itemId", "item_" + id + "_" + index);
    put("text", sent.text(type));
    put("arguments", arguments);
    values.put("input", isJson ? arguments : "{}");
  }

  private void put(String name, @Nullable String text) {
    values.put(
        name,
        text == null
            ? "null"
            : '"' + String.valueOf(JsonStringEncoder.getInstance().quoteAsString(text)) + '"');
  }

  private void put(String name, long number) {
    values.put(name, Long.toString(number));
  }

  private void events(String name, @Nullable TokenType type) {
    for (String[] form : stream ? forms(name, type) : List.<String[]>of()) {
      put("sequence", events++);
      String event = filled(form, type);
      int end = event.indexOf(' ');
      String kind = end < 0 ? event : event.substring(0, end);
      String fields = end < 0 ? "" : event.substring(end + 1);
      if (kind.equals("data")) {
        ResponseWriter.writeChunk(context, "data: " + fields + "\n\n");
      } else {
        String more = fields.isEmpty() ? "" : "," + fields;
        ResponseWriter.writeChunk(
            context, "event: " + kind + "\ndata: {\"type\":\"" + kind + "\"" + more + "}\n\n");
      }
    }
  }

  /** The rows of a name: those of this kind of tokens, of this finish reason, or of all. */
  private List<String[]> forms(String name, @Nullable TokenType type) {
    String row = api + " " + name;
    List<String[]> some = type == null ? null : TABLE.get(row + "." + type);
    some = some == null ? TABLE.get(row + "." + sent.finishReason) : some;
    return some == null ? TABLE.getOrDefault(row, List.of()) : some;
  }

  private String filled(String[] form, @Nullable TokenType type) {
    StringBuilder text = new StringBuilder(256);
    for (int i = 0; i < form.length; i++) {
      text.append(i % 2 == 0 ? form[i] : value(form[i], type));
    }
    return text.toString();
  }

  private String value(String name, @Nullable TokenType type) {
    String value = values.get(name);
    return value == null ? filled(forms(name, type).get(0), type) : value;
  }
}
