package io.github.gatlingllm.docs;

import com.sun.source.doctree.DocCommentTree;
import com.sun.source.doctree.DocTree;
import com.sun.source.doctree.LinkTree;
import com.sun.source.doctree.LiteralTree;
import com.sun.source.doctree.TextTree;
import com.sun.source.tree.ClassTree;
import com.sun.source.tree.CompilationUnitTree;
import com.sun.source.tree.MethodTree;
import com.sun.source.tree.VariableTree;
import com.sun.source.util.DocTrees;
import com.sun.source.util.JavacTask;
import com.sun.source.util.TreePathScanner;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.lang.model.element.Modifier;
import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;
import org.jspecify.annotations.Nullable;

/**
 * Makes {@code docs/dsl-reference.md} of the Javadoc of the DSL: for every documented method one
 * line of code and one sentence. What is for internal use, or overrides, is left out.
 */
final class DslPage {

  static final Path FILE = Path.of("docs/dsl-reference.md");

  private static final Path SOURCES = Path.of("src/main/java/io/github/gatlingllm/javaapi");
  private static final String INTERNAL = "For internal use only";

  /**
   * Sections, types in their order, and the code before their methods; after {@code =} the names of
   * the methods say what they do, or the definitions of metrics; after {@code ~} methods that are
   * called as a setting do what that does.
   */
  private static final String TYPES =
      """
      # Servers
      ~LlmProtocolBuilder llm.
      SloBuilder slo().
      # Requests
      LlmDsl
      Llm llm("ask").
      ChatRequestBuilder ask.
      ~GenerationRequestBuilder ask.
      ~LlmRequestBuilder ask.
      LlmRequestBuilder.CheckCondition ask.checkIf("#{strict}").
      CompletionRequestBuilder complete.
      EmbeddingRequestBuilder embed.
      RerankRequestBuilder rank.
      ConversationBuilder conversation("history").
      =MillisCheck ttft().
      =LlmResponse response.
      # Load
      LoadDsl
      ~PhasedLoad closedLoop(1, 2, 4).
      ClosedLoop closedLoop(1, 2, 4).
      OpenLoop openLoop(1, 2, 4).
      MaxGoodput maxGoodput().
      ~Batch batch(8).
      ~LoadProfile closedLoop(8).
      LoadProfile.Levels closedLoop(8).
      =SeededArrivals poissonUsersPerSec(25).
      # Prompts and workloads
      WorkloadDsl
      PromptsBuilder prompts().
      LengthsBuilder lengths().pair(256, 128).
      ~WorkloadBuilder dialog().
      MixBuilder mix().
      DatasetFile shareGpt("chats.json").
      DatasetFeeder dataset(shareGpt("chats.json")).
      NoiseImage image(512, 512).
      # Assertions
      =AssertionScope llmGlobal().
      =LlmAssertion.WithMetric llmGlobal().ttft().
      =LlmAssertion.WithTotal llmGlobal().allRequests().
      =LlmAssertion.WithCount llmGlobal().failedRequests().
      =LlmAssertion.WithGoodput llmGlobal().goodput().
      =AssertionCondition llmGlobal().jitter().
      =TimeCondition llmGlobal().ttft().mean().
      """;

