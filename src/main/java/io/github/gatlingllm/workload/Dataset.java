package io.github.gatlingllm.workload;

import com.fasterxml.jackson.databind.JsonNode;
import io.github.gatlingllm.load.Arrivals.StampUnit;
import io.github.gatlingllm.load.DataFile;
import io.github.gatlingllm.load.PlanText;
import io.github.gatlingllm.load.Seed;
import io.github.gatlingllm.workload.Conversation.Dialog;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.IntSummaryStatistics;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/**
 * A file of recorded dialogs in a published format, of which each user draws one by seed and index.
 *
 * <p>Opening reads the file once and fails at the first damaged entry; entries without a question
 * are left out, see {@link #summary}. Then only positions are in memory, 16 bytes each: the file
 * must not change. Thread-safe. Reading blocks: not for an event loop.
 */
public final class Dataset {

  private final DataFile file;
  private final Format format;
  private final DialogReader reader;
  private final long[] starts;
  private final int[] lengths;
  private final String summary;
  private final Tokenizer tokenizer;

  private Dataset(
      DataFile file, Format format, DialogReader reader, Survey survey, Tokenizer tokenizer) {
    this.file = file;
    this.format = format;
    this.reader = reader;
    this.starts = survey.starts.build().toArray();
    this.lengths = survey.lengths.build().toArray();
    this.summary = survey.summary();
    this.tokenizer = tokenizer;
  }

  public static Dataset open(Format format, String location, Tokenizer tokenizer) {
    DataFile file = DataFile.of(location);
    DialogReader reader = format.reader(tokenizer);
    Survey survey = new Survey();
    file.entries(
        "dataset=" + format, (entry, start, length) -> survey.add(reader, entry, start, length));
    if (survey.dialogs == 0) {
      throw new IllegalArgumentException(
          file.name() + " has no dialog with a question (" + survey.summary() + ")");
    }
    return new Dataset(file, format, reader, survey, tokenizer);
  }

  public String name() {
    return file.name();
  }

  public String sha256() {
    return file.sha256();
  }

  /**
   * Parts of this number of characters of its dialogs' texts: the first of each in an order drawn
   * from the seed, then the next of each, and so on. A dialog without another part begins again.
   */
  Prompts.PromptSource texts(int chars) {
    return new Prompts.PromptSource() {
      @Override
      public String origin() {
        return name();
      }

      @Override
      public String pick(long seed, long index) {
        String text = dialog(seed, index).text();
        int part = (int) (index / size() % Math.max(1, text.length() / chars));
        return text.substring(part * chars, Math.min((part + 1) * chars, text.length()));
      }
    };
  }

  public Format format() {
    return format;
  }

  public int size() {
    return starts.length;
  }

  /** Whether the order of the file matters, as in a trace. */
  public boolean isInOrder() {
    return format == Format.MOONCAKE;
  }

  public Dialog get(int position) {
    long start = starts[position];
    return reader.dialog(file.entry(start, lengths[position]), start);
  }

  /** All dialogs once in a random order by the seed, then all again in another one. */
  public Dialog dialog(long seed, long userIndex) {
    return get((int) Seed.permuted(seed, size(), userIndex));
  }

  public Dialog inOrder(long userIndex) {
    return get((int) (userIndex % size()));
  }

  /** Recorded tokens of the answer to the last message, else counted; null without an answer. */
  public @Nullable Integer outputTokens(Dialog dialog) {
    if (dialog.outputTokens() != null) {
      return dialog.outputTokens();
    }
    String answer = dialog.answer();
    return answer == null ? null : (Integer) tokenizer.count(answer);
  }

  /** One line for people: number and lengths of dialogs, and what was left out and why. */
  public String summary() {
    return summary;
  }

  @Override
  public String toString() {
    return name() + " (" + format + "): " + summary();
  }

  /** Published formats: a JSON array or JSON lines, optionally compressed ({@code .gz}). */
  public enum Format {

