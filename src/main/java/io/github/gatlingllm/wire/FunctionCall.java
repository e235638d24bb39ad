package io.github.gatlingllm.wire;

/**
 * A function that the model wants called.
 *
 * @param id what the result has to name; made up where the server gave none
 * @param name of the function
 * @param arguments as the model wrote them: JSON, if it wrote JSON
 */
public record FunctionCall(String id, String name, String arguments) {}
