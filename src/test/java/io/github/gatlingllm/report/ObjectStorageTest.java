package io.github.gatlingllm.report;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.nio.file.StandardOpenOption.APPEND;
import static java.nio.file.StandardOpenOption.CREATE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.gatlingllm.record.InjectorRun.InjectorEnd;
import io.github.gatlingllm.record.InjectorRun.InjectorShare;
import io.github.gatlingllm.record.RunFiles;
import io.github.gatlingllm.record.RunInfo;
import io.github.gatlingllm.storage.S3Location;
import io.github.gatlingllm.storage.S3Server;
import io.github.gatlingllm.testing.JavaCommand;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Runs go to and come from an S3 server that fails in every way that we know of. */
class ObjectStorageTest {

  private static final String RECORDS = "t/a/llm/requests.jsonl";

  @TempDir private Path folder;
  private final List<String> messages = new ArrayList<>();
  @AutoClose private S3Server s3;

  @BeforeEach
  void open() throws IOException {
    s3 = new S3Server();
  }

  private static byte[] bytes(int count) {
    byte[] bytes = new byte[count];
    new Random(1).nextBytes(bytes);
    return bytes;
  }

  private void store(String run, byte[] records) {
    s3.objects.put(run + "/llm/requests.jsonl", records);
    s3.objects.put(run + "/llm/run.json", "{}".getBytes(UTF_8));
  }

  private RunInputs inputs(String place) throws IOException {
    RunInputs inputs = new RunInputs(List.of(place), folder.resolve("cache"), messages::add);
    var unused = inputs.runs();
    return inputs;
  }

  @Test
  void allRunsBelowAPrefixAreFound() throws IOException {
    store("t/a", "A".getBytes(UTF_8));
    store("t/deep/er/b", "B".getBytes(UTF_8));
    store("t-other/c", "C".getBytes(UTF_8));
    s3.objects.put("t/unfinished/llm/requests.jsonl", bytes(10));
    s3.objects.put("t/a/llm.html", bytes(10));
    for (int i = 0; i < 2_100; i++) {
      s3.objects.put("t/b/%04d".formatted(i), new byte[0]);
    }

    try (RunInputs inputs = inputs("s3://bench/t/")) {
      assertThat(inputs.runs())
          .extracting(run -> Files.readString(run.resolve("llm/requests.jsonl")))
          .containsExactly("A", "B");
    }
    assertThat(messages)
        .containsExactly(
            "s3://bench/t/unfinished is ignored: it has no llm/run.json, so its upload is not"
                + " complete");
    assertThat(s3.requests("GET t/")).hasSize(4).doesNotContain("a/llm.html");
    try (RunInputs one = inputs("s3://bench/t/a")) {
      assertThat(one.one().getFileName()).hasToString("a");
    }
  }

  @Test
  void laterCommandDownloadsWhatIsMissing() throws IOException {
    byte[] records = bytes(200_000);
    store("t/a", records);
    s3.cutAfter = 70_000;
    assertThatThrownBy(() -> inputs("s3://bench/t"))
        .isInstanceOf(IOException.class)
        .hasMessageStartingWith("s3://bench/t/a/llm/requests.jsonl at http://127.0.0.1:");
    s3.cutAfter = Integer.MAX_VALUE;
    s3.requests.clear();

    try (RunInputs inputs = inputs("s3://bench/t")) {
      assertThat(inputs.one().resolve("llm/requests.jsonl")).hasBinaryContent(records);
      assertThatThrownBy(() -> inputs.requireFolder(inputs.one(), "page"))
          .hasMessage("s3://bench/t is not a folder; name a folder for the page with --out <dir>");
    }
    assertThat(s3.requests("GET t/")).contains("a/llm/requests.jsonl");
    s3.requests.clear();
    inputs("s3://bench/t").close();
    assertThat(s3.requests("GET t/")).isEmpty();
    s3.objects.put(RECORDS, bytes(10));
    inputs("s3://bench/t").close();
    assertThat(s3.requests("GET t/")).containsExactly("a/llm/requests.jsonl");
  }

  @Test
  void downloadsWithoutAFolderAreDeleted() throws IOException {
    store("t/a", bytes(10));
    Path run;
    try (RunInputs inputs = new RunInputs(List.of("s3://bench/t"), null, messages::add)) {
      run = inputs.one();
      assertThat(run.resolve("llm/requests.jsonl")).hasSize(10);
    }
    assertThat(run).doesNotExist();
  }

