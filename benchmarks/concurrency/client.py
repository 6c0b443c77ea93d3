"""The measured program in Python: a thread per task. Arguments and output as in program.mjs."""

import http.client
import json
import re
import sys
import threading
import time

REQUESTS = 5
STEPS_PER_UNIT = 1000
MASK = 0xFFFFFFFF


def compute(units, state=1):
    for _ in range(units * STEPS_PER_UNIT):
        state = (state * 1_664_525 + 1_013_904_223) & MASK
    return state


def ask_server(address, task, work, outcomes):
    right = 0
    error = None
    connection = http.client.HTTPConnection(address)
    for request in range(REQUESTS):
        path = f"/{task}/{request}"
        try:
            connection.request("GET", path)
            body = connection.getresponse().read().decode()
            if body == path:
                right += 1
            else:
                error = error or f"the response to {path} was {body[:100]}"
        except (OSError, http.client.HTTPException) as thrown:
            error = error or repr(thrown)
            connection.close()
        if work > 0:
            compute(work)
    connection.close()
    outcomes[task] = (right, error)


def peak_kib():
    with open("/proc/self/status", encoding="utf-8") as status:
        return int(re.search(r"^VmHWM:\s*(\d+) kB", status.read(), re.MULTILINE)[1])


def run(options):
    address = options["origin"].removeprefix("http://")
    # A thread that cannot start leaves its place as it is.
    outcomes = [(0, "its thread did not start")] * options["tasks"]
    peak_before = peak_kib()
    cpu_before = time.process_time()
    began = time.perf_counter()
    threads = [
        threading.Thread(target=ask_server, args=(address, task, options["work"], outcomes))
        for task in range(options["tasks"])
    ]
    started = []
    for thread in threads:
        try:
            thread.start()
            started.append(thread)
        except RuntimeError:
            break
    for thread in started:
        thread.join()
    wall = time.perf_counter() - began
    return {
        "startMs": 0,
        "wallMs": wall * 1000,
        "cpuMs": (time.process_time() - cpu_before) * 1000,
        "peakBeforeKiB": peak_before,
        "peakKiB": peak_kib(),
        "right": sum(right for right, _ in outcomes),
        "error": next((error for _, error in outcomes if error), None),
    }


def calibrate(ms):
    def time_of(units):
        start = time.perf_counter()
        compute(units)
        return (time.perf_counter() - start) * 1000

    units = 1
    while time_of(units) < ms:
        units *= 2
    least = min(time_of(units) for _ in range(20))
    return {"work": round(units * ms / least)}


given = json.loads(sys.argv[1])
print(json.dumps(calibrate(given["calibrateMs"]) if "calibrateMs" in given else run(given)))
