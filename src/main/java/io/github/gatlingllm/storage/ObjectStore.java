package io.github.gatlingllm.storage;

import io.github.gatlingllm.record.RunFiles;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.URI;
import java.net.UnknownHostException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import software.amazon.awssdk.core.checksums.RequestChecksumCalculation;
import software.amazon.awssdk.core.checksums.ResponseChecksumValidation;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.http.nio.netty.NettyNioAsyncHttpClient;
import software.amazon.awssdk.http.nio.netty.SdkEventLoopGroup;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.regions.providers.AwsProfileRegionProvider;
import software.amazon.awssdk.regions.providers.AwsRegionProviderChain;
import software.amazon.awssdk.regions.providers.SystemSettingsRegionProvider;
import software.amazon.awssdk.services.s3.S3AsyncClient;
import software.amazon.awssdk.services.s3.S3AsyncClientBuilder;
import software.amazon.awssdk.services.s3.model.NoSuchKeyException;
import software.amazon.awssdk.services.s3.model.S3Exception;
import software.amazon.awssdk.services.s3.model.S3Object;
import software.amazon.awssdk.transfer.s3.S3TransferManager;

/**
 * Runs below an {@code s3://bucket/prefix}, transferred by the AWS SDK's transfer manager. This is
 * the only class that uses the SDK, an optional dependency, which finds credentials, region,
 * endpoint and retry policy in the environment, system properties, profiles and roles. With a
 * custom endpoint the bucket is a part of the path, as servers other than Amazon's expect.
 * Thread-safe. Every {@link IOException} has a one-line message with place and cause.
 */
final class ObjectStore implements AutoCloseable {

  private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(5);
  private static final Duration READ_TIMEOUT = Duration.ofSeconds(20);

  /**
   * Shared by all clients, because the SDK's own need seconds to close. The SDK knows only this
   * deprecated class.
   */
  @SuppressWarnings("deprecation")
  private static final SdkEventLoopGroup EVENT_LOOPS =
      SdkEventLoopGroup.create(
          new NioEventLoopGroup(2, new DefaultThreadFactory("llm-s3", true)),
          NioSocketChannel::new);

  private static final int FORBIDDEN = 403;
  private static final int PRECONDITION_FAILED = 412;

  /** Servers other than Amazon's accept any region. */
  private static final Region ANY_REGION = Region.US_EAST_1;

  /** The folder of a run, and the file in it. */
  private static final Pattern RECORD =
      Pattern.compile(
          "(?:(.+)/)?("
              + RunInputs.records(new RunFiles(Path.of(""))).stream()
                  .map(file -> Pattern.quote(file.toString().replace('\\', '/')))
                  .collect(Collectors.joining("|"))
              + ")");

  /** At most 32 folders, none of which leads out. */
  private static final Pattern SAFE =
      Pattern.compile("(?:(?!\\.{1,2}/)[^/\\\\:\\x00]+/){0,32}[^/]+");

  private final S3Location place;
  private final S3AsyncClient client;
  private final S3TransferManager transfers;
  private final String endpoint;

  /** The credentials do not permit the operation. */
  static final class Denied extends IOException {
    private static final long serialVersionUID = 1;

    Denied(String message, Throwable cause) {
      super(message, cause);
    }
  }

  /** An object; the ETag changes with its content. */
  record StoredObject(String key, long size, String etag, Instant modified) {}

  private ObjectStore(S3Location place, S3AsyncClient client, String endpoint) {
    this.place = place;
    this.client = client;
    this.endpoint = endpoint;
    transfers = S3TransferManager.builder().s3Client(client).build();
  }

  static ObjectStore open(S3Location place) throws IOException {
    Optional<URI> endpoint;
    try (S3AsyncClient any = builder().region(ANY_REGION).build()) {
      endpoint = any.serviceClientConfiguration().endpointOverride();
    }
    try {
      return endpoint.isEmpty()
          ? new ObjectStore(place, builder().crossRegionAccessEnabled(true).build(), "")
          : new ObjectStore(place, clientOfCustomEndpoint(), " at " + endpoint.get());
    } catch (SdkException e) {
      throw new IOException("s3://" + place.bucket() + ": no region was found; set AWS_REGION", e);
    }
  }

  private static S3AsyncClientBuilder builder() {
    return S3AsyncClient.builder()
        .multipartEnabled(true)
        .httpClientBuilder(
            NettyNioAsyncHttpClient.builder()
                .eventLoopGroup(EVENT_LOOPS)
                .connectionTimeout(CONNECT_TIMEOUT)
                .connectionAcquisitionTimeout(CONNECT_TIMEOUT)
                .readTimeout(READ_TIMEOUT));
  }

