import static io.gatling.javaapi.core.CoreDsl.*;
import static io.github.gatlingllm.javaapi.LlmDsl.*;

import io.gatling.javaapi.core.*;
import io.github.gatlingllm.record.RequestStatus;

/** Misses an assertion of ours; Gatling's own holds. */
public class GateSimulation extends Simulation {
  {
    setUp(
            closedLoop(1)
                .requests(2)
                .inject(scenario("S").exec(llm("ask").chat().user("hi").maxTokens(2))))
        .protocols(
            llm.baseUrl(System.getProperty("baseUrl"))
                .model("embedded")
                .disableJvmWarmUp()
                .assertions(llmGlobal().status(RequestStatus.COMPLETE).count().is(0)))
        .assertions(global().failedRequests().count().is(0L));
  }
}
