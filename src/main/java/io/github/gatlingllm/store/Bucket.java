package io.github.gatlingllm.store;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.io.OutputStream;
import java.net.URI;
import java.net.UnknownHostException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.function.Supplier;
import software.amazon.awssdk.core.ResponseInputStream;
import software.amazon.awssdk.core.checksums.RequestChecksumCalculation;
import software.amazon.awssdk.core.checksums.ResponseChecksumValidation;
import software.amazon.awssdk.core.exception.SdkClientException;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.http.urlconnection.UrlConnectionHttpClient;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.regions.providers.AwsProfileRegionProvider;
import software.amazon.awssdk.regions.providers.AwsRegionProviderChain;
import software.amazon.awssdk.regions.providers.SystemSettingsRegionProvider;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.S3ClientBuilder;
import software.amazon.awssdk.services.s3.model.CompletedPart;
import software.amazon.awssdk.services.s3.model.GetObjectResponse;
import software.amazon.awssdk.services.s3.model.HeadObjectResponse;
import software.amazon.awssdk.services.s3.model.NoSuchKeyException;
import software.amazon.awssdk.services.s3.model.S3Exception;
import software.amazon.awssdk.services.s3.model.UploadPartResponse;

/**
 * A bucket of S3-compatible object storage, by the AWS SDK. The only class that knows the SDK,
 * which is an optional dependency. Credentials, region, endpoint and retries are as the SDK finds
 * them: environment, system properties, profiles, roles. With an endpoint of its own the bucket is
 * in the path, as other servers than Amazon's expect it. Thread-safe. What fails does so with a
 * line that names place and cause.
 */
final class Bucket implements AutoCloseable {

  private static final Duration CONNECTING = Duration.ofSeconds(5);
  private static final Duration SILENCE = Duration.ofSeconds(20);

  private static final int FORBIDDEN = 403;
  private static final int PRECONDITION_FAILED = 412;

  /** Servers that are not Amazon's take any. */
  private static final Region ANY_REGION = Region.US_EAST_1;

  private final String name;
  private final S3Client client;
  private final String at;

  /**
   * An object as it is listed.
   *
   * @param size in bytes
   * @param etag changes with its content; in quotes
   */
  record Stored(String key, long size, String etag) {}

  /** An object is not what it was when it was listed. */
  static final class Changed extends IOException {
    private static final long serialVersionUID = 1;

    Changed(String message, Throwable cause) {
      super(message, cause);
    }
  }

  /** The credentials are not allowed to do that. */
  static final class Denied extends IOException {
    private static final long serialVersionUID = 1;

    Denied(String message, Throwable cause) {
      super(message, cause);
    }
  }

  private Bucket(String name, S3Client client, String at) {
    this.name = name;
    this.client = client;
    this.at = at;
  }

  static Bucket open(String name) throws IOException {
    Optional<URI> endpoint;
    try (S3Client any = builder().region(ANY_REGION).build()) {
      endpoint = any.serviceClientConfiguration().endpointOverride();
    }
    try {
      return endpoint.isEmpty()
          ? new Bucket(name, builder().crossRegionAccessEnabled(true).build(), "")
          : new Bucket(name, elsewhere(), " at " + endpoint.get());
    } catch (SdkException e) {
      throw new IOException("s3://" + name + ": no region was found; set AWS_REGION", e);
    }
  }

  private static S3ClientBuilder builder() {
    return S3Client.builder()
        .httpClientBuilder(
            UrlConnectionHttpClient.builder().connectionTimeout(CONNECTING).socketTimeout(SILENCE));
  }

  /** Bodies in signed chunks, and checksums behind them, are not understood everywhere. */
  private static S3Client elsewhere() {
    Region region;
    try {
      region =
          new AwsRegionProviderChain(
                  new SystemSettingsRegionProvider(), new AwsProfileRegionProvider())
              .getRegion();
    } catch (SdkClientException none) {
      region = ANY_REGION;
    }
    return builder()
        .region(region)
        .forcePathStyle(true)
        .serviceConfiguration(s3 -> s3.chunkedEncodingEnabled(false))
        .requestChecksumCalculation(RequestChecksumCalculation.WHEN_REQUIRED)
        .responseChecksumValidation(ResponseChecksumValidation.WHEN_REQUIRED)
        .build();
  }

  /** All objects whose keys begin so. */
  List<Stored> list(String prefix) throws IOException {
    return named(
        "s3:ListBucket",
        prefix,
        () -> {
          List<Stored> all = new ArrayList<>();
          client
              .listObjectsV2Paginator(list -> list.bucket(name).prefix(prefix))
              .contents()
              .forEach(object -> all.add(new Stored(object.key(), object.size(), object.eTag())));
          return all;
        });
  }

  /** The object of exactly that key. */
  Optional<Stored> find(String key) throws IOException {
    return named(
        "s3:GetObject",
        key,
        () -> {
          try {
            HeadObjectResponse head = client.headObject(ask -> ask.bucket(name).key(key));
            return Optional.of(new Stored(key, head.contentLength(), head.eTag()));
          } catch (NoSuchKeyException e) {
            return Optional.empty();
          }
        });
  }

  /** Whether there is anything below a prefix; that it can be asked is what counts. */
  void reach(String prefix) throws IOException {
    var unused =
        named(
            "s3:ListBucket",
            prefix,
            () -> client.listObjectsV2(list -> list.bucket(name).prefix(prefix).maxKeys(1)));
  }

