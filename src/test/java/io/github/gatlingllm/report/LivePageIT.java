package io.github.gatlingllm.report;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gatlingllm.simulations.Benchmark;
import io.github.gatlingllm.testing.GatlingRun;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(Browser.Shared.class)
class LivePageIT {

  private static final Pattern ADDRESS = Pattern.compile("LLM live page: (http://[0-9.:]+/)");

  private static final String LEVELS =
      IntStream.rangeClosed(1, 40).mapToObj(Integer::toString).collect(Collectors.joining(","));

  private static final String ZOOM =
      """
      (({start, end}) => start + ',' + end)(
          echarts.getInstanceByDom(document.getElementById('time-ttft')).getOption().dataZoom[0])
      """;

  private static final List<String> TILES =
      List.of("TTFT p50", "ITL p50", "Output", "In flight", "Ended", "In SLO");

  /** One browser shows a run to its end, which waits until it has shown everything. */
  @Test
  void browserShowsARunningTest(Browser browser) throws Exception {
    try (GatlingRun run =
        GatlingRun.of(Benchmark.class)
            .set("llm.live", "0")
            .set("llm.concurrency", LEVELS)
            .llm("duration=1s apiKey=sk-live-page-secret slo=ttft<1s")
            .start()) {
      run.awaitLine("LLM live page: ");
      URI page = address(run);
      browser.complaints();
      browser.networkRequests();

      browser.driver().open(page.toString());
      browser
          .driver()
          .run(
              "document.redrawn = 0; document.addEventListener('charts', () =>"
                  + " document.redrawn++)");

      until(run, browser, "document.getElementById('state').textContent === '● live'");
      until(run, browser, "document.querySelectorAll('#time-ttft svg path').length > 0");
      until(run, browser, "document.querySelectorAll('#generator-cpu svg path').length > 0");
      until(run, browser, "document.querySelectorAll('#live-now tbody tr').length > 0");
      // At the start of a level it has no figures yet.
      until(run, browser, holdsAll("#live-now .tiles span", TILES));
      until(run, browser, holdsAll("#live-now tbody td", List.of("100 %")));

      browser.driver().run("document.querySelector('[data-zoom=in]').click()");
      browser.driver().run("document.redrawn = 0");
      until(run, browser, "document.redrawn > 0");
      assertThat(browser.eval(ZOOM)).as("zoom stays when news come").isEqualTo("25,75");
      assertThat(get(page.resolve("/metrics")))
          .contains("gen_ai_client_operation_duration_seconds_count{", "gatling_llm_stage=\"c=1\"")
          .doesNotContain("secret");

      run.terminate();

      run.await();
      assertThat(holds(browser, "document.getElementById('state').textContent === '✓ over'", 60))
          .as("over")
          .isTrue();
      assertThat((Long) browser.eval("document.redrawn")).as("loaded once").isPositive();
      assertThat(browser.texts("#live-now .verdict"))
          .singleElement()
          .asString()
          .startsWith("The run is over. Its report: ")
          .endsWith("llm.html");
      assertThat(browser.complaints()).isEmpty();
      assertThat(browser.networkRequests())
          .isNotEmpty()
          .allMatch(url -> url.startsWith(page.toString()));
      assertThat((String) browser.eval("document.documentElement.outerHTML"))
          .doesNotContain("secret");
    }
  }

  private static URI address(GatlingRun run) throws IOException {
    Matcher address = ADDRESS.matcher(run.output());
    assertThat(address.find()).isTrue();
    return URI.create(address.group(1));
  }

  private static void until(GatlingRun run, Browser browser, String expression)
      throws IOException, InterruptedException {
    run.await(expression, () -> holds(browser, expression, 1));
  }

  private static String holdsAll(String selector, List<String> texts) {
    String each = "[...document.querySelectorAll('%s')].some(e => e.textContent === '%s')";
    return texts.stream()
        .map(text -> each.formatted(selector, text))
        .collect(Collectors.joining(" && "));
  }

  /** Waits within the browser, because each call to it is slower than the check. */
  private static boolean holds(Browser browser, String expression, int seconds) {
    return Boolean.TRUE.equals(
        browser
            .driver()
            .await(
                """
                const done = arguments[arguments.length - 1];
                const end = Date.now() + %2$d;
                const look = () =>
                    %1$s ? done(true) : Date.now() > end ? done(false) : setTimeout(look, 50);
                look();
                """
                    .formatted(expression, seconds * 1_000)));
  }

  private static String get(URI address) throws IOException, InterruptedException {
    return HttpClient.newHttpClient()
        .send(HttpRequest.newBuilder(address).build(), BodyHandlers.ofString())
        .body();
  }
}