  /** Values of parameters, by {@code method.parameter}, by parameter, by type. */
  private static final String VALUES =
      """
      url="http://localhost:8000/v1" urls=List.of("http://localhost:8000/v1") label="A"
      metricsUrl.url="http://gpu:9400/metrics" metricsUrls.urls=List.of("none") llmStage.label="c=8"
      key=System.getenv("LLM_API_KEY") model="llama-8b" name="X-Tenant" value="acme" headers=Map.of("X-Tenant",~"acme")
      note.name="gpu" note.value="H100" llm.name="ask" json="{\\"top_k\\":40}" tools.json="#{tools}"
      LlmProtocolBuilder.model.name="lora-a" conversationHeader.name="x-session-id" toolChoice.json="\\"auto\\"" responseFormat.json="{\\"type\\":\\"json_object\\"}"
      sessionKey="history" toolResults.sessionKey="calls" tool=call~->~"42" text="#{question}" system.text="Be~brief."
      callId="#{id}" texts="\\n" el="#{dialog}" requestName="ask" condition="#{strict}" encodingFormat.format="base64"
      encoding="o200k_base" file="chats.json" huggingFace.file="tokenizer.json" dataset.file=shareGpt("chats.json") image.file="cat.png" replay.file="trace.csv"
      tracedTokens.file="trace.csv" PromptsBuilder.file.path="prompts.txt" input.text="#{passage}" prompt="Once"
      maxTokens.tokens=256 temperature=0.7 topP=0.95 topK=40 minP=0.05 penalty=0.5 choices=2 top=5 dimensions=256
      contextLimit.tokens=8192 tokens=512 groups=8 maxTokensPerMinute.tokens=150000 maxRequestsPerMinute.requests=500
      warmUp.requests=3 waitReady.max=ofMinutes(5) beforeLevel.requests="POST:/reset_prefix_cache" afterLevel.requests="POST:/stop_profile@c=8" checkOrFile="check" formats="vllm" requests=64 seed=42 pinned=42 price=3.5 tokensPerSecond=5 number=8 speed=2 maxTokensField.name="max_completion_tokens" share=0.1 precision.share=0.05 startingAt.load=2 sloTier.name="gold" ofTier.name="gold" repetitionPenalty.penalty=1.1
      image=image("cat.png") messages=session~->~session.getList("messages") lengths=normalTokens(256,~96) tokens.tokenizer=chars4()
      imageUrl.url="http://host/cat.png" bytes=new~byte[8] mimeType="image/png" width=512 height=512 length=ofSeconds(60)
      mooncake.file="trace.jsonl" sessions.file="agents.jsonl" request=ask session=Map.of("question",~"Why?") requests.max=ofMinutes(2) String:objectives="ttft<200ms,tpot<50ms"
      io.gatling.core.structure.ScenarioBuilder:scenario=chat.wrapped ToDoubleFunction<Duration>:usersPerSecond=t~->~5
      GenerationRequestBuilder.abandonAfter.min=ofSeconds(2) GenerationRequestBuilder.abandonAfter.max=ofSeconds(5)
      LlmProtocolBuilder.abandonAfter.min=ofSeconds(2) LlmProtocolBuilder.abandonAfter.max=ofSeconds(5)
      slo=slo().ttft(200) objectives=slo().ttft(200) assertions=llmValid() checks=ttft().lt(500) server=engine
      tokenizer=tiktoken("o200k_base") rate=25 usersPerSec.rate=t~->~5
      users=8 usersPerSecond=2 percent=99 sloBelow.percent=50 errorsAbove.percent=10 rules=sloBelow(50) populations=chat.injectOpen(atOnceUsers(1))
      protocol=llm scenario=chat LlmAssertion.x=1 cv=1.4 count=10 weight=70 what=ragAgent() weights=Map.of(128,~0.7,~4096,~0.3)
      pairs=lengths().pair(256,~128) LengthDistribution:input=normalTokens(256,~32) LengthDistribution:output=normalTokens(128,~16) LengthsBuilder.pair.input=4096 LengthsBuilder.pair.output=512 LengthsBuilder.weight.weight=40 maxTokens.lengths=lognormalTokens(128,~64)
      mean=256 std=96 uniformTokens.min=64 uniformTokens.max=512 thinkTime.min=1 thinkTime.max=5 change=ask~->~ask.topK(40) api=Llm::responses
      completion.change=go~->~go.topK(40) status=RequestStatus.TIMEOUT AssertionCondition.value=200 AssertionCondition.values=1,~2 min=1 max=3
      AssertionCondition.mean=200 plusOrMinus=20 percentDeviation=0.1 TimeCondition.min=ofMillis(10) TimeCondition.max=ofMillis(90)
      TimeCondition.value=ofMillis(40) millis=500 prompts=500 images=16 time=ofSeconds(5) limit=ofMillis(200) timeout=ofMinutes(2)
      seconds=30 stream=false
      int=8 long=30 double=0.5 boolean=true Duration=ofSeconds(2)
      """;

