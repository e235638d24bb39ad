#!/usr/bin/env python3
"""gpu_page.py PORT: what nvidia-smi says once a second, as a Prometheus page with the names of NVIDIA's DCGM exporter, on 127.0.0.1:PORT/metrics.

For a machine where the exporter cannot be installed. Other commands in its place, for a try without a GPU: --smi 'COMMAND', which prints lines like nvidia-smi's.
"""
import argparse
import http.server
import shlex
import subprocess
import threading

# Names of DCGM and the query of nvidia-smi that gives them.
METRICS = [
    ("DCGM_FI_DEV_GPU_UTIL", "utilization.gpu"),
    ("DCGM_FI_DEV_FB_USED", "memory.used"),
    ("DCGM_FI_DEV_FB_FREE", "memory.free"),
    ("DCGM_FI_DEV_SM_CLOCK", "clocks.sm"),
    ("DCGM_FI_DEV_GPU_TEMP", "temperature.gpu"),
    ("DCGM_FI_DEV_POWER_USAGE", "power.draw"),
    ("DCGM_FI_DEV_POWER_MGMT_LIMIT", "power.limit"),
]
QUERY = "index," + ",".join(query for _, query in METRICS)
SMI = f"nvidia-smi --query-gpu={QUERY} --format=csv,noheader,nounits -lms 1000"

latest = {}


def read(command):
    """Keeps the last line of each GPU; a value that a card does not report is left out."""
    with subprocess.Popen(shlex.split(command), stdout=subprocess.PIPE, text=True) as smi:
        for line in smi.stdout:
            index, *values = (part.strip() for part in line.split(","))
            latest[index] = values


def page():
    lines = []
    for number, (name, _) in enumerate(METRICS):
        lines.append(f"# TYPE {name} gauge")
        for index, values in sorted(latest.items()):
            try:
                lines.append(f'{name}{{gpu="{index}"}} {float(values[number])}')
            except (IndexError, ValueError):
                continue
    return "\n".join(lines) + "\n"


class Page(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        body = page().encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/plain; version=0.0.4")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("port", type=int)
    parser.add_argument("--smi", default=SMI)
    options = parser.parse_args()
    threading.Thread(target=read, args=(options.smi,), daemon=True).start()
    http.server.ThreadingHTTPServer(("127.0.0.1", options.port), Page).serve_forever()


if __name__ == "__main__":
    main()