    /**
     * Dialogs of <a
     * href="https://huggingface.co/datasets/anon8231489123/ShareGPT_Vicuna_unfiltered">ShareGPT</a>:
     * {@code {"conversations": [{"from": "human", "value": "…"}, {"from": "gpt", …}]}}.
     */
    SHAREGPT(DialogReader::shareGpt),

    /** Message trees: https://huggingface.co/datasets/OpenAssistant/oasst2. */
    OASST(DialogReader::openAssistant),

    /** Questions on long texts: https://huggingface.co/datasets/THUDM/LongBench-v2. */
    LONGBENCH(DialogReader::longBench),

    /** Traces with lengths and shared blocks: https://github.com/kvcache-ai/Mooncake. */
    MOONCAKE(null),

    /** Chats in OpenAI's format: objects with {@code messages}, alone or in {@code body}. */
    OPENAI(DialogReader::openAiChat);

    @SuppressWarnings("ImmutableEnumChecker") // a function without state
    private final @Nullable Function<JsonNode, Dialog> parser;

    Format(@Nullable Function<JsonNode, Dialog> parser) {
      this.parser = parser;
    }

    @Override
    public String toString() {
      return name().toLowerCase(Locale.ROOT);
    }

    /** Generates the texts of formats that record lengths only. */
    private DialogReader reader(Tokenizer tokenizer) {
      return parser == null ? new Mooncake(tokenizer) : (entry, key) -> parser.apply(entry);
    }
  }

  /** Positions and statistics of the dialogs of a file. */
  private static final class Survey {

    private final LongStream.Builder starts = LongStream.builder();
    private final IntStream.Builder lengths = IntStream.builder();
    private int dialogs;
    private long seen;
    private final Map<String, Integer> leftOut = new LinkedHashMap<>();
    private int beginWithAnswer;
    private final IntSummaryStatistics turns = new IntSummaryStatistics();
    private final IntSummaryStatistics chars = new IntSummaryStatistics();
    private final IntSummaryStatistics inputTokens = new IntSummaryStatistics();
    private final IntSummaryStatistics outputTokens = new IntSummaryStatistics();

    /** Adds the dialog of an entry, or counts the reason why it is unusable. */
    private void add(DialogReader reader, JsonNode entry, long start, int length) {
      seen++;
      try {
        count(reader.outline(entry, start));
      } catch (DialogReader.Unusable e) {
        leftOut.merge(String.valueOf(e.getMessage()), 1, Integer::sum);
        return;
      }
      dialogs++;
      starts.add(start);
      lengths.add(length);
    }

    private void count(Dialog dialog) {
      if (dialog.size() == 0) {
        throw new DialogReader.Unusable("no user message");
      }
      if (dialog.text().isBlank()
          && dialog.promptMessages().stream().allMatch(m -> m.parts() == null)) {
        throw new DialogReader.Unusable("no text");
      }
      turns.accept(dialog.size());
      if (dialog.inputTokens() == null) {
        chars.accept(dialog.text().length());
      } else {
        inputTokens.accept(dialog.inputTokens());
      }
      if (dialog.outputTokens() != null) {
        outputTokens.accept(dialog.outputTokens());
      }
      if (dialog.beginsWithAnswer()) {
        beginWithAnswer++;
      }
    }

    private String summary() {
      StringBuilder line = new StringBuilder(dialogs + (dialogs == 1 ? " dialog" : " dialogs"));
      line.append(sizes(", ", turns, "turn"))
          .append(sizes("; prompts of ", chars, "character"))
          .append(sizes("; prompts of ", inputTokens, "token"))
          .append(sizes("; answers of ", outputTokens, "token"));
      if (beginWithAnswer > 0) {
        line.append("; %s begin with an answer, which is not sent".formatted(beginWithAnswer));
      }
      leftOut.forEach(
          (reason, count) -> line.append("; left out %s of %s: %s".formatted(count, seen, reason)));
      return line.toString();
    }

    private static String sizes(String before, IntSummaryStatistics lengths, String unit) {
      return lengths.getCount() == 0 ? "" : before + PlanText.spread(lengths, unit);
    }
  }

  /** A form of recorded sessions, which is known by the fields of its entries. */
  interface SessionReader {

