package io.github.gatlingllm.storage;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.BufferedOutputStream;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.zip.CRC32;
import java.util.zip.GZIPInputStream;
import java.util.zip.GZIPOutputStream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Archives as tools write them, and as somebody writes them who means ill. */
class ArchiveTest {

  private static final String LONG = "a-folder-with-a-long-name/".repeat(12);

  @TempDir private Path folder;

  private static Map<String, String> runs(String... names) {
    Map<String, String> files = new LinkedHashMap<>();
    for (String name : names) {
      files.put(name + "llm/requests.jsonl", "records of " + name);
      files.put(name + "llm/run.json", "{}");
      files.put(name + "llm.html", "page");
      files.put(name + "simulation.log", "log");
    }
    return files;
  }

  private Path write(String name, Map<String, String> files) throws IOException {
    Path archive = folder.resolve(name);
    return name.endsWith(".zip") ? zip(archive, files) : tar(archive, files, 'x');
  }

  private static Path zip(Path archive, Map<String, String> files) throws IOException {
    try (ZipOutputStream zip = new ZipOutputStream(Files.newOutputStream(archive))) {
      for (Map.Entry<String, String> file : files.entrySet()) {
        zip.putNextEntry(new ZipEntry(file.getKey()));
        zip.write(file.getValue().getBytes(UTF_8));
      }
    }
    return archive;
  }

  /** With long names as pax has them ({@code x}), or GNU ({@code L}). */
  private static Path tar(Path archive, Map<String, String> files, char longNames)
      throws IOException {
    try (OutputStream tar = new GZIPOutputStream(Files.newOutputStream(archive))) {
      for (Map.Entry<String, String> file : files.entrySet()) {
        String name = file.getKey();
        if (name.length() > 100) {
          String line = " path=" + name + "\n";
          int length = line.length() + 3;
          put(tar, "about", longNames, longNames == 'x' ? length + line : name + "\0");
          name = name.substring(0, 100);
        }
        put(tar, name, '0', file.getValue());
      }
      tar.write(new byte[1_024]);
    }
    return archive;
  }

  private static void put(OutputStream tar, String name, char type, String content)
      throws IOException {
    byte[] bytes = content.getBytes(UTF_8);
    tar.write(header(name, type, bytes.length));
    tar.write(Arrays.copyOf(bytes, (bytes.length + 511) / 512 * 512));
  }

  private static byte[] header(String name, char type, long size) {
    byte[] header = new byte[512];
    put(header, 0, name);
    put(header, 100, "0000644\0");
    put(header, 124, "%011o\0".formatted(size));
    put(header, 148, "        ");
    put(header, 156, Character.toString(type));
    put(header, 157, type == '1' || type == '2' ? "/etc/passwd" : "");
    put(header, 257, "ustar\00000");
    int sum = 0;
    for (byte each : header) {
      sum += each & 0xff;
    }
    put(header, 148, "%06o\0 ".formatted(sum));
    return header;
  }

  private static void put(byte[] header, int at, String text) {
    byte[] bytes = text.getBytes(UTF_8);
    System.arraycopy(bytes, 0, header, at, bytes.length);
  }

  private RunInputs open(Path archive) throws IOException {
    return RunInputs.open(List.of(archive.toString()), folder.resolve("cache"), line -> {});
  }

  private List<Path> left() throws IOException {
    Path cache = folder.resolve("cache");
    if (!Files.exists(cache)) {
      return List.of();
    }
    try (var all = Files.list(cache)) {
      return all.toList();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"runs.tar.gz", "runs.TGZ", "runs.zip"})
  void runsAreFoundAtAnyDepth(String name) throws IOException {
    Path archive = write(name, runs("b/", "results/a/", "./c/d/e/", LONG));

    try (RunInputs inputs = open(archive)) {
      assertThat(inputs.runs())
          .extracting(run -> Files.readString(run.resolve("llm/requests.jsonl")))
          .containsExactlyInAnyOrder(
              "records of b/",
              "records of results/a/",
              "records of ./c/d/e/",
              "records of " + LONG);
      assertThat(inputs.runs().get(1).resolve("llm/run.json")).exists();
      assertThat(inputs.runs().get(1).resolve("llm.html")).doesNotExist();
      assertThat(inputs.runs()).allMatch(inputs::isCopy);
    }
    assertThat(left()).isEmpty();
  }

  @Test
  void runAtTheTopIsNamedAfterTheArchive() throws IOException {
    try (RunInputs inputs = open(write("injector-2.tar.gz", runs("")))) {
      assertThat(inputs.one().getFileName()).hasToString("injector-2");
    }
  }

  @Test
  void longNamesOfGnuTarAreRead() throws IOException {
    try (RunInputs inputs = open(tar(folder.resolve("x.tgz"), runs(LONG), 'L'))) {
      assertThat(inputs.one().toString()).endsWith(LONG.substring(0, LONG.length() - 1));
    }
  }