  private final Map<String, Map<String, Row>> byType = new HashMap<>();
  private final List<String> undocumented = new ArrayList<>();
  private final Set<String> names = new HashSet<>();
  private final Map<String, String> values = new HashMap<>();

  private record Row(String code, String sentence) {
    /** The setting of its name; {@code disableCooldown()} is the setting cooldown too. */
    String setting() {
      String name = code.substring(0, code.indexOf('(')).replaceFirst("^disable", "");
      return name.substring(0, 1).toLowerCase(Locale.ROOT) + name.substring(1);
    }
  }

  private final List<String> calls = new ArrayList<>();

  DslPage() throws IOException {
    for (String value : VALUES.strip().split("\\s+", -1)) {
      values.put(value.split("=", 2)[0], value.split("=", 2)[1].replace('~', ' '));
    }
    readSources();
  }

  /** Writes the page. */
  public static void main(String[] arguments) throws IOException {
    Files.writeString(FILE, new DslPage().text());
  }

  String text() throws IOException {
    Set<String> settings = settings();
    StringBuilder page = new StringBuilder(HEAD);
    for (String line : TYPES.strip().split("\n", -1)) {
      if (line.startsWith("#")) {
        page.append("\n#").append(line).append("\n\n");
        continue;
      }
      boolean isSentence = !line.startsWith("=");
      String type = line.split(" ", 2)[0].replaceFirst("^[=~]", "");
      List<String> named = new ArrayList<>();
      List<String> asSettings = new ArrayList<>();
      for (Row row : Objects.requireNonNull(byType.remove(type), line).values()) {
        String call = line.substring(line.split(" ", 2)[0].length()).strip() + row.code();
        calls.add(call + ";\n");
        if (line.startsWith("~") && settings.contains(row.setting())) {
          asSettings.add("`" + (asSettings.isEmpty() ? call : row.code()) + "`");
        } else if (isSentence) {
          page.append(ReferencePage.item("`" + call + "` " + row.sentence()));
        } else {
          named.add("`" + (named.isEmpty() ? call : row.code()) + "`");
        }
      }
      page.append(isSentence ? "" : ReferencePage.item(String.join(", ", named)));
      if (!asSettings.isEmpty()) {
        page.append(ReferencePage.item(String.join(", ", asSettings) + ": as these settings."));
      }
    }
    return page.toString();
  }

  /** The lines of code of the text, each with a line end. */
  List<String> calls() {
    return calls;
  }

  /** Public methods without Javadoc, and types without a place on the page. */
  List<String> missing() {
    return Stream.concat(undocumented.stream(), byType.keySet().stream()).toList();
  }

  /** But that of the seed, which a protocol and a request have for other draws. */
  private static Set<String> settings() throws IOException {
    return Pattern.compile("(?m)^`(?!seed`)(\\w+)`[*†]* \\|")
        .matcher(Files.readString(Path.of("docs/settings.md")))
        .results()
        .map(name -> name.group(1))
        .collect(Collectors.toSet());
  }

  private static final String HEAD =
      """
      # Reference of the DSL

      Every method with one line of code. The Javadoc, from which it is generated, has more: ranges, defaults, overloads.
      Most texts and numbers also take a Gatling EL String or a `Function<Session, T>`, and times a number of seconds. Here
      `ask`, `complete`, `embed` and `rank` are requests, `chat` is a scenario, `engine` an embedded engine, and `response`
      what `checkIf` hands over. Figures of assertions are defined in [metrics.md](metrics.md#all-metrics), what is *as
      these settings* in [settings.md](settings.md).
      """;