    boolean reads(JsonNode entry);

    /** Adds an entry of a file; returns how many requests or spans it has. */
    int add(DataFile file, JsonNode entry, long start, int length);

    /** All that has been read, in the order of the first requests; called once, before notes. */
    List<RecordedSession> sessions();

    /** What else a reader of the plan should know of it, each after a semicolon. */
    String notes();
  }

  /**
   * Recorded sessions of a file, or of all JSON files of a folder, in any form that has a {@link
   * SessionReader}.
   *
   * <p>Opening reads each file once and fails at the first mistake. Then the order of the requests
   * is in memory, about 200 bytes each, and of lines only the position: the file must not change.
   * Thread-safe.
   *
   * @param sessions in the order of their first request
   * @param notes what else a reader should know of them, each after a semicolon
   */
  public record SessionFile(List<DataFile> files, List<RecordedSession> sessions, String notes) {

    /** Max requests and spans of all files. */
    private static final long MAX = 1_000_000;

    /** Of the heap, while a file is read. */
    private static final long BYTES_PER_REQUEST = 1_000;

    /**
     * A file or folder, with the {@linkplain StampUnit unit} of its time stamps after it or none.
     */
    public static SessionFile open(String location, Tokenizer tokenizer) {
      List<DataFile> files = DataFile.all(StampUnit.file(location));
      Mooncake texts = new Mooncake(tokenizer);
      Intake intake = new Intake(new WekaTraces(texts), texts, StampUnit.after(location));
      files.forEach(intake::read);
      List<RecordedSession> all = new ArrayList<>();
      intake.readers.forEach(reader -> all.addAll(reader.sessions()));
      String notes =
          intake.readers.stream().map(SessionReader::notes).collect(Collectors.joining());
      SessionFile read = new SessionFile(files, List.copyOf(all), notes);
      if (all.isEmpty()) {
        throw new IllegalArgumentException(
            "%s: has no session; expected a request per line, spans of gen_ai, Weka or TraceLab%s"
                .formatted(read.name(), notes));
      }
      return read;
    }

    /** Of the file, or of the folder. */
    public String name() {
      Path first = files.get(0).original();
      return files.size() == 1 ? files.get(0).name() : first.toAbsolutePath().getParent() + "/";
    }

    /** Of the file; of a folder that of those of its files. */
    public String sha256() {
      return files.size() == 1
          ? files.get(0).sha256()
          : DataFile.sha256(
              files.stream()
                  .map(file -> file.name() + ' ' + file.sha256())
                  .collect(Collectors.joining("\n")));
    }

    /** The sessions in order, again and again. */
    public RecordedSession inOrder(long userIndex) {
      return sessions.get((int) (userIndex % sessions.size()));
    }

    /** For people: number and lengths of sessions. */
    public String summary() {
      var turns = sessions.stream().mapToInt(RecordedSession::turns).summaryStatistics();
      return sessions.size()
          + (sessions.size() == 1 ? " session, " : " sessions, ")
          + PlanText.spread(turns, "turn")
          + notes;
    }

    @Override
    public String toString() {
      return name() + ": " + summary();
    }

    /** Gives each entry to the first reader that knows it. */
    private static final class Intake {
      private final WekaTraces traces;
      private final List<SessionReader> readers;
      private final long max = Math.min(MAX, Runtime.getRuntime().maxMemory() / BYTES_PER_REQUEST);
      private long requests;

      Intake(WekaTraces traces, Mooncake texts, @Nullable StampUnit unit) {
        this.traces = traces;
        readers =
            List.of(
                traces, new TraceLab(texts), new OtelSpans(texts), new SessionRows(unit, texts));
      }

      void read(DataFile file) {
        file.entries(
            "sessions",
            new DataFile.EntryVisitor() {
              @Override
              public void visit(JsonNode entry, long start, int length) {
                count(
                    readers.stream()
                        .filter(reader -> reader.reads(entry))
                        .findFirst()
                        .orElseThrow()
                        .add(file, entry, start, length));
              }

              @Override
              public String parts() {
                return WekaTraces.PARTS;
              }

              @Override
              public void visitPart(JsonNode part) {
                count(traces.add(part));
              }
            });
      }

