package io.github.gatlingllm.action;

import io.gatling.core.CoreComponents;
import io.gatling.core.structure.PopulationBuilder;
import io.gatling.http.protocol.HttpProtocol;
import io.gatling.http.protocol.JavaDnsNameResolution$;
import io.github.gatlingllm.client.Api;
import io.github.gatlingllm.client.Secrets;
import io.github.gatlingllm.client.StreamedExchange;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ProxySelector;
import java.net.URI;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Checks the URLs of targets before anything is sent to them. */
final class EndpointCheck {

  private EndpointCheck() {}

  /**
   * Warns of a proxy that is set by a system property of the JVM: Gatling's client reads none.
   *
   * @return null where no URL of the target would go through that proxy, or where the {@code http}
   *     protocol has a proxy of its own
   */
  static @Nullable String ignoredProxy(LlmProtocol target, HttpProtocol http) {
    if (http.proxyPart().proxy().isDefined()) {
      return null;
    }
    for (String url : target.baseUrls) {
      URI uri = URI.create(url);
      ProxySelector selector = ProxySelector.getDefault();
      if (selector != null
          && selector.select(uri).get(0).address() instanceof InetSocketAddress address) {
        return Stream.of(uri.getScheme() + ".proxyHost", "proxyHost", "socksProxyHost")
            .filter(property -> !System.getProperty(property, "").isBlank())
            .findFirst()
            .map(property -> ignored(property, address, uri.getHost()))
            .orElse(null);
      }
    }
    return null;
  }

  private static String ignored(String property, InetSocketAddress proxy, String host) {
    return ("LLM: the system property %s is ignored, as Gatling's client reads no proxy from the"
            + " JVM: requests go to %s directly. Set the proxy on the http protocol of the"
            + " simulation: http.proxy(Proxy(\"%s\", %s)%s)")
        .formatted(
            property,
            host,
            proxy.getHostString(),
            proxy.getPort(),
            property.startsWith("socks") ? ".socks5()" : "");
  }

  /**
   * Looks up the hosts of the given target and, as far as it is known how they connect, of all
   * other targets of the simulation that get a warm-up request.
   *
   * @param api of the given target's requests, for the URLs in messages
   * @return a line for each URL whose host is unknown
   */
  static List<String> unknownHosts(
      LlmProtocol target, HttpProtocol http, CoreComponents core, Api api) {
    Set<String> lines = new LinkedHashSet<>(unknownHosts(target, http, api));
    try {
      List<PopulationBuilder> all = InjectionPlans.populations(core);
      boolean isHttpCommon =
          all.stream().noneMatch(each -> each.scenarioProtocols().contains(HttpProtocol.class));
      for (PopulationBuilder each : all) {
        Object other = each.scenarioProtocols().getOrElse(LlmProtocol.class, () -> target);
        Object connects =
            each.scenarioProtocols()
                .getOrElse(HttpProtocol.class, () -> isHttpCommon ? http : null);
        if (other instanceof LlmProtocol llm && connects instanceof HttpProtocol its) {
          lines.addAll(unknownHosts(llm, its, llm.equals(target) ? api : null));
        }
      }
    } catch (ReflectiveOperationException otherGatling) {
      // The other targets are checked by their own warm-up requests.
    }
    return List.copyOf(lines);
  }

  /** Asks the same resolver as Gatling; where another one is configured, or a proxy, asks none. */
  private static List<String> unknownHosts(
      LlmProtocol target, HttpProtocol http, @Nullable Api api) {
    List<String> lines = new ArrayList<>();
    if (target.warmUpRequests == 0
        || http.proxyPart().proxy().isDefined()
        || http.dnsPart().dnsNameResolution() != JavaDnsNameResolution$.MODULE$) {
      return lines;
    }
    for (int i = 0; i < target.baseUrls.size(); i++) {
      String baseUrl = target.baseUrls.get(i);
      String host = URI.create(baseUrl).getHost();
      if (!http.dnsPart().hostNameAliases().contains(host)) {
        try {
          var unused = InetAddress.getAllByName(host);
        } catch (UnknownHostException e) {
          lines.add(
              WarmUpFailure.notConnected(
                  target.label(),
                  Secrets.redactUrl(api == null ? baseUrl : target.url(i, api)),
                  StreamedExchange.connectionError(e)));
        }
      }
    }
    return lines;
  }
}