  private void readSources() throws IOException {
    JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
    StandardJavaFileManager files = compiler.getStandardFileManager(null, null, null);
    try (Stream<Path> all = Files.list(SOURCES)) {
      List<Path> sources = all.filter(f -> f.toString().endsWith(".java")).sorted().toList();
      JavacTask task =
          (JavacTask)
              compiler.getTask(
                  null,
                  files,
                  null,
                  List.of("-proc:none"),
                  null,
                  files.getJavaFileObjectsFromPaths(sources));
      DocTrees docs = DocTrees.instance(task);
      for (CompilationUnitTree unit : task.parse()) {
        new Methods(docs).scan(unit, null);
      }
    }
  }

  private final class Methods extends TreePathScanner<@Nullable Void, @Nullable String> {
    private final DocTrees docs;

    Methods(DocTrees docs) {
      this.docs = docs;
    }

    @Override
    public @Nullable Void visitClass(ClassTree type, @Nullable String outer) {
      String name = type.getSimpleName().toString();
      return type.getModifiers().getFlags().contains(Modifier.PRIVATE)
          ? null
          : super.visitClass(type, outer == null ? name : outer + "." + name);
    }

    @Override
    public @Nullable Void visitMethod(MethodTree method, @Nullable String type) {
      var modifiers = method.getModifiers();
      boolean isPublic =
          modifiers.getFlags().contains(Modifier.PUBLIC)
              || modifiers.getFlags().contains(Modifier.DEFAULT);
      boolean overrides =
          modifiers.getAnnotations().stream()
              .anyMatch(each -> each.getAnnotationType().toString().equals("Override"));
      String name = method.getName().toString();
      DocCommentTree doc = docs.getDocCommentTree(getCurrentPath());
      String sentence = doc == null ? "" : text(doc.getFullBody());
      if (!isPublic
          || overrides
          || method.getReturnType() == null
          || sentence.startsWith(INTERNAL)) {
        return null;
      }
      Map<String, Row> rows =
          byType.computeIfAbsent(String.valueOf(type), t -> new LinkedHashMap<>());
      if (doc == null && !names.contains(type + "." + name)) {
        undocumented.add(type + "." + name);
      }
      String arguments =
          method.getParameters().stream()
              .filter(parameter -> !parameter.getName().contentEquals("more"))
              .map(parameter -> value(type, name, parameter))
              .collect(Collectors.joining(", "));
      if (doc != null) {
        rows.put(name + method.getParameters(), new Row(name + "(" + arguments + ")", sentence));
        names.add(type + "." + name);
      }
      return null;
    }

    private String value(@Nullable String type, String method, VariableTree parameter) {
      String name = parameter.getName().toString();
      return Stream.of(
              parameter.getType() + ":" + name,
              type + "." + method + "." + name,
              method + "." + name,
              type + "." + name,
              name,
              parameter.getType().toString())
          .map(values::get)
          .filter(value -> value != null)
          .findFirst()
          .orElseGet(() -> "no_value_of_" + name);
    }
  }

  private static String text(List<? extends DocTree> parts) {
    StringBuilder text = new StringBuilder();
    for (DocTree part : parts) {
      if (part instanceof LiteralTree code) {
        text.append('`').append(code.getBody().getBody().strip()).append('`');
      } else if (part instanceof LinkTree link) {
        String to = link.getReference().getSignature().replaceFirst("[(].*", "");
        text.append('`').append(to.replaceFirst("^.*[#.]", "")).append('`');
      } else if (part instanceof TextTree plain) {
        text.append(plain.getBody());
      } else {
        break;
      }
    }
    return text.toString()
        .replaceAll("\\s+", " ")
        .replaceFirst("(?<!e[.]g)[.] .*", ".")
        // without ranges, defaults, examples
        .replaceFirst(
            "; .*|: `\\w+\\(.*|: (`[^`]*`|path)( \\(\\w+\\))?, .*| \\(path .*"
                + "|(?<=^(?!As )[^,]{25,99}), (?!but|for|or |if|unless|e[.]g).*",
            ".")
        .strip();
  }
}
