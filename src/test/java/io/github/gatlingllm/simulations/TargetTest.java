package io.github.gatlingllm.simulations;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class TargetTest {

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          http://a:8000/v1 | m | a:8000
          http://a:8000/v1,http://a:8001/v1 | m,m | a:8000,a:8001
          http://a/v1,http://a/v1 | small,large | small,large
          http://a/v1,http://a/v1,http://b/v1 | x,y,x | a x,a y,b x
          http://a/one/v1,http://a/two/v1 | m,m | http://a/one/v1,http://a/two/v1
          http://a/v1/chat/completions,http://a/v1/completions | m,m | http://a/v1/chat/completions,http://a/v1/completions
          http://a/v1,http://a/v1 | m,m | a #1,a #2
          http://a/v1,http://a/v1 | ,   | a #1,a #2
          vLLM = http://a/v1,http://b/v1 | m,m | vLLM,b
          vLLM=http://a/v1,vLLM=http://a/v1,SGLang=http://b/v1 | x,y,x | vLLM x,vLLM y,SGLang x
          """)
  void labelsAreTheShortestDistinctTexts(String urls, String models, String labels) {
    String[] model = models.split(",", -1);
    List<Target> targets = new ArrayList<>();
    for (String text : urls.split(",", -1)) {
      EndpointSpec.Named url = EndpointSpec.Named.parse(text);
      String name = model[targets.size()];
      targets.add(
          new Target(
              url.name(), EndpointSpec.parse(url.url(), null), name.isEmpty() ? null : name, null));
    }
    assertThat(String.join(",", Target.labels(targets))).isEqualTo(labels);
  }
}