      private void count(int more) {
        requests += more;
        if (requests > max) {
          throw new IllegalArgumentException(
              "more than %s requests; split the file%s"
                  .formatted(max, max < MAX ? ", or give Java more heap (-Xmx)" : ""));
        }
      }
    }
  }

  /**
   * Requests that are sent one after the other.
   *
   * @param name empty for the agent that begins the session
   * @param joinedBy which turn of the agent that began it, from 0, waits for its last answer; the
   *     number of these turns if only the end of that agent does; null in the background
   * @param before number of its turns that are left out before these
   */
  public record Agent(
      String name, List<RecordedTurn> turns, @Nullable Integer joinedBy, int before) {

    public Agent(String name, List<RecordedTurn> turns, @Nullable Integer joinedBy) {
      this(name, turns, joinedBy, 0);
    }

    /** The session ends when it has ended too. */
    public boolean isBackground() {
      return joinedBy == null;
    }
  }

  /**
   * A recorded session of an agent and its sub-agents.
   *
   * @param turns number of requests of all its agents
   * @param beside agents that begin with the session too, as they were recorded before the first
   *     answer; no turn waits for them
   * @param fill the request before these, alone in its agent, where they are not all of the
   *     session: it fills the server's cache
   */
  public record RecordedSession(
      String id, Agent main, int turns, List<Agent> beside, @Nullable Agent fill) {

    /** The session attribute of the one to replay. */
    public static final String KEY = "recordedSession";

    /** The session attribute of how often a feeder has given that one before. */
    public static final String ROUND_KEY = "recordedSessionRound";

    /** A complete one. */
    public RecordedSession(String id, Agent main, int turns, List<Agent> beside) {
      this(id, main, turns, beside, null);
    }

    public RecordedSession(String id, Agent main, int turns) {
      this(id, main, turns, List.of());
    }
  }

  /**
   * One request.
   *
   * @param gapNanos wait before it, from the end of the turn before and of all agents that it waits
   *     for; of an agent's first one from the answer, or the session's start, it begins with
   * @param dueNanos it is not sent earlier than so long after the session's start
   * @param prompt reads or generates the messages, with the number of output tokens; blocks
   * @param children agents that begin with its answer; {@link Agent#joinedBy} states who waits
   * @param recorded what was recorded of it
   */
  public record RecordedTurn(
      long gapNanos,
      long dueNanos,
      Supplier<Dialog> prompt,
      List<Agent> children,
      RecordedRequest recorded) {

    /** The prompt of a turn that sends nothing: its children begin immediately. */
    static final Supplier<Dialog> NO_REQUEST = () -> Dialog.of(List.of());

    public boolean isRequest() {
      return prompt != NO_REQUEST;
    }

    RecordedTurn with(long otherGapNanos, long otherDueNanos, List<Agent> otherChildren) {
      return new RecordedTurn(otherGapNanos, otherDueNanos, prompt, otherChildren, recorded);
    }
  }

  /**
   * What was recorded of a request.
   *
   * @param startNanos since the start of the session; null if there are only gaps, as is the end
   * @param model number of its model, from 0, in the order in which the session first uses them;
   *     null if the session has one that is drawn
   * @param inputTokens null if the prompt is a text
   * @param outputTokens null if not recorded
   * @param blockTokens tokens of a block
   * @param blocks an id for each block of the prompt, the last one may be a part of a block: equal
   *     ids of all sessions from the first on are equal texts; may read the file
   */
  public record RecordedRequest(
      @Nullable Long startNanos,
      @Nullable Long endNanos,
      @Nullable Integer model,
      @Nullable Integer inputTokens,
      @Nullable Integer outputTokens,
      int blockTokens,
      Supplier<long[]> blocks) {

    /** Time from the request to the end of its answer; 0 if unknown. */
    long tookNanos() {
      return startNanos == null || endNanos == null ? 0 : endNanos - startNanos;
    }
  }
}
