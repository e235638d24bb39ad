package io.github.gatlingllm.docs;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.github.gatlingllm.record.RunInfo;
import java.io.IOException;
import org.junit.jupiter.api.Test;

/** The page of files against {@code run.json}; recorded runs check {@code summary.json}. */
class FilesPageTest {

  @Test
  void pageHasAllKeysOfARun() throws IOException {
    FilesPage.mustName(RunInfo.class);
  }

  @Test
  void missingKeyIsDetected() {
    assertThatThrownBy(
            () -> FilesPage.mustName(new ObjectMapper().readTree("{\"run\":[{\"runn\":1}]}")))
        .isInstanceOf(AssertionError.class)
        .hasMessageContaining("runn");
  }
}
