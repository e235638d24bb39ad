package io.github.gatlingllm.run;

import static org.assertj.core.api.Assertions.assertThat;

import com.code_intelligence.jazzer.junit.FuzzTest;
import io.github.gatlingllm.record.ServerSample;
import io.github.gatlingllm.testing.Reading;
import java.nio.charset.StandardCharsets;
import java.util.Map;

/** Pages of another origin. */
class MetricsFuzzTest {

  /** It is read, or refused in a line that quotes nothing of it. */
  @FuzzTest
  void page(byte[] bytes) {
    String page = new String(bytes, StandardCharsets.UTF_8);
    PageReader reader = new PageReader();
    try {
      ServerSample empty = Reading.at(1, Map.of()).sample();
      ServerSample reading = reader.read(page, empty);
      assertThat(reading.names().keySet()).containsAll(reading.values().keySet());
      assertThat(reading.values().values()).allSatisfy(value -> assertThat(value).isFinite());
      assertThat(reader.read(page, empty).reset()).isFalse();
    } catch (IllegalArgumentException refused) {
      assertThat(refused.getMessage())
          .matches(
              "no metric of an engine, GPU or host"
                  + "|its metrics have no value, e.g. [a-zA-Z_:][\\w:]*"
                  + "|not a metrics page: expected [-a-z'=,\" ]+ in line \\d+");
    }
  }
}