  /**
   * Adds to the end of the file what it lacks of the object, and may end early: where the
   * connection breaks, what came is in the file.
   *
   * @throws Changed where the object has been replaced or removed
   */
  void append(Stored object, Path file) throws IOException {
    long have = Files.exists(file) ? Files.size(file) : 0;
    try (ResponseInputStream<GetObjectResponse> content =
            named(
                "s3:GetObject",
                object.key(),
                () ->
                    client.getObject(
                        get ->
                            get.bucket(name)
                                .key(object.key())
                                .ifMatch(object.etag())
                                .range(have == 0 ? null : "bytes=" + have + "-")));
        OutputStream to =
            Files.newOutputStream(
                file,
                StandardOpenOption.CREATE,
                content.response().contentRange() == null
                    ? StandardOpenOption.TRUNCATE_EXISTING
                    : StandardOpenOption.APPEND)) {
      byte[] buffer = new byte[1 << 16];
      for (int count = read(content, buffer); count > 0; count = read(content, buffer)) {
        to.write(buffer, 0, count);
      }
      content.abort();
    }
  }

  private static int read(InputStream content, byte[] buffer) {
    try {
      return content.read(buffer);
    } catch (IOException | SdkException broken) {
      return -1;
    }
  }

  /** Makes an object in one request. */
  void put(byte[] content, String key) throws IOException {
    named(
        "s3:PutObject",
        key,
        () -> client.putObject(put -> put.bucket(name).key(key), body(content)));
  }

  private static RequestBody body(byte[] content) {
    return RequestBody.fromContentProvider(
        () -> new ByteArrayInputStream(content), content.length, "application/octet-stream");
  }

  /**
   * Makes an object of parts, several of which are on their way at once. It is there with the last
   * part, or not at all.
   *
   * @param count of parts, at most 10,000
   * @param part the content of a part, by its number from 0
   */
  void put(String key, int count, PartReader part, ExecutorService threads) throws IOException {
    String action = "s3:PutObject";
    String id =
        named(action, key, () -> client.createMultipartUpload(to -> to.bucket(name).key(key)))
            .uploadId();
    List<Future<CompletedPart>> sent = new ArrayList<>();
    boolean isWhole = false;
    try {
      for (int i = 0; i < count; i++) {
        int number = i + 1;
        sent.add(
            threads.submit(
                () -> {
                  RequestBody body = body(part.read(number - 1));
                  UploadPartResponse done =
                      client.uploadPart(
                          to -> to.bucket(name).key(key).uploadId(id).partNumber(number), body);
                  return CompletedPart.builder().partNumber(number).eTag(done.eTag()).build();
                }));
      }
      List<CompletedPart> parts = new ArrayList<>();
      for (Future<CompletedPart> each : sent) {
        parts.add(each.get());
      }
      named(
          action,
          key,
          () ->
              client.completeMultipartUpload(
                  to ->
                      to.bucket(name)
                          .key(key)
                          .uploadId(id)
                          .multipartUpload(all -> all.parts(parts))));
      isWhole = true;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new InterruptedIOException("the upload of " + key + " was interrupted");
    } catch (ExecutionException e) {
      throw failure(action, key, e.getCause());
    } finally {
      if (!isWhole) {
        sent.forEach(each -> each.cancel(true));
        forget(key, id);
      }
    }
  }

  /** Parts of an upload that will not end cost money as long as they lie there. */
  private void forget(String key, String id) {
    try {
      var unused = client.abortMultipartUpload(to -> to.bucket(name).key(key).uploadId(id));
    } catch (SdkException e) {
      // The failure that led here is what counts.
    }
  }

  /** Reads a part of what is uploaded. */
  interface PartReader {
    byte[] read(int number) throws IOException;
  }

  private <T> T named(String action, String key, Supplier<T> call) throws IOException {
    try {
      return call.get();
    } catch (SdkException e) {
      throw failure(action, key, e);
    }
  }

  private IOException failure(String action, String key, Throwable failure) {
    String place = new S3Location(name, key) + at + ": ";
    if (failure instanceof S3Exception said) {
      String code = said.awsErrorDetails() == null ? "" : said.awsErrorDetails().errorCode();
      if ("NoSuchBucket".equals(code)) {
        return new IOException("there is no bucket " + name + at, said);
      }
      if (said.statusCode() == PRECONDITION_FAILED || said instanceof NoSuchKeyException) {
        return new Changed(place + "it was replaced or removed meanwhile", said);
      }
      String status = place + said.statusCode() + (code == null ? "" : " " + code);
      return said.statusCode() == FORBIDDEN
          ? new Denied(status + "; its credentials need to be allowed " + action, said)
          : new IOException(status, said);
    }
    Throwable cause = failure;
    while (cause.getCause() != null) {
      cause = cause.getCause();
    }
    String message = String.valueOf(cause.getMessage());
    return new IOException(
        place
            + (message.contains("credentials")
                ? "no credentials were found; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, a"
                    + " profile or a role"
                : cause instanceof UnknownHostException ? "unknown host " + message : message),
        failure);
  }

  /** Where it is; empty for Amazon's own servers. */
  String at() {
    return at;
  }

  @Override
  public void close() {
    client.close();
  }
}
