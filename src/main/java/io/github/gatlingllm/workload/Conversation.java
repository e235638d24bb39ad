package io.github.gatlingllm.workload;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.github.gatlingllm.client.Api.Message;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The state of a multi-turn chat, an attribute of the session.
 *
 * @param number a different one for each conversation of this process, from 1
 * @param draw the number of the request that began it, by which its model is drawn; null before
 * @param tokens of all messages as counted with the last answer; 0 if not known
 * @param script the replayed dialog; null if the simulation supplies the prompts
 * @param endReason why no further turn is sent; null while it continues
 */
public record Conversation(
    long number,
    @Nullable Long draw,
    List<Message> messages,
    int turns,
    int tokens,
    @Nullable Integer contextLimit,
    @Nullable Script script,
    @Nullable String endReason) {

  private static final AtomicLong BEGUN = new AtomicLong();

  public Conversation {
    messages = List.copyOf(messages);
  }

  private record Script(List<DialogTurn> turns, @Nullable String tools, boolean recorded) {
    Script {
      turns = List.copyOf(turns);
    }
  }

  /** A conversation that begins with these messages, none of which is an answer. */
  public static Conversation of(Message... messages) {
    return new Conversation(
        BEGUN.incrementAndGet(), null, List.of(messages), 0, 0, null, null, null);
  }

  /** One that replays the dialog, if any, with recorded or received answers in its history. */
  public static Conversation of(
      @Nullable Dialog dialog,
      boolean recorded,
      @Nullable String system,
      @Nullable Integer contextLimit) {
    List<Message> opening = dialog == null ? List.of() : dialog.opening();
    return new Conversation(
        BEGUN.incrementAndGet(),
        null,
        system == null ? opening : List.of(Message.system(system)),
        0,
        0,
        contextLimit,
        dialog == null ? null : new Script(dialog.turns(), dialog.tools(), recorded),
        null);
  }

  /** The conversation as a request with that number sends it. */
  public Conversation by(long request) {
    return draw != null
        ? this
        : new Conversation(
            number, request, messages, turns, tokens, contextLimit, script, endReason);
  }

  public Conversation ended(String reason) {
    return new Conversation(number, draw, messages, turns, tokens, contextLimit, script, reason);
  }

  /** The conversation after a failed turn: a script ends, as its next turn needs the answer. */
  public Conversation failed() {
    return script == null || endReason != null
        ? this
        : ended("an earlier turn of its dialog failed");
  }

  /**
   * The conversation after an answer. A turn whose answer has neither text nor calls, as one that
   * only thought, is not remembered: servers reject an empty message, and two questions in a row.
   */
  public Conversation answered(
      List<Message> question, Message answer, int promptTokens, int answerTokens) {
    List<Message> recorded = recordedAnswer();
    List<Message> answers =
        (recorded.isEmpty() ? List.of(answer) : recorded)
            .stream().filter(Message::isFilled).toList();
    if (answers.isEmpty()) {
      List<Message> instructions = new ArrayList<>(messages);
      question.stream().filter(Dialog::isInstruction).forEach(instructions::add);
      return new Conversation(
          number, draw, instructions, turns + 1, tokens, contextLimit, script, endReason);
    }
    int added = recorded.isEmpty() && answerTokens > 0 ? answerTokens : estimated(answers);
    List<Message> longer = new ArrayList<>(messages);
    longer.addAll(question);
    longer.addAll(answers);
    int known = promptTokens == 0 ? 0 : promptTokens + added;
    return new Conversation(
        number, draw, longer, turns + 1, known, contextLimit, script, endReason);
  }

  /** Whether the last answered turn is part of it, after the given one. */
  public boolean remembers(Conversation before) {
    return messages.stream().filter(Dialog::isAnswer).count()
        > before.messages.stream().filter(Dialog::isAnswer).count();
  }

  /** The conversation without turns at its end whose calls are not answered by tools. */
  public Conversation withoutOpenCalls() {
    int end = messages.size();
    while (end > 0 && messages.get(end - 1).toolCalls() != null) {
      for (end--; end > 0 && Dialog.isQuestion(messages.get(end - 1)); ) {
        end--;
      }
    }
    return end == messages.size()
        ? this
        : new Conversation(
            number, draw, messages.subList(0, end), turns, 0, contextLimit, script, endReason);
  }

  private List<Message> recordedAnswer() {
    return script != null && script.recorded() && turns < script.turns().size()
        ? script.turns().get(turns).answer()
        : List.of();
  }

  /** Whether it replays a dialog. */
  public boolean isScripted() {
    return script != null;
  }

  /** The tools of the dialog, a JSON array; null without. */
  public @Nullable String tools() {
    return script == null ? null : script.tools();
  }

  /** The question of the next turn of the dialog; null at its end, and without a dialog. */
  public @Nullable List<Message> nextQuestion() {
    return script == null || turns >= script.turns().size()
        ? null
        : script.turns().get(turns).question();
  }

  public boolean goesOn() {
    return endReason == null && (script == null || turns < script.turns().size());
  }

  /** Why a turn is not sent: the conversation has ended, or might exceed the context limit. */
  public @Nullable String reasonNotToSend(List<Message> question, @Nullable Integer maxTokens) {
    if (endReason == null && script != null && !question.stream().allMatch(this::isAwaited)) {
      return "the model did not call the tool whose result is recorded";
    }
    if (endReason != null || contextLimit == null) {
      return endReason;
    }
    long history = tokens > 0 ? tokens : estimated(messages);
    long needed = history + estimated(question) + (maxTokens == null ? 0 : maxTokens);
    return needed > contextLimit ? "context limit of " + contextLimit + " tokens reached" : null;
  }

  /** Whether the result of a tool has its call in the history, which servers require. */
  private boolean isAwaited(Message message) {
    String id = message.toolCallId();
    return id == null
        || messages.stream()
            .anyMatch(m -> m.toolCalls() != null && m.toolCalls().contains('"' + id + '"'));
  }

  private static int estimated(List<Message> messages) {
    return Tokenizer.chars4().count(Dialog.texts(messages));
  }

  /**
   * A recorded dialog: the user's messages and the recorded answers, turn by turn. An answer before
   * the first user message, as in excerpts of longer dialogs, is in {@link #messages} but in no
   * request, because many chat templates reject it.
   *
   * @param messages in order; those of the assistant are recorded answers
   * @param tools definitions of the tools that the model could call, a JSON array; null for none
   * @param inputTokens recorded length of {@link #promptMessages}; null if not recorded
   * @param outputTokens recorded length of the answer to {@link #promptMessages}; null if not
   *     recorded
   */
  public record Dialog(
      List<Message> messages,
      @Nullable String tools,
      @Nullable Integer inputTokens,
      @Nullable Integer outputTokens) {

    private static final ObjectMapper JSON = new ObjectMapper();

    public Dialog {
      messages = List.copyOf(messages);
    }

    public static Dialog of(List<Message> messages) {
      return new Dialog(messages, null, null, null);
    }

    public List<Message> opening() {
      return messages.stream()
          .takeWhile(message -> !isQuestion(message))
          .filter(m -> !isAnswer(m))
          .toList();
    }

    /** Number of turns of the user. */
    public int size() {
      return turns().size();
    }

    private List<DialogTurn> turns() {
      List<DialogTurn> turns = new ArrayList<>();
      List<Message> question = new ArrayList<>();
      List<Message> answer = new ArrayList<>();
      boolean opened = false;
      for (Message message : messages) {
        opened |= isQuestion(message);
        if (!opened) {
          continue;
        }
        if (isAnswer(message)) {
          answer.add(message);
          continue;
        }
        if (!answer.isEmpty()) {
          turns.add(new DialogTurn(question, answer));
          question.clear();
          answer.clear();
        }
        question.add(message);
      }
      if (question.stream().anyMatch(Dialog::isQuestion)) {
        turns.add(new DialogTurn(question, answer));
      }
      return turns;
    }

    /** All messages up to the last one of the user or of a tool: one request. */
    public List<Message> promptMessages() {
      List<Message> all = new ArrayList<>(opening());
      List<DialogTurn> turns = turns();
      for (int i = 0; i < turns.size(); i++) {
        all.addAll(turns.get(i).question());
        if (i < turns.size() - 1) {
          all.addAll(turns.get(i).answer());
        }
      }
      return all;
    }

    /** The text of the last turn's question; empty without turns. */
    public String prompt() {
      List<DialogTurn> turns = turns();
      return turns.isEmpty() ? "" : texts(turns.get(turns.size() - 1).question());
    }

    /** The texts of {@link #promptMessages} separated by empty lines, for APIs without messages. */
    public String text() {
      return texts(promptMessages());
    }

    /** The text of the system messages before the first turn; null without any. */
    public @Nullable String system() {
      List<Message> opening = opening();
      return opening.isEmpty() ? null : texts(opening);
    }

    /** The text of the recorded answer to {@link #promptMessages}; null without any. */
    public @Nullable String answer() {
      List<DialogTurn> turns = turns();
      String answer = turns.isEmpty() ? "" : texts(turns.get(turns.size() - 1).answer());
      return answer.isEmpty() ? null : answer;
    }

    boolean beginsWithAnswer() {
      return messages.stream()
          .takeWhile(message -> !isQuestion(message))
          .anyMatch(Dialog::isAnswer);
    }

    private static boolean isAnswer(Message message) {
      return message.role().equals("assistant");
    }

    private static boolean isQuestion(Message message) {
      return !isAnswer(message) && !isInstruction(message);
    }

    private static boolean isInstruction(Message message) {
      return message.role().equals("system") || message.role().equals("developer");
    }

    static String texts(List<Message> messages) {
      return messages.stream()
          .flatMap(Dialog::texts)
          .filter(text -> !text.isEmpty())
          .collect(Collectors.joining("\n\n"));
    }

    private static Stream<String> texts(Message message) {
      if (message.parts() == null) {
        return Stream.ofNullable(message.content());
      }
      try {
        List<String> texts = new ArrayList<>();
        for (JsonNode part : JSON.readTree(message.parts())) {
          texts.add(part.path("text").asText());
        }
        return texts.stream();
      } catch (JsonProcessingException e) {
        throw new IllegalArgumentException("message parts are not JSON: " + message.parts(), e);
      }
    }
  }

  /** Messages of the user or a tool, and the recorded answer if there is one. */
  private record DialogTurn(List<Message> question, List<Message> answer) {
    private DialogTurn {
      question = List.copyOf(question);
      answer = List.copyOf(answer);
    }
  }
}
