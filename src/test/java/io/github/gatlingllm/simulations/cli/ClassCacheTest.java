package io.github.gatlingllm.simulations.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** With a jar whose runs do nothing but end. */
class ClassCacheTest {

  @TempDir Path dir;
  private Path kept;

  @BeforeEach
  void keepsInAFolderOfTheTest() {
    kept = dir.resolve("kept");
    System.setProperty(ClassCache.FOLDER, kept.toString());
  }

  @AfterEach
  void forget() {
    System.clearProperty(ClassCache.FOLDER);
  }

  @Test
  void isMadeOnceAndUsed() throws Exception {
    Path jar = jar("");
    assertThat(ClassCache.of(jar.toString()).use()).isEmpty();
    ClassCache.of(jar.toString()).makeIfMissing();

    List<Path> files = files();
    assertThat(files).hasSize(1);
    assertThat(files.get(0)).isNotEmptyFile();
    FileTime made = Files.getLastModifiedTime(files.get(0));
    String withSimulations = jar + File.pathSeparator + "more.jar";
    assertThat(ClassCache.of(withSimulations).use())
        .anyMatch(option -> option.endsWith("=" + files.get(0)));
    ClassCache.of(jar.toString()).makeIfMissing();
    assertThat(files()).isEqualTo(files);
    assertThat(Files.getLastModifiedTime(files.get(0))).isEqualTo(made);
  }

  @Test
  void aChangedJarGetsAnotherInItsPlace() throws Exception {
    Path jar = jar("");
    Path other = Files.createDirectories(kept).resolve("of-another-jar.jsa");
    Files.createFile(other);
    ClassCache.of(jar.toString()).makeIfMissing();
    List<Path> before = files();
    Files.setLastModifiedTime(jar, FileTime.fromMillis(1_000_000));
    assertThat(ClassCache.of(jar.toString()).use()).isEmpty();
    ClassCache.of(jar.toString()).makeIfMissing();

    assertThat(files()).hasSize(2).contains(other).isNotEqualTo(before);
  }

  @Test
  void anotherJvmHasItsOwn() throws IOException {
    Path jar = jar("");
    ClassCache here = ClassCache.of(jar.toString());
    String home = System.getProperty("java.home");
    try {
      System.setProperty("java.home", dir.toString());
      assertThat(ClassCache.of(jar.toString()).file()).isNotEqualTo(here.file());
    } finally {
      System.setProperty("java.home", home);
    }
  }

  @Test
  void twoFirstRunsAtTheSameTimeLeaveOne() throws Exception {
    ClassCache cache = ClassCache.of(jar("").toString());
    CountDownLatch both = new CountDownLatch(2);
    ExecutorService threads = Executors.newFixedThreadPool(2);
    try {
      List<Future<Object>> made =
          Stream.generate(
                  () ->
                      threads.submit(
                          () -> {
                            both.countDown();
                            both.await();
                            cache.makeIfMissing();
                            return (Object) cache.use();
                          }))
              .limit(2)
              .toList();
      for (Future<Object> each : made) {
        var unused = each.get();
      }
    } finally {
      threads.shutdownNow();
    }
    assertThat(files()).containsExactly(Objects.requireNonNull(cache.file()));
    assertThat(cache.use()).isNotEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {"System.exit(1);", "Runtime.getRuntime().halt(3);"})
  void aShortRunThatFailsIsNotTriedAgain(String body) throws Exception {
    ClassCache cache = ClassCache.of(jar(body).toString());
    cache.makeIfMissing();
    assertThat(cache.use()).isEmpty();
    Path mark = Objects.requireNonNull(cache.file());
    assertThat(mark).isEmptyFile();
    FileTime made = Files.getLastModifiedTime(mark);
    cache.makeIfMissing();
    assertThat(files()).containsExactly(mark);
    assertThat(Files.getLastModifiedTime(mark)).isEqualTo(made);
  }

  /** As layers of images keep the times of files. */
  @Test
  void aCopyOfTheJarByTheSecondHasTheSame() throws Exception {
    Path jar = jar("");
    Files.setLastModifiedTime(jar, FileTime.fromMillis(1_000_700));
    Path file = ClassCache.of(jar.toString()).file();
    Files.setLastModifiedTime(jar, FileTime.fromMillis(1_000_000));
    assertThat(ClassCache.of(jar.toString()).file()).isEqualTo(file);
  }

  /** Also for a super-user, whom permissions do not keep from writing. */
  @Test
  void aFolderThatCannotBeMadeIsNoFailure() throws Exception {
    Files.createFile(kept);
    ClassCache cache = ClassCache.of(jar("").toString());
    cache.makeIfMissing();
    assertThat(cache.use()).isEmpty();
  }

  @Test
  void foldersOfClassesHaveNone() throws Exception {
    ClassCache cache = ClassCache.of(dir.toString());
    cache.makeIfMissing();
    assertThat(cache.use()).isEmpty();
    assertThat(kept).doesNotExist();
  }

  private List<Path> files() throws IOException {
    try (Stream<Path> all = Files.list(kept)) {
      return all.sorted().toList();
    }
  }

  private Path jar(String body) throws IOException {
    String name = "io/github/gatlingllm/simulations/Benchmark";
    Path source = dir.resolve("Benchmark.java");
    Files.writeString(
        source,
        "package io.github.gatlingllm.simulations; class Benchmark {"
            + " public static void main(String[] a) { %s } }".formatted(body));
    assertThat(
            ToolProvider.getSystemJavaCompiler()
                .run(null, null, null, "-d", dir.toString(), "-proc:none", source.toString()))
        .isZero();
    Path jar = dir.resolve("load.jar");
    try (OutputStream out = Files.newOutputStream(jar);
        ZipOutputStream zip = new ZipOutputStream(out)) {
      zip.putNextEntry(new ZipEntry(name + ".class"));
      zip.write(Files.readAllBytes(dir.resolve(name + ".class")));
    }
    return jar;
  }
}
