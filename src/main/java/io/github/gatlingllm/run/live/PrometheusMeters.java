package io.github.gatlingllm.run.live;

import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.micrometer.prometheusmetrics.PrometheusNamingConvention;
import org.jspecify.annotations.Nullable;

/**
 * Meters in Prometheus text format. Needs the optional {@code micrometer-registry-prometheus}.
 * Names follow OpenTelemetry's translation to Prometheus: times end with {@code _seconds}, units in
 * braces are left out.
 */
final class PrometheusMeters {

  private final PrometheusMeterRegistry registry;

  private PrometheusMeters(PrometheusMeterRegistry registry) {
    this.registry = registry;
  }

  /**
   * Creates the registry.
   *
   * @throws NoClassDefFoundError if the registry is not on the class path
   */
  static PrometheusMeters create() {
    PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    registry
        .config()
        .namingConvention(
            new PrometheusNamingConvention() {
              @Override
              public String name(String name, Meter.Type type, @Nullable String unit) {
                return super.name(name, type, null);
              }
            });
    return new PrometheusMeters(registry);
  }

  MeterRegistry registry() {
    return registry;
  }

  /** All meters in text format 0.0.4. */
  String text() {
    return registry.scrape();
  }
}
