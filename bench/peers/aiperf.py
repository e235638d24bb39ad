"""AIPerf, by its command line."""

import itertools
import json
import pathlib
import subprocess
import sys

import common

load = common.load()
prompts = load.folder / "prompts.jsonl"
prompts.write_text(json.dumps({"text": common.PROMPT}) + "\n")
subprocess.run(
    [
        pathlib.Path(sys.executable).with_name("aiperf"),
        "profile",
        *("--model", "bench", "--url", load.url, "--endpoint-type", "chat", "--streaming"),
        *("--tokenizer", common.tokenizer(load.folder), "--use-server-token-count"),
        *("--input-file", prompts, "--custom-dataset-type", "single_turn"),
        *("--concurrency", str(load.streams), "--request-count", str(load.requests)),
        *("--extra-inputs", f"max_completion_tokens:{load.tokens}"),
        *("--warmup-request-count", "1", "--ui", "none", "--output-artifact-dir", load.folder / "artifacts"),
        "--no-gpu-telemetry",
        "--no-server-metrics",
    ],
    check=True,
    timeout=270,
)
streams = []
for line in next((load.folder / "artifacts").rglob("profile_export.jsonl")).open():
    record = json.loads(line)
    if record["metadata"].get("benchmark_phase") != "warmup" and "time_to_first_token" in record["metrics"]:
        ttft = record["metrics"]["time_to_first_token"]["value"]
        gaps = record["metrics"].get("inter_chunk_latency", {}).get("value", [])
        streams.append(
            {
                "id": record["metadata"]["x_request_id"],
                "offsets": [at / 1e3 for at in itertools.accumulate([ttft, *gaps])],
            }
        )
common.write(load, streams)