  @Test
  void replacedObjectIsReported() throws IOException {
    store("t/a", bytes(10));
    s3.refused =
        request -> {
          if (request.startsWith("GET " + RECORDS)) {
            s3.objects.put(RECORDS, bytes(11));
          }
          return false;
        };

    assertThatThrownBy(() -> inputs("s3://bench/t")).hasMessageContaining("replaced or removed");
  }

  @Test
  void overloadedServerIsTriedAgain() throws IOException {
    store("t/a", bytes(10));
    AtomicInteger refusals = new AtomicInteger(2);
    s3.refused = request -> refusals.getAndDecrement() > 0;

    try (RunInputs inputs = inputs("s3://bench/t")) {
      assertThat(inputs.runs()).hasSize(1);
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "../../x",
        "..",
        "a/../../b",
        "C:/x",
        "x\\..\\y",
        "//x",
        "1/2/3/4/5/6/7/8/9/10/11/12/13/14/15/16/17/18/19/20/21/22/23/24/25/26/27/28/29/30/31/32/33"
      })
  void keysThatLeadOutOfThePlaceAreIgnored(String run) {
    s3.objects.put("t/" + run + "/llm/run.json", bytes(1));

    assertThatThrownBy(() -> inputs("s3://bench/t"))
        .hasMessage("s3://bench/t contains no run: no llm/run.json is below it");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          <Size>200000<       | <Size>10<               | requests.jsonl at .*: it has more than the 10 bytes listed
          <Key>[^<]*<         | <Key>t<                 | contains no run: no llm/run.json is below it
          <Size>[^<]*</Size>  | ''                      | contains no run: no llm/run.json is below it
          """)
  void listingThatLiesIsReportedInOneLine(String of, String by, String message) {
    store("t/a", bytes(200_000));
    s3.listing = xml -> xml.replaceAll(of, by);

    assertThatThrownBy(() -> inputs("s3://bench/t"))
        .hasMessageMatching("s3://bench/t(/a/llm/| )" + message);
    assertThat(folder.resolve("cache/bench/t/a/llm/requests.jsonl")).doesNotExist();
  }

  @Test
  void listingWithoutEndIsReportedInOneLine() {
    store("t/a", bytes(1));
    s3.listing =
        xml ->
            xml.replaceAll("(?s)(<Contents>.*</Contents>)", "$1".repeat(1_000))
                .replace("<IsT", "<NextContinuationToken>a</NextContinuationToken><IsT")
                .replace("<IsTruncated>false<", "<IsTruncated>true<");
    assertThatThrownBy(() -> inputs("s3://bench/t"))
        .hasMessageMatching("s3://bench/t at .*: more than 200,000 objects; name a longer prefix");
  }

  @Test
  void placeThatCannotBeUsedIsReported() {
    assertThatThrownBy(() -> inputs("s3://bench/t"))
        .hasMessage("s3://bench/t contains no run: no llm/run.json is below it");
    assertThatThrownBy(() -> inputs("s3://other/t"))
        .hasMessageStartingWith("unknown bucket other at http://127.0.0.1:");
    assertThatThrownBy(() -> S3Location.parse("s3://other/t").check())
        .hasMessageStartingWith("unknown bucket other at http://127.0.0.1:");
    s3.stop();
    assertThatThrownBy(() -> inputs("s3://bench/t")).hasMessageContaining("Connection refused");
    assertThatThrownBy(() -> S3Location.parse("s3://bench/t").check())
        .hasMessageContaining("Connection refused");
  }

  @ParameterizedTest
  @ValueSource(strings = {"s3://", "s3:///x", "s3://b//x", "s3://a b/x"})
  void malformedPlaceIsReported(String text) {
    assertThatThrownBy(() -> S3Location.parse(text))
        .hasMessage(
            "'" + text + "' is not a location in object storage; expected s3://bucket/prefix");
  }

  @Test
  void placesAreReadWithAndWithoutSlash() {
    assertThat(S3Location.parse("s3://b1/x/y/")).isEqualTo(new S3Location("b1", "x/y"));
    assertThat(S3Location.parse("s3://b1/")).isEqualTo(new S3Location("b1", ""));
  }

  /** A run of this number of bytes of records, as the second of two injectors. */
  private RunFiles run(int bytes) throws IOException {
    RunFiles files = new RunFiles(folder.resolve("run"));
    Files.createDirectories(files.folder());
    Files.write(files.requests(), bytes(bytes));
    Files.writeString(files.arrivals(), "arrivals");
    Files.writeString(files.summaryJson(), "{}");
    Files.writeString(files.page(), "page");
    Files.writeString(files.run().resolve("simulation.log"), "log");
    info().write(files.info());
    return files;
  }

  private static RunInfo info() {
    return RunInfo.started("sim-1", "Sim", "host-2/2", 1)
        .ended(2, RunInfo.State.COMPLETE)
        .share(InjectorShare.parse("2/2"));
  }

  private static void upload(RunFiles files) throws IOException {
    S3Location place = S3Location.parse("s3://bench/t").of(info());
    place.uploadRecords(files);
    place.uploadReport(files);
  }

  @Test
  void recordsAreUploadedBeforeRunJsonAndTheReport() throws IOException {
    upload(run(100));
    List<String> sent = s3.requests("PUT t/sim-1-host-2-2/");
    assertThat(sent).hasSize(5);
    assertThat(sent.subList(0, 2))
        .containsExactlyInAnyOrder("llm/requests.jsonl", "llm/arrivals.jsonl");
    assertThat(sent.get(2)).isEqualTo("llm/run.json");
    assertThat(sent.subList(3, 5)).containsExactlyInAnyOrder("llm.html", "llm/summary.json");
  }

  @Test
  void failedUploadIsReportedAndNothingIsDeleted() throws IOException {
    RunFiles files = run(100);
    s3.refusal = "403 AccessDenied";
    s3.refused = request -> request.endsWith("requests.jsonl");
    assertThatThrownBy(() -> upload(files))
        .hasMessageMatching(
            "s3://bench/t/sim-1-host-2-2/llm/requests.jsonl at http://127.0.0.1:\\d+: 403"
                + " AccessDenied; its credentials need to be allowed s3:PutObject");
    assertThat(s3.objects).doesNotContainKey("t/sim-1-host-2-2/llm/run.json");
    assertThat(files.requests()).hasSize(100);
  }

  @Test
  void fileAboveTheLimitOfARequestIsReported() throws IOException {
    RunFiles files = run(100);
    try (RandomAccessFile sparse = new RandomAccessFile(files.requests().toFile(), "rw")) {
      sparse.setLength((5L << 30) + 1);
    }

    assertThatThrownBy(() -> upload(files))
        .hasMessageMatching(
            "s3://bench/t/sim-1-host-2-2/llm/requests.jsonl at http://127.0.0.1:\\d+: its"
                + " 5368709121 bytes are more than the 5 GiB that S3 takes in one request; upload"
                + " it with aws s3 cp");
    assertThat(s3.objects).doesNotContainKey("t/sim-1-host-2-2/llm/run.json");
  }

  @Test
  void writePermissionSuffices() throws IOException {
    s3.refusal = "403 AccessDenied";
    s3.refused = request -> request.startsWith("GET");
    S3Location.parse("s3://bench/t").check();
    upload(run(100));
    assertThat(s3.objects).hasSize(5);
  }

  @Test
  void missingSdkIsReportedInOneLine() throws Exception {
    try (URLClassLoader alone = JavaCommand.loaderWithout("awssdk")) {
      Class<?> location = alone.loadClass(S3Location.class.getName());
      var open = location.getDeclaredMethod("open");
      open.setAccessible(true);
      Object place = location.getMethod("parse", String.class).invoke(null, "s3://b1/x");

      assertThatThrownBy(() -> open.invoke(place))
          .cause()
          .hasMessage(
              "s3://b1/x needs the AWS SDK: add software.amazon.awssdk:s3 and"
                  + " url-connection-client (2.x), without netty-nio-client, to the dependencies");
    }
  }

  /** The number of injectors after a wait in which this is done between two looks at the runs. */
  private Integer await(String place, int seconds, Integer expected, Callable<?> between)
      throws IOException {
    AtomicLong slept = new AtomicLong();
    RunInputs inputs = new RunInputs(List.of(place), null, messages::add);
    return inputs.await(
        Duration.ofSeconds(seconds),
        expected,
        () -> TimeUnit.SECONDS.toNanos(slept.get()),
        count -> {
          slept.addAndGet(count);
          assertThatCode(between::call).doesNotThrowAnyException();
        });
  }

  private byte[] infoOf(String share) throws IOException {
    Path file = folder.resolve("info.json");
    info().share(InjectorShare.parse(share)).write(file);
    return Files.readAllBytes(file);
  }

  @Test
  void mergeWaitsForAllShares() throws IOException {
    s3.objects.put("t/a/llm/run.json", infoOf("1/3"));
    List<String> next = new ArrayList<>(List.of("3/3", "3/3", "2/3"));

    assertThat(
            await(
                "s3://bench/t",
                600,
                null,
                () -> s3.objects.put("t/" + next.size() + "/llm/run.json", infoOf(next.remove(0)))))
        .isEqualTo(3);
    assertThat(messages)
        .containsExactly(
            "waiting: 1 of 3 runs are there, not 2/3, 3/3",
            "waiting: 2 of 3 runs are there, not 2/3",
            "waiting: 3 of 3 runs are there, not 2/3",
            "4 of 3 runs are there");
    assertThat(s3.requests("GET t/a/")).as("each run is read once").hasSize(1);
  }

  @Test
  void mergeDoesNotWaitForInjectorsThatEndedWithoutARun() throws IOException {
    s3.objects.put("t/a/llm/run.json", infoOf("1/3"));
    List<String> next = new ArrayList<>(List.of("2/3", "3/3"));
    Callable<?> end =
        () -> {
          InjectorEnd ended = new InjectorEnd(InjectorShare.parse(next.remove(0)), 137);
          return s3.objects.put(
              "t/" + ended.folder() + "/" + InjectorEnd.FILE,
              Files.readAllBytes(ended.write(folder)));
        };

    assertThat(await("s3://bench/t", 600, null, end)).isEqualTo(3);
    assertThat(messages)
        .last()
        .isEqualTo(
            "1 of 3 runs are there, not 2/3 (ended with exit code 137), 3/3 (ended with exit code"
                + " 137)");
  }

  @Test
  void mergeDoesNotWaitForARunThatWritesNoMore() throws IOException {
    RunFiles files = run(10);
    RunInfo.started("sim-1", "Sim", "h", 1).share(new InjectorShare(1, 2)).write(files.info());
    new InjectorEnd(new InjectorShare(2, 2), 1).write(folder);
    AtomicInteger lines = new AtomicInteger(3);
    Callable<?> grow =
        () ->
            lines.getAndDecrement() > 0
                ? Files.writeString(files.generator(), "{}\n", CREATE, APPEND)
                : null;

    assertThat(await(folder.toString(), 600, null, grow)).isEqualTo(2);
    assertThat(lines).hasNegativeValue();
    assertThat(messages)
        .last()
        .isEqualTo(
            "0 of 2 runs are there, not 1/2 (silent for 2 min), 2/2 (ended with exit code 1)");
  }

  /** A wait of 5 s for a run that writes for 20 s more, and then for nothing. */
  @Test
  void mergeWaitsLongerForARunThatIsWritten() throws IOException {
    RunFiles files = run(10);
    RunInfo.started("sim-1", "Sim", "h", 1).share(new InjectorShare(1, 2)).write(files.info());
    AtomicInteger looks = new AtomicInteger();
    Callable<?> grow = () -> Files.writeString(files.generator(), "{}\n", CREATE, APPEND);
    Callable<?> some = () -> looks.incrementAndGet() < 5 ? grow.call() : null;
    assertThat(await(folder.toString(), 5, 2, some)).isEqualTo(2);
    assertThat(looks).hasValue(5);
  }

  @Test
  void injectorsThatAllEndedWithoutARunAreAnError() throws IOException {
    new InjectorEnd(new InjectorShare(1, 1), 1).write(folder);
    assertThatThrownBy(() -> await(folder.toString(), 3_600, 1, () -> null))
        .hasMessage("no injector wrote a run; read the output of each");
  }

  @Test
  void damagedRunIsNamedByItsPlace() {
    s3.objects.put("t/a/llm/run.json", "{".getBytes(UTF_8));
    assertThatThrownBy(() -> await("s3://bench/t", 1, 1, () -> null))
        .hasMessageStartingWith("s3://bench/t/a/llm/run.json is not understood");
  }

  @Test
  void waitEndsWithTheRunsThatAreThere() throws IOException {
    RunFiles files = run(10);
    String place = folder.toString();
    assertThat(await(place, 12, null, () -> null)).isEqualTo(2);
    assertThat(messages)
        .containsExactly(
            "waiting: 1 of 2 runs are there, not 1/2",
            "the time to wait is over: 1 of 2 runs are there, not 1/2");
    info().share(null).write(files.info());
    assertThatThrownBy(() -> await(place, 1, null, () -> null))
        .hasMessage("the runs do not contain the number of injectors; set it with --expect <n>");
    assertThat(await(place, 1, 1, () -> null)).isEqualTo(1);
    RunInfo.started("sim-1", "Sim", "h", 1).write(files.info());
    assertThat(await(place, 1, 1, () -> null)).as("it still runs").isEqualTo(1);
    assertThat(messages).last().isEqualTo("the time to wait is over: 0 of 1 runs are there");
  }
}