  /** A client without signed chunks and trailing checksums, which not all servers support. */
  private static S3AsyncClient clientOfCustomEndpoint() {
    Region region;
    try {
      region =
          new AwsRegionProviderChain(
                  new SystemSettingsRegionProvider(), new AwsProfileRegionProvider())
              .getRegion();
    } catch (SdkException none) {
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

  /** Lists at most one object, to check that bucket and credentials work. */
  void check() throws IOException {
    join(
        "s3:ListBucket",
        place,
        client.listObjectsV2(list -> list.bucket(place.bucket()).prefix(place.below()).maxKeys(1)));
  }

  /** The recorded files of each run by their names, by the run's path below the place. */
  SortedMap<String, Map<String, StoredObject>> runs() throws IOException {
    SortedMap<String, Map<String, StoredObject>> runs = new TreeMap<>();
    join(
        "s3:ListBucket",
        place,
        client
            .listObjectsV2Paginator(list -> list.bucket(place.bucket()).prefix(place.below()))
            .contents()
            .subscribe(object -> addTo(runs, object)));
    return runs;
  }

  /** Skips all objects but records, and keys that lead out of the place. */
  private void addTo(SortedMap<String, Map<String, StoredObject>> runs, S3Object object) {
    String path = object.key().substring(place.below().length());
    Matcher parts = RECORD.matcher(path);
    if (parts.matches() && SAFE.matcher(path).matches()) {
      String run = parts.group(1) == null ? "" : parts.group(1);
      runs.computeIfAbsent(run, r -> new TreeMap<>())
          .put(
              parts.group(2),
              new StoredObject(object.key(), object.size(), object.eTag(), object.lastModified()));
    }
  }

  /** Downloads objects concurrently; files that are complete from an earlier attempt are kept. */
  void download(Map<Path, StoredObject> objects) throws IOException {
    Map<Path, CompletableFuture<?>> downloads = new LinkedHashMap<>();
    for (Map.Entry<Path, StoredObject> each : objects.entrySet()) {
      Path file = each.getKey();
      StoredObject object = each.getValue();
      if (!isCurrent(file, object)) {
        Files.createDirectories(file.getParent());
        downloads.put(
            file,
            transfers
                .downloadFile(
                    to ->
                        to.destination(part(file))
                            .getObjectRequest(
                                get ->
                                    get.bucket(place.bucket())
                                        .key(object.key())
                                        .ifMatch(object.etag())))
                .completionFuture());
      }
    }
    try {
      for (Map.Entry<Path, CompletableFuture<?>> each : downloads.entrySet()) {
        StoredObject object = objects.get(each.getKey());
        join("s3:GetObject", new S3Location(place.bucket(), object.key()), each.getValue());
        Files.move(part(each.getKey()), each.getKey(), StandardCopyOption.REPLACE_EXISTING);
      }
    } finally {
      downloads.values().forEach(each -> each.cancel(true));
    }
  }

  private static boolean isCurrent(Path file, StoredObject object) throws IOException {
    return Files.isRegularFile(file)
        && Files.size(file) == object.size()
        && !Files.getLastModifiedTime(file).toInstant().isBefore(object.modified());
  }

  private static Path part(Path file) {
    return file.resolveSibling(file.getFileName() + ".part");
  }

  /** Uploads files concurrently, large ones in parts, to the prefix followed by the name. */
  void upload(S3Location prefix, Map<String, Path> files) throws IOException {
    Map<S3Location, CompletableFuture<?>> uploads = new LinkedHashMap<>();
    files.forEach(
        (name, file) -> {
          S3Location to = prefix.at(name);
          uploads.put(
              to,
              transfers
                  .uploadFile(
                      from ->
                          from.source(file)
                              .putObjectRequest(put -> put.bucket(to.bucket()).key(to.prefix())))
                  .completionFuture());
        });
    try {
      for (Map.Entry<S3Location, CompletableFuture<?>> each : uploads.entrySet()) {
        join("s3:PutObject", each.getKey(), each.getValue());
      }
    } finally {
      uploads.values().forEach(each -> each.cancel(true));
    }
  }

  private void join(String action, S3Location at, CompletableFuture<?> call) throws IOException {
    try {
      call.get();
    } catch (ExecutionException e) {
      throw failure(action, at, e.getCause());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new InterruptedIOException("the transfer of " + at + " was interrupted");
    }
  }

  private IOException failure(String action, S3Location location, Throwable failure) {
    Throwable cause = failure;
    while (cause.getCause() != null && !(cause instanceof S3Exception)) {
      cause = cause.getCause();
    }
    String at = location + endpoint + ": ";
    if (cause instanceof S3Exception answer) {
      String code = answer.awsErrorDetails() == null ? "" : answer.awsErrorDetails().errorCode();
      if ("NoSuchBucket".equals(code)) {
        return new IOException("there is no bucket " + place.bucket() + endpoint, answer);
      }
      if (answer.statusCode() == PRECONDITION_FAILED || answer instanceof NoSuchKeyException) {
        return new IOException(at + "it was replaced or removed meanwhile; try again", answer);
      }
      String status = at + answer.statusCode() + (code == null ? "" : " " + code);
      return answer.statusCode() == FORBIDDEN
          ? new Denied(status + "; its credentials need to be allowed " + action, answer)
          : new IOException(status, answer);
    }
    String message = String.valueOf(cause.getMessage());
    return new IOException(
        at
            + (message.contains("credentials")
                ? "no credentials were found; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, a"
                    + " profile or a role"
                : cause instanceof UnknownHostException ? "unknown host " + message : message),
        failure);
  }

  @Override
  public void close() {
    transfers.close();
    client.close();
  }
}
