# docker build -t gatling-llm .
# docker run --rm --read-only --tmpfs /tmp -v "$PWD/results:/results" gatling-llm --endpoint http://my-server:8000/v1 --results /results
FROM maven:3.9-eclipse-temurin-17 AS build
WORKDIR /src
COPY . .
RUN mvn -B -q package -DskipTests

FROM eclipse-temurin:17-jre
# A number, so that Kubernetes can see that it is not root.
USER 10001:10001
WORKDIR /tmp
COPY --from=build /src/target/gatling-llm.jar /opt/gatling-llm.jar
# This JVM only starts the one that makes the load.
ENTRYPOINT ["java", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx32m", "-jar", "/opt/gatling-llm.jar"]
CMD ["--help"]
