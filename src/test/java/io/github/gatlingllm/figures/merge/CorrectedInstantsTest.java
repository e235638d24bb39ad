package io.github.gatlingllm.figures.merge;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import org.junit.jupiter.api.Test;

class CorrectedInstantsTest {

  private static String corrected(String lines) throws IOException {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    try (CorrectedInstants instants = new CorrectedInstants(out, "at_ns", at -> at - 200)) {
      instants.write(lines.getBytes(UTF_8));
    }
    return out.toString(UTF_8);
  }

  @Test
  void onlyTheNumberAfterTheKeyChanges() throws IOException {
    assertThat(
            corrected(
                """
                {"id":"a","at_ns":1795226400000000100,"other_at_ns":500,"\\u00e9":"é"}
                {"at_ns": 300}
                {"at_ns":null,"n":700}
                {"text":"{\\"at_ns\\":900}","key":"at_ns","at_ns":1000,"last":"at_ns"}
                """))
        .isEqualTo(
            """
            {"id":"a","at_ns":1795226399999999900,"other_at_ns":500,"\\u00e9":"é"}
            {"at_ns": 100}
            {"at_ns":null,"n":700}
            {"text":"{\\"at_ns\\":900}","key":"at_ns","at_ns":800,"last":"at_ns"}
            """);
  }
}
