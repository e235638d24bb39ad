/**
 * Simulations to start from. Each runs as it is, against an engine inside the JVM; name your own
 * server with {@code -Dendpoint=http://localhost:8000/v1 -Dmodel=llama-8b}.
 *
 * <pre>
 * mvn gatling:test -Dgatling.simulationClass=examples.ChatSimulation
 * </pre>
 */
package examples;