  @Test
  void linksAreSkipped() throws IOException {
    Path archive = folder.resolve("links.tar.gz");
    try (OutputStream tar = new GZIPOutputStream(Files.newOutputStream(archive))) {
      put(tar, "run/llm/requests.jsonl", '1', "");
      put(tar, "run/llm/requests.jsonl", '2', "");
      tar.write(new byte[1_024]);
    }

    assertThatThrownBy(() -> open(archive))
        .hasMessage(
            archive + " holds no run: neither llm/requests.jsonl nor llm/run.json is in it");
    assertThat(left()).isEmpty();
  }

  @ParameterizedTest
  @CsvSource({
    "../../llm/requests.jsonl, leads out of it",
    "run/../../llm/run.json, leads out of it",
    "..\\..\\llm\\run.json, leads out of it",
    "/tmp/llm/requests.jsonl, is no name of a file in a folder",
    "C:/x/llm/requests.jsonl, is no name of a file in a folder",
    "x/../y.txt, leads out of it",
  })
  void namesThatLeadOutOfTheFolderAreRefused(String name, String why) throws IOException {
    for (String form : List.of("x.zip", "x.tar.gz")) {
      Path archive = write(form, Map.of(name, "x"));

      assertThatThrownBy(() -> open(archive))
          .hasMessage(archive + " cannot be unpacked: '" + name + "' " + why);
    }
    assertThat(left()).isEmpty();
  }

  @Test
  void sameFileTwiceIsRefused() throws IOException {
    Path archive = write("x.tgz", Map.of("a/llm/run.json", "1", "a/./llm/run.json", "2"));

    assertThatThrownBy(() -> open(archive)).hasMessageContaining("llm/run.json twice");
  }

  @ParameterizedTest
  @ValueSource(strings = {"bomb.zip", "bomb.tar.gz"})
  void compressionBombsAreRefused(String name) throws IOException {
    Path archive = folder.resolve(name);
    byte[] zeros = new byte[1 << 20];
    try (OutputStream out =
        name.endsWith(".zip")
            ? new ZipOutputStream(Files.newOutputStream(archive))
            : new GZIPOutputStream(Files.newOutputStream(archive))) {
      if (out instanceof ZipOutputStream zip) {
        zip.setLevel(1);
        zip.putNextEntry(new ZipEntry("a/llm/requests.jsonl"));
      } else {
        out.write(header("a/llm/requests.jsonl", '0', 65L << 20));
      }
      for (int i = 0; i < 65; i++) {
        out.write(zeros);
      }
    }

    assertThatThrownBy(() -> open(archive))
        .hasMessage(
            archive
                + " cannot be unpacked: it unpacks to more than 200 times its size and 64 MiB,"
                + " which is the bound");
    assertThat(left()).isEmpty();
  }

  @Test
  void tooManyFilesAreRefused() throws IOException {
    Path archive = folder.resolve("many.zip");
    try (ZipOutputStream zip =
        new ZipOutputStream(new BufferedOutputStream(Files.newOutputStream(archive)))) {
      for (int i = 0; i <= 100_000; i++) {
        ZipEntry empty = new ZipEntry(Integer.toString(i));
        empty.setMethod(ZipEntry.STORED);
        empty.setSize(0);
        empty.setCrc(new CRC32().getValue());
        zip.putNextEntry(empty);
      }
    }

    assertThatThrownBy(() -> open(archive))
        .hasMessageEndingWith("it holds more than 100000 files, which is the bound");
  }

  @ParameterizedTest
  @ValueSource(strings = {"cut.zip", "cut.tar.gz", "flipped.zip", "flipped.tar.gz", "text.zip"})
  void damagedArchivesAreReported(String name) throws IOException {
    String text = "0123456789abcdefghijklmnopqrstuvwxyz".repeat(200);
    Path archive = write(name, Map.of("run/llm/requests.jsonl", text + text.hashCode()));
    byte[] content = Files.readAllBytes(archive);
    if (name.startsWith("flipped")) {
      content[name.endsWith("zip") ? 60 : content.length - 6] ^= 1;
    }
    Files.write(
        archive,
        name.startsWith("cut")
            ? Arrays.copyOf(content, content.length / 2)
            : name.startsWith("text") ? "no archive".getBytes(UTF_8) : content);

    assertThatThrownBy(() -> open(archive))
        .isInstanceOf(IOException.class)
        .hasMessageStartingWith(archive + " cannot be unpacked: ")
        .message()
        .doesNotContain("null");
    assertThat(left()).isEmpty();
  }

  @Test
  void damagedTarIsReadOrReported() throws IOException {
    Path archive = tar(folder.resolve("x.tgz"), Map.of(LONG + "llm/run.json", "{}"), 'x');
    byte[] whole;
    try (InputStream in = new GZIPInputStream(Files.newInputStream(archive))) {
      whole = in.readAllBytes();
    }
    int damaged = 0;
    for (int at = 0; at < whole.length; at++) {
      byte[] content = whole.clone();
      content[at] ^= 0x55;
      try (TarReader tar = new TarReader(new ByteArrayInputStream(content))) {
        while (tar.next() != null) {
          var unused = tar.readAllBytes();
        }
      } catch (IOException e) {
        damaged++;
      }
    }
    assertThat(damaged).isGreaterThan(1_000);
  }
}
