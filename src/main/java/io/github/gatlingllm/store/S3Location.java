package io.github.gatlingllm.store;

import io.github.gatlingllm.setting.ProcessSetting;
import java.io.IOException;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A place in object storage, written {@code s3://bucket/prefix}.
 *
 * @param bucket its name
 * @param prefix what keys begin with: empty, or without a slash at its end
 */
public record S3Location(String bucket, String prefix) {

  /**
   * System property that names where runs are uploaded to; {@code LLM_UPLOAD} in the environment.
   */
  public static final String UPLOAD_PROPERTY = "llm.upload";

  private static final String SCHEME = "s3://";
  private static final Pattern FORM =
      Pattern.compile("s3://([A-Za-z0-9][A-Za-z0-9._-]{1,254})(?:/(?:([^/].*?)?/*)?)?");

  /** Whether a text names such a place. */
  public static boolean isMeant(String text) {
    return text.startsWith(SCHEME);
  }

  /**
   * Reads {@code s3://bucket}, {@code s3://bucket/prefix} or the same with a slash at its end.
   *
   * @throws IllegalArgumentException for anything else, in one line
   */
  public static S3Location parse(String text) {
    Matcher parts = FORM.matcher(text);
    if (!parts.matches()) {
      throw new IllegalArgumentException(
          "'" + text + "' is no place in object storage; expected s3://bucket/prefix");
    }
    return new S3Location(parts.group(1), parts.group(2) == null ? "" : parts.group(2));
  }

  /**
   * Where this process uploads its run to; null for nowhere.
   *
   * @throws IllegalArgumentException for what is no such place, in one line
   */
  public static @Nullable S3Location ofProcess(
      Map<?, ?> properties, Map<String, String> environment) {
    String text = new ProcessSetting(UPLOAD_PROPERTY).text(properties, environment);
    try {
      return text == null ? null : parse(text);
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(UPLOAD_PROPERTY + ": " + e.getMessage(), e);
    }
  }

  /** What the keys of all that lies in this place begin with. */
  String below() {
    return prefix.isEmpty() ? "" : prefix + "/";
  }

  /** A place in this one. */
  S3Location at(String name) {
    return new S3Location(bucket, below() + name);
  }

  /** The last part of the prefix, else the bucket. */
  String name() {
    return prefix.isEmpty() ? bucket : prefix.substring(prefix.lastIndexOf('/') + 1);
  }

  /**
   * Opens it.
   *
   * @throws IOException in one line, where the AWS SDK is not on the class path, or finds no region
   */
  Bucket open() throws IOException {
    try {
      return Bucket.open(bucket);
    } catch (NoClassDefFoundError missing) {
      throw new IOException(
          this
              + " needs the AWS SDK: add software.amazon.awssdk:s3 and"
              + " software.amazon.awssdk:url-connection-client (2.x, in one version) to the class"
              + " path",
          missing);
    }
  }

  @Override
  public String toString() {
    return SCHEME + bucket + (prefix.isEmpty() ? "" : "/" + prefix);
  }
}
