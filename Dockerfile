# syntax=docker/dockerfile:1
#
# docker build -t gatling-llm .
# docker run --rm --read-only --tmpfs /tmp:exec -v "$PWD/results:/results" --user "$(id -u)" gatling-llm --endpoint http://my-server:8000/v1 --results /results
#
# Simulations of your own: FROM gatling-llm, COPY my-simulations.jar /opt/simulations/, and run it with --simulation my.Simulation
# (or with --simulation /a/file/of/Source.java).

FROM maven:3.9-eclipse-temurin-17 AS jar
WORKDIR /src
COPY . .
RUN --mount=type=cache,target=/root/.m2 mvn -B -q package -DskipTests

# A JVM with the modules that the jar uses: those that jdeps finds, and those needed only at run time: elliptic curves for TLS, archives as
# file systems, the compiler for simulations in Java source. A first run leaves the classes that later ones start from.
FROM eclipse-temurin:17-jdk AS jvm
COPY --from=jar /src/target/gatling-llm.jar /opt/gatling-llm.jar
RUN modules="$(jdeps --multi-release 17 --ignore-missing-deps --print-module-deps /opt/gatling-llm.jar)" \
 && jlink --add-modules "$modules,jdk.crypto.ec,jdk.zipfs,jdk.compiler" --strip-debug --no-header-files --no-man-pages --output /opt/java \
 && /opt/java/bin/java -Xshare:dump \
 && /opt/java/bin/java -Dgatlingllm.classes=/opt/classes -jar /opt/gatling-llm.jar benchmark \
    --requests 2 --concurrency 1 --jvm-warm-up=false --fail-on-invalid=false --results /tmp/made \
 && mkdir /opt/simulations /results

# The C library and CA certificates: no shell, no package manager.
FROM gcr.io/distroless/java-base-debian12:nonroot
LABEL org.opencontainers.image.title="gatling-llm" \
      org.opencontainers.image.description="Load tests for LLM servers, in Gatling" \
      org.opencontainers.image.source="https://github.com/gatlingllm/gatling-llm" \
      org.opencontainers.image.licenses="Apache-2.0"
COPY --from=jvm /opt /opt
COPY --from=jvm --chown=65532:65532 /results /results
# Native libraries are unpacked to /tmp, because there may be no home directory.
ENV DJL_CACHE_DIR=/tmp/djl
# A number, so that Kubernetes can verify that it is not root.
USER 65532:65532
WORKDIR /tmp
# This JVM merges and renders; for a run it starts a second JVM that makes the load. Both print UTF-8.
ENTRYPOINT ["/opt/java/bin/java", "-XX:+UseSerialGC", "-XX:MaxRAMPercentage=60", "-Dfile.encoding=UTF-8", "-Dgatlingllm.classes=/opt/classes", "-cp", "/opt/gatling-llm.jar:/opt/simulations/*", "io.github.gatlingllm.simulations.cli.GatlingLlm"]
CMD ["--help"]
