package io.github.gatlingllm.storage;

import io.github.gatlingllm.record.RunFiles;
import io.github.gatlingllm.record.RunInfo;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A place in object storage, {@code s3://bucket/prefix}.
 *
 * @param prefix empty, or without a slash at its end
 */
public record S3Location(String bucket, String prefix) {

  private static final String SCHEME = "s3://";
  private static final Pattern FORM =
      Pattern.compile("s3://([A-Za-z0-9][A-Za-z0-9._-]{1,254})(?:/(?:([^/].*?)?/*)?)?");

  public static boolean isS3Url(String text) {
    return text.startsWith(SCHEME);
  }

  public static S3Location parse(String text) {
    Matcher parts = FORM.matcher(text);
    if (!parts.matches()) {
      throw new IllegalArgumentException(
          "'" + text + "' is not a location in object storage; expected s3://bucket/prefix");
    }
    return new S3Location(parts.group(1), parts.group(2) == null ? "" : parts.group(2));
  }

  String below() {
    return prefix.isEmpty() ? "" : prefix + "/";
  }

  public S3Location at(String name) {
    return new S3Location(bucket, below() + name);
  }

  /** The last segment of the prefix; the bucket if the prefix is empty. */
  public String name() {
    return prefix.isEmpty() ? bucket : prefix.substring(prefix.lastIndexOf('/') + 1);
  }

  /** Throws with a one-line message if the AWS SDK is not on the class path, or has no region. */
  ObjectStore open() throws IOException {
    try {
      return ObjectStore.open(this);
    } catch (NoClassDefFoundError missing) {
      throw new IOException(
          this
              + " needs the AWS SDK: add software.amazon.awssdk:s3 and url-connection-client"
              + " (2.x), without netty-nio-client, to the dependencies",
          missing);
    }
  }

  /** The recorded files of each run by their names, by the run's path below this place. */
  public SortedMap<String, Map<String, StoredObject>> runs() throws IOException {
    try (ObjectStore store = open()) {
      return store.runs();
    }
  }

  /** Downloads objects; files that are complete from an earlier attempt are kept. */
  public void download(Map<Path, StoredObject> objects) throws IOException {
    try (ObjectStore store = open()) {
      store.download(objects);
    }
  }

  public void upload(String name, Path file) throws IOException {
    try (ObjectStore store = open()) {
      store.upload(this, Map.of(name, file));
    }
  }

  @Override
  public String toString() {
    return SCHEME + bucket + (prefix.isEmpty() ? "" : "/" + prefix);
  }

  /** An object; the ETag changes with its content. */
  public record StoredObject(String key, long size, String etag, Instant modified) {}

  /**
   * Uploads the recorded files of a run and its report to object storage, to {@code
   * <prefix>/<run>-<injector>/}, without the injector for a merged run. {@code run.json} is
   * uploaded after the other records, so that its presence means that they are complete; the report
   * follows later. Gatling's own pages and its {@code simulation.log} are not uploaded.
   */
  public record RunUpload(S3Location place, RunFiles files) {

    /** Throws with a one-line message if uploads cannot work, as far as can be known. */
    public static void check(S3Location prefix) throws IOException {
      try (ObjectStore store = prefix.open()) {
        store.check();
      } catch (ObjectStore.Denied e) {
        // The credentials may permit writing only.
      }
    }

    public static RunUpload of(S3Location prefix, RunFiles files, RunInfo info) {
      boolean isMerged = info.injector().contains(",");
      String name =
          (isMerged ? info.id() : info.id() + "-" + info.injector())
              .replaceAll("[^A-Za-z0-9._-]+", "-");
      return new RunUpload(prefix.at(name), files);
    }

    public void records() throws IOException {
      List<Path> records = new ArrayList<>(files.records());
      records.remove(files.info());
      upload(records);
      upload(List.of(files.info()));
    }

    public void report() throws IOException {
      List<Path> report = new ArrayList<>(files.exported());
      report.add(files.page());
      report.add(files.summaryJson());
      report.add(files.summaryMarkdown());
      report.add(files.junit());
      report.add(files.csv());
      upload(report);
    }

    private void upload(List<Path> all) throws IOException {
      Map<String, Path> byName = new LinkedHashMap<>();
      for (Path file : all) {
        if (Files.isRegularFile(file)) {
          byName.put(files.run().relativize(file).toString().replace('\\', '/'), file);
        }
      }
      try (ObjectStore store = place.open()) {
        store.upload(place, byName);
      }
    }
  }
}
