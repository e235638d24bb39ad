@echo off
rem Loads or compares LLM servers with the Java of this folder.
"%~dp0..\runtime\bin\java.exe" -XX:TieredStopAtLevel=1 -XX:+UseSerialGC "-Dgatlingllm.command=gatling-llm" -jar "%~dp0..\lib\gatling-llm.jar" %*
exit /b %ERRORLEVEL%
