package io.github.gatlingllm.action;

import io.github.gatlingllm.client.Api;
import io.github.gatlingllm.figures.metric.Sentence;
import io.github.gatlingllm.record.RequestStatus;
import io.github.gatlingllm.record.RequestStatus.GeneratorLimit;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** What to do where a request before the load has failed. */
final class WarmUpRemedy {

  private static final Pattern IN_CAUSE =
      Pattern.compile("\\?$|^proxy |: check |; use |; set |; add |; take |: raise ");

  /** A server that looks for a model has the path. */
  private static final Pattern NAMES_MODEL =
      Pattern.compile("\\bmodel\\b", Pattern.CASE_INSENSITIVE);

  private WarmUpRemedy() {}

  /** Empty where the cause has one, or is a limit of the load generator. */
  static String of(String url, RequestStatus status, @Nullable Integer http, String cause) {
    boolean isKnown = GeneratorLimit.of(cause) != null || IN_CAUSE.matcher(cause).find();
    return isKnown ? "" : remedy(url, status, http, cause);
  }

  private static String remedy(
      String url, RequestStatus status, @Nullable Integer http, String cause) {
    Api api = Api.ofPath(url);
    boolean isRare = api != null && !api.generates() && url.endsWith("/v1" + api.path());
    return Sentence.text(
        "warm_up.remedy",
        status.key(),
        status == RequestStatus.HTTP_ERROR ? http : null,
        NAMES_MODEL.matcher(cause).find(),
        isRare ? api.key() : null);
  }
}
