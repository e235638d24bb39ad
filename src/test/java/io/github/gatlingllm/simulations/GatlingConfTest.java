package io.github.gatlingllm.simulations;

import static org.assertj.core.api.Assertions.assertThat;

import io.gatling.core.config.GatlingConfiguration;
import org.junit.jupiter.api.Test;
import scala.collection.immutable.List$;

final class GatlingConfTest {

  @Test
  void aRunCallsNothingButItsTarget() {
    GatlingConfiguration configuration = GatlingConfiguration.load();
    assertThat(configuration.data().enableAnalytics()).isFalse();
    assertThat(configuration.http().warmUpUrl().isEmpty()).isTrue();

    GatlingConfiguration defaults = GatlingConfiguration.loadForTest(List$.MODULE$.empty());
    assertThat(defaults.data().enableAnalytics()).isTrue();
    assertThat(defaults.http().warmUpUrl().isEmpty()).isFalse();
  }
}
