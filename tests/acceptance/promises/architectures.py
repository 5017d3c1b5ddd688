"""Families promise 1: for every architecture tiny generated models give the logits of transformers in
float64, on the reference backend and on every kernel table of the CPU, whatever the chunks; and no metadata
key and no tensor is read past."""
import collections
import json
import os
import pathlib
import re
import subprocess
import tempfile

from promises.place import BUILD, ROOT, Failed, Missing

CASES = ROOT / "tests/golden/cases"
WITHIN = 2e-5  # of the range of the logits
WITHIN_INT8 = 1.2e-2  # where activations may be rounded to 8 bits: derived in golden_test.cc
REF, CPU = "RefGivesTheLogitsOfTransformers", "EveryCpuTableGivesTheLogitsOfTransformers"
CHUNKS = "ChunksChangeNoBit"
SEEN = ("NoKeyIsReadPast", "NoTensorIsReadPast")


def architecture_of(path):
    metadata = json.loads(path.read_text())["metadata"]
    return next(entry["value"] for entry in metadata if entry["key"] == "general.architecture")


def golden_results():
    """{test: {case: its properties}} of one run of the golden tests."""
    program = BUILD / "tests/golden/golden_test"
    if not program.exists():
        raise Missing(f"{program} is not built: make build")
    memory = "/dev/shm" if pathlib.Path("/dev/shm").is_dir() else tempfile.gettempdir()
    with tempfile.TemporaryDirectory(prefix="hwtv-acceptance-", dir=memory) as folder:
        report = pathlib.Path(folder) / "report.json"
        done = subprocess.run([program, f"--gtest_output=json:{report}", "--gtest_brief=1"], cwd=ROOT,
                              env={**os.environ, "TMPDIR": folder}, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL, check=False)
        if not report.exists():
            raise Failed(f"golden_test exits {done.returncode} and reports nothing")
        suites = json.loads(report.read_text())["testsuites"]
    results = collections.defaultdict(dict)
    for suite in suites:
        for test in suite["testsuite"]:
            name, _, case = test["name"].partition("/")
            results[name][case] = test
    return results


def supported():
    """The names in the program's table."""
    table = (ROOT / "src/model/architectures.cc").read_text()
    return re.findall(r'\{"([\w-]+)", record_', table)


def passed(results, test, cases):
    return all(case in results[test] and "failures" not in results[test][case] for case in cases)


def check():
    cases = collections.defaultdict(list)
    for path in sorted(CASES.glob("*.json")):
        cases[architecture_of(path)].append(path.stem)
    without = sorted(set(supported()) - set(cases))
    yield (not without and supported(), "architectures with golden cases",
           f"{len(cases)} of {len(supported())} {' '.join(without)}".strip(), "all that the program runs")
    results = golden_results()
    for architecture, names in sorted(cases.items()):
        quantized = [name for name in names if name.endswith("_mxfp4")]
        plain = [name for name in names if name not in quantized]
        for test, chosen, where, within in (
                (REF, names, "on ref", WITHIN), (CPU, plain, "on every kernel table", WITHIN),
                (CPU, quantized, "of MXFP4 on every kernel table", WITHIN_INT8)):
            if not chosen:
                continue
            worst = max(float(results[test].get(name, {}).get("error", "inf")) for name in chosen)
            yield (worst <= within and passed(results, test, chosen), f"{architecture}: logits {where}",
                   f"{worst:.1e} of their range off transformers' in {len(chosen)} cases",
                   f"at most {within:.1e}")
        for tests, what, target in (
                ((CHUNKS,), "in chunks", "no bit changes"),
                (SEEN, "keys and tensors", "each is seen or listed as without effect")):
            good = [name for name in names if all(passed(results, test, [name]) for test in tests)]
            yield (len(good) == len(names), f"{architecture}: {what}", f"{len(good)} of {len(names)} cases",
                   target)
