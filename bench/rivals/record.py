"""What the peers reached undisturbed, and whether today's run can be held against it: a peer far below its
record, scaled by what this machine was measured to do, was disturbed.

records.json has one entry for each kind of processor, made by `bench/compare --record`; the first is the
machine on which the targets were set, and stands for every processor that has none of its own.  A rate is
scaled by the bandwidth (decode) or the vector int8 peak (prefill), which holds between runs on one kind of
processor and not between kinds: they differ in what binds a peer."""
import json
import pathlib

THREADS = 2
ALLOWED_BELOW = 0.15
PROBES = {"decode": "read_gb_s", "prefill": "int8_gop_s"}  # what a rate is scaled by
UNITS = {"decode": "GB/s", "prefill": "Gop/s"}
RECORDS = json.loads(pathlib.Path(__file__).with_name("records.json").read_text())


def this_cpu():
    """Family and model of this machine's processor, as in "6/207"; "" where the system does not tell."""
    fields = dict.fromkeys(("cpu family", "model"), "")
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        name, _, value = line.partition(":")
        if name.strip() in fields and not fields[name.strip()]:
            fields[name.strip()] = value.strip()
    return "/".join(fields.values()) if all(fields.values()) else ""


def of_cpu(cpu):
    return next((record for record in RECORDS if record["cpu"] == cpu), RECORDS[0])


def share(record, peer, model, what, scaled):
    """Of the record, the share that a rate for each GB/s or Gop/s is; None where the record says nothing."""
    rate = record["rates"].get(peer, {}).get(model, {}).get(what)
    return scaled * record[PROBES[what]] / rate if rate else None
