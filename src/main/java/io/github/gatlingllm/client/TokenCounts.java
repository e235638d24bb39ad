package io.github.gatlingllm.client;

import io.github.gatlingllm.client.UsageFields.Count;
import io.github.gatlingllm.record.RequestRecord;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The token counts that the server reports with one answer. */
final class TokenCounts {

  private static final int UNKNOWN = -1;

  /** One event of this number may be empty. */
  private static final int MAX_EMPTY = 10;

  private int prompt = UNKNOWN;
  private int completion = UNKNOWN;
  private int cached = UNKNOWN;
  private int reasoning = UNKNOWN;
  private List<String> rejected = List.of();

  /**
   * Takes one usage object. Of several the last one counts; an object of zeros is ignored.
   *
   * @return output tokens until now; {@value #UNKNOWN} where they are not reported
   */
  int usage(UsageFields usage) {
    int promptTokens = checked(usage.get(Count.PROMPT), "prompt_tokens");
    int completionTokens = checked(usage.get(Count.OUTPUT), "completion_tokens");
    int cachedTokens = checked(usage.get(Count.CACHED), "cached_tokens");
    int reasoningTokens = checked(usage.get(Count.REASONING), "reasoning_tokens");
    int total = usage.get(Count.TOTAL);
    if (promptTokens >= 0 && completionTokens >= 0 && total > promptTokens + completionTokens) {
      int beside = total - promptTokens - completionTokens;
      if (beside == reasoningTokens) {
        // xAI and Gemini count reasoning beside the output.
        completionTokens += beside;
      } else if (beside == cachedTokens) {
        promptTokens += beside;
      } else {
        reject("total_tokens");
      }
    } else if (promptTokens > 0 && completionTokens > 0 && total > 0) {
      if (total < promptTokens + completionTokens) {
        reject("total_tokens");
      }
    }
    if (promptTokens > 0 || completionTokens > 0) {
      prompt = lastNonZero(prompt, promptTokens);
      completion = lastNonZero(completion, completionTokens);
      cached = cachedTokens == UNKNOWN ? cached : cachedTokens;
      reasoning = reasoningTokens == UNKNOWN ? reasoning : reasoningTokens;
    }
    return completionTokens;
  }

  /**
   * The answer has ended: counts that contradict each other are not used.
   *
   * @param events events with tokens, of which each has one or more
   */
  void end(int events) {
    if (reasoning > completion && completion != UNKNOWN) {
      reject("reasoning_tokens");
      reasoning = UNKNOWN;
    }
    if (cached > prompt && prompt != UNKNOWN) {
      reject("cached_tokens");
      cached = UNKNOWN;
    }
    // A chunk for the finish reason, or half a character, may be an event without a token.
    if (completion > 0 && completion + 1 + events / MAX_EMPTY < events) {
      reject("completion_tokens");
      completion = UNKNOWN;
    }
  }

  /** The count; {@value #UNKNOWN} where no answer can have this number of tokens. */
  private int checked(int count, String name) {
    if (count <= RequestRecord.MAX_TOKENS) {
      return count;
    }
    reject(name);
    return UNKNOWN;
  }

  private void reject(String name) {
    if (!rejected.contains(name)) {
      rejected = new ArrayList<>(rejected);
      rejected.add(name);
    }
  }

  private static int lastNonZero(int before, int count) {
    return count > 0 ? count : Math.max(before, count);
  }

  private static @Nullable Integer known(int count) {
    return count == UNKNOWN ? null : count;
  }

  @Nullable Integer prompt() {
    return known(prompt);
  }

  @Nullable Integer completion() {
    return known(completion);
  }

  @Nullable Integer cached() {
    return known(cached);
  }

  @Nullable Integer reasoning() {
    return known(reasoning);
  }

  List<String> rejected() {
    return rejected;
  }
}
