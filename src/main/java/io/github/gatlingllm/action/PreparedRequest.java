package io.github.gatlingllm.action;

import io.gatling.core.session.Session;
import io.github.gatlingllm.client.Api.AddedField;
import io.github.gatlingllm.client.Api.Message;
import io.github.gatlingllm.client.GenerationRequest;
import io.github.gatlingllm.client.Secrets;
import io.github.gatlingllm.load.Arrival;
import io.github.gatlingllm.load.Arrival.DrawOrder;
import io.github.gatlingllm.load.Seed;
import io.github.gatlingllm.record.InjectorRun.InjectorShare;
import io.github.gatlingllm.record.Proxy;
import io.github.gatlingllm.settings.Setting;
import io.github.gatlingllm.settings.SettingValue.WeightedModel;
import io.github.gatlingllm.workload.Conversation;
import io.github.gatlingllm.workload.LengthDistribution.Draw;
import io.github.gatlingllm.workload.PromptPrefix;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/** A request with every EL String and function resolved for one user. */
record PreparedRequest(
    String name,
    String url,
    @Nullable String apiKey,
    Secrets secrets,
    GenerationRequest body,
    @Nullable String historyKey,
    @Nullable Conversation conversation,
    List<Message> newMessages) {

  /** An estimate before the prompt is counted, as providers use it for their limits. */
  static final int CHARS_PER_TOKEN = 4;

  /** The largest number of tokens, for limits per minute: estimated prompt plus limit. */
  long tokenBudget() {
    Integer limit = body.maxTokens();
    return (body.promptChars() + CHARS_PER_TOKEN - 1) / CHARS_PER_TOKEN
        + (limit == null ? 0 : (long) limit * body.n());
  }

  static PreparedRequest of(
      LlmRequest request,
      LlmProtocol protocol,
      Set<AddedField> rejected,
      Prefixes prefixes,
      Session user) {
    String url = protocol.url(prefixes.user(user), request.api);
    GenerationRequest.Builder body = GenerationRequest.of(request.api.at(url));
    Draw draws =
        new Draw(
            Seed.orOfProcess(protocol.seed()),
            prefixes.isOfWarmUp() ? null : 0L,
            prefixes.isOfWarmUp() ? AnswerPasses.sample(user) : 0);
    Session session = user.set(Draw.KEY, draws);
    ChatMessages chat = new ChatMessages(session, body, request.messages);
    Boolean stream = resolve(request.stream, session);
    String prompt = resolve(request.prompt, session);
    List<String> inputs =
        request.inputList == null
            ? resolve(request.inputs, session)
            : request.inputList.resolve(session);
    long number = prefixes.number(session, draws); // of the prompt, which has been drawn above
    draws.accept(number);
    Integer maxTokens = resolve(request.maxTokens, session);
    Conversation conversation = chat.conversation == null ? null : chat.conversation.by(number);
    SessionReplay.ReplayedTurn turn = SessionReplay.turnOf(session);
    Long draw =
        turn != null
            ? (Long) turn.draw(number)
            : conversation == null ? (Long) number : conversation.draw();
    Objects.requireNonNull(draw);
    body
        .model(model(request, protocol, prefixes, draw, session))
        .prompt(prompt)
        .inputs(inputs)
        // A prefix is sent, but is not part of the conversation.
        .prefix(
            turn != null
                ? prefixes.ofReplay(turn, draw, session)
                : prefixes.text(number, session, conversation != null))
        .stream(stream == null ? protocol.get(Setting.STREAM) : stream)
        .includeUsage(
            !Boolean.FALSE.equals(protocol.get(Setting.INCLUDE_USAGE)),
            protocol.requestsEventTokens())
        .maxTokens(maxTokens)
        .maxTokensField(protocol.maxTokensField())
        .ignoreEos(protocol.pinsOutput() && maxTokens != null)
        .without(rejected)
        .stop(resolve(request.stop, session))
        .tools(request.tools == null ? chat.tools : request.tools.resolve(session))
        .toolChoice(resolve(request.toolChoice, session))
        .responseFormat(resolve(request.responseFormat, session))
        .extra(protocol.extraBody())
        .extra(resolve(request.extraBody, session));
    request.parameters.forEach((name, value) -> body.parameter(name, value.resolve(session)));
    String key = resolve(request.apiKey == null ? protocol.apiKey() : request.apiKey, session);
    String apiKey = key == null ? null : key.strip();
    return new PreparedRequest(
        request.name.resolve(session),
        url,
        apiKey,
        secrets(apiKey, url, protocol.secretHeaders(), request, session),
        body.build(),
        chat.historyKey,
        conversation,
        chat.newMessages);
  }

  private static @Nullable String model(
      LlmRequest request, LlmProtocol protocol, Prefixes prefixes, long draw, Session session) {
    if (request.model != null || protocol.models().isEmpty()) {
      return resolve(request.model == null ? protocol.model() : request.model, session);
    }
    SessionReplay.ReplayedTurn turn = SessionReplay.turnOf(session);
    if (turn != null && turn.model != null) {
      return protocol.models().get(turn.model % protocol.models().size()).name();
    }
    // Warm-up requests try each model at each URL.
    return prefixes.isOfWarmUp()
        ? WeightedModel.tried(protocol.models(), protocol.baseUrls().size(), session.userId())
        : WeightedModel.drawn(protocol.models(), Seed.orOfProcess(protocol.seed()), draw);
  }

  private static Secrets secrets(
      @Nullable String apiKey,
      String url,
      List<Dynamic<String>> ofProtocol,
      LlmRequest request,
      Session session) {
    List<String> secrets = new ArrayList<>(Secrets.ofUrl(url));
    if (Proxy.isSet()) {
      secrets.addAll(Secrets.ofUrl(String.valueOf(Proxy.of(URI.create(url)))));
    }
    if (apiKey != null) {
      secrets.add(apiKey);
    }
    ofProtocol.forEach(header -> secrets.add(header.resolve(session).strip()));
    if (!request.headers.isEmpty()) {
      LlmProtocol.secretsOf(request.headers)
          .forEach(header -> secrets.add(header.resolve(session).strip()));
    }
    return Secrets.of(secrets);
  }

  /**
   * Why its conversation does not go on: an earlier turn ended it, or this turn and its answer
   * would not fit into the context any more; null where it does.
   */
  @Nullable String whyNotToBeSent() {
    return conversation == null
        ? null
        : conversation.reasonNotToSend(newMessages, body.maxTokens());
  }

  private static List<String> resolve(List<Dynamic<String>> texts, Session session) {
    return texts.isEmpty() ? List.of() : texts.stream().map(text -> text.resolve(session)).toList();
  }

  private static <T> @Nullable T resolve(@Nullable Dynamic<T> value, Session session) {
    return value == null ? null : value.resolve(session);
  }

  /** The first texts of the prompts of a run, by the draw of the prompt, else by request number. */
  record Prefixes(PromptPrefix.Texts texts, InjectorShare share, DrawOrder order, long from) {

    /**
     * Each load plan has a range of this number of bits of numbers; requests outside plans the
     * first.
     */
    private static final int PLAN_BITS = 40;

    /** Above the numbers of requests, below those of the warm-up. */
    private static final long FIRST_ROUND = 1L << 57;

    boolean isOfWarmUp() {
      return from > 0;
    }

    long number(Session session, Draw draws) {
      Arrival arrival = UserSessions.arrivalOf(session);
      PlanUser user = PlanUser.orNull(session);
      long plan = user == null || arrival == null || arrival.number() == null ? 0 : user.plan();
      long drawn = draws.number();
      if (drawn == 0
          && session.attributes().getOrElse(DrawOrder.KEY, () -> null) instanceof AtomicLong fed) {
        drawn = DrawOrder.nextOf(fed);
      }
      return from + (drawn > 0 ? drawn : (plan << PLAN_BITS) + order.next(arrival));
    }

    String text(long request, Session session, boolean conversation) {
      return conversation ? texts.inConversation(request, user(session)) : texts.of(request);
    }

    /** The same in all requests of a replay, and another one in the next of the same session. */
    String ofReplay(SessionReplay.ReplayedTurn turn, long draw, Session session) {
      Long round = turn.round();
      return texts.inReplay(round == null ? draw : FIRST_ROUND + round, user(session));
    }

    /** The number of a user, from 1: the same whichever of several injectors starts the user. */
    long user(Session session) {
      if (isOfWarmUp()) {
        return session.userId(); // of a warm-up request, which each injector sends
      }
      Arrival arrival = UserSessions.arrivalOf(session);
      Long number = arrival == null ? null : arrival.number();
      return 1 + (number == null ? share.numberOf(session.userId() - 1) : number);
    }
  }
}
