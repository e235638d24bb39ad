package io.github.gatlingllm.docs;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The reference of the DSL is what {@link DslPage} makes, and its code compiles. */
class DslPageTest {

  @Test
  void pageHasEveryMethodWithCodeThatCompiles(@TempDir Path classes) throws Exception {
    DslPage page = new DslPage();
    ReferencePage.at(DslPage.FILE).mustBe(page.text());
    assertThat(page.missing()).isEmpty();
    assertThat(PagesTest.errors(classes, "Calls", program(page.calls()))).isEmpty();
  }

  private static String program(List<String> code) {
    return PagesTest.IMPORTS
        + """
        import java.util.Map;

        abstract class Calls {
          ChatRequestBuilder ask;
          CompletionRequestBuilder complete;
          EmbeddingRequestBuilder embed;
          RerankRequestBuilder rank;
          ScenarioBuilder chat;
          EmbeddedEngine engine;
          LlmResponse response;

          void all() {
        """
        + String.join("", code)
        + "}}\n";
  }
}
