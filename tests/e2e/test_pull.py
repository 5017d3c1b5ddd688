#!/usr/bin/env python3
"""`hwtv pull` against a hub on this machine that does what servers and networks do on bad days."""
import json
import os
import pathlib
import resource
import shutil
import signal
import ssl
import subprocess
import time

from hub_server import Hub, sha256, tiny_model
from program import CANCELLED, CORRUPT_FILE, INVALID_REQUEST, IO, OK, UNSUPPORTED, ProgramTest, main

SMALL = tiny_model()
LARGE = tiny_model(1 << 20)  # 4 MiB
NAME = "owner/tiny-GGUF"


class PullTest(ProgramTest):
    FILES = {NAME: {"tiny-Q4_K_M.gguf": SMALL, "tiny-Q8_0.gguf": LARGE, "README.md": b"text"},
             "": {"plain.gguf": SMALL, "page.gguf": b"<!DOCTYPE html>"}}

    def setUp(self):
        super().setUp()
        self.hub = self.enterContext(Hub({name: dict(files) for name, files in self.FILES.items()}))
        for name in list(self.environment):
            if name.lower().endswith("_proxy") or name.startswith(("HF_", "MODELSCOPE_", "SSL_", "CURL_")):
                del self.environment[name]
        self.environment["HF_ENDPOINT"] = self.hub.address
        self.environment["MODELSCOPE_DOMAIN"] = self.hub.address
        self.models = self.folder / "cache/hwtv/models"
        self.small = self.models / NAME / "tiny-Q4_K_M.gguf"
        self.large = self.models / NAME / "tiny-Q8_0.gguf"

    def left(self):
        """Every file of the model folder but whole models."""
        return sorted(path.name for path in self.models.rglob("*") if path.is_file() and path.suffix != ".gguf")

    def pulled(self, *words, **options):
        answer = json.loads(self.good("pull", *words, "--json", **options))
        self.assertEqual(self.left(), [])
        return answer


class NamesTest(PullTest):
    def test_pull_run_list_rm(self):
        text = self.good("pull", NAME)
        self.assertIn("SHA-256 as the hub says", text)
        self.assertIn(f"hwtv run {NAME}", text)
        self.assertEqual(self.small.read_bytes(), SMALL)
        self.assertIn(f"{NAME}/tiny-Q4_K_M.gguf", self.good("list"))
        for name in [NAME, f"{NAME}:Q4_K_M", "tiny-Q4_K_M", f"{NAME}/tiny-Q4_K_M.gguf"]:
            self.good("inspect", name)
        self.refused(INVALID_REQUEST, "inspect", f"{NAME}:Q8_0", says=["tiny-Q4_K_M.gguf"])
        self.good("rm", f"{NAME}:q4_k_m")
        self.assertEqual(list(self.models.iterdir()), [])

    def test_a_second_pull_fetches_nothing(self):
        self.pulled(NAME)
        before = len(self.hub.file_requests())
        again = self.pulled(f"{NAME}:Q4_K_M")
        self.assertTrue(again["files"][0]["was_there"])
        self.assertEqual(again["files"][0]["sha256"], sha256(SMALL))
        self.assertEqual(len(self.hub.file_requests()), before)

    def test_another_file_of_that_name_is_not_replaced(self):
        self.small.parent.mkdir(parents=True)
        self.small.write_bytes(b"GGUF mine")
        self.refused(INVALID_REQUEST, "pull", NAME,
                     says=["another file", f"hwtv rm {NAME}/tiny-Q4_K_M.gguf"])
        self.assertEqual(self.small.read_bytes(), b"GGUF mine")

    def test_model_scope_and_pages(self):
        self.assertEqual(self.pulled(NAME, "--from", "modelscope")["source"], "ModelScope")
        page = f"{self.hub.address}/{NAME}/blob/main/tiny-Q8_0.gguf"
        self.assertEqual(self.pulled(page)["files"][0]["checked_by"], "hub")
        self.assertEqual(self.large.read_bytes(), LARGE)

    def test_plain_address_with_and_without_a_hash(self):
        address = f"{self.hub.address}/plain.gguf"
        self.assertEqual(self.pulled(address)["files"][0]["checked_by"], "")
        (self.models / "plain.gguf").unlink()
        answer = self.pulled(address, "--sha256", sha256(SMALL))
        self.assertEqual(answer["files"][0]["checked_by"], "user")
        (self.models / "plain.gguf").unlink()
        self.refused(CORRUPT_FILE, "pull", address, "--sha256", "0" * 64, says=["0" * 64, sha256(SMALL)])
        self.assertEqual(list(self.models.iterdir()), [])
        self.refused(INVALID_REQUEST, "pull", address, "--sha256", "abc", says=["64 hex digits"])

    def test_split_models_come_whole(self):
        parts = {f"Q8_0/m-{i:05}-of-00003.gguf": tiny_model(64, bytes([i] * 4)) for i in (1, 2, 3)}
        self.hub.repositories["owner/split"] = parts
        self.assertEqual(len(self.pulled("owner/split:Q8_0")["files"]), 3)
        for path, data in parts.items():
            self.assertEqual((self.models / "owner/split" / path).read_bytes(), data)
        self.hub.repositories[""] = {path.partition("/")[2]: data for path, data in parts.items()}
        answer = self.pulled(f"{self.hub.address}/m-00002-of-00003.gguf?key=1")
        self.assertEqual([pathlib.Path(file["path"]).name for file in answer["files"]],
                         [path.partition("/")[2] for path in parts])
        self.good("rm", "owner/split")
        self.assertFalse((self.models / "owner").exists())

    def test_what_cannot_be(self):
        self.refused(INVALID_REQUEST, "pull", "nonsense", says=["owner/repo"])
        self.refused(INVALID_REQUEST, "pull", f"{NAME}:Q2_K", says=["tiny-Q8_0.gguf"])
        self.refused(INVALID_REQUEST, "pull", "owner/nothing", says=["404", "spelling"])
        self.refused(INVALID_REQUEST, "pull", f"{self.hub.address}/none.gguf", says=["404"])
        self.refused(INVALID_REQUEST, "pull", f"{self.hub.address}/", says=[".gguf"])
        self.refused(UNSUPPORTED, "pull", "ftp://host/x.gguf", says=["https"])
        self.refused(IO, "pull", f"{self.hub.address}/page.gguf", says=["<!DOCTYPE html>"])
        self.assertEqual(list(self.models.iterdir()), [])

    def test_a_hub_that_talks_nonsense(self):
        self.hub.deeds["listing"] = [{"body": b"<html>"}]
        self.refused(CORRUPT_FILE, "pull", NAME, says=["listing", "HF_ENDPOINT"])
        evil = json.dumps([{"type": "file", "path": "../../../evil.gguf", "size": 5}]).encode()
        self.hub.deeds["listing"] = [{"body": evil}]
        self.refused(INVALID_REQUEST, "pull", NAME, says=["GGUF"])


class NetworkTest(PullTest):
    def test_cut_at_many_bytes_goes_on_where_it_was(self):
        for n, cut in enumerate([0, 1, 3, 4, 5, 63, 64, 65, 4095, 8191, len(SMALL) - 1]):
            self.hub.requests.clear()
            self.hub.deeds["file"] = [{"cut": cut, "reset": n % 2}]
            answer = self.pulled(NAME)
            self.assertEqual(self.small.read_bytes(), SMALL)
            if not n % 2:  # what a reset connection still delivers is the kernel's choice
                self.assertEqual(self.hub.file_requests()[1][1].get("Range"),
                                 f"bytes={cut}-" if cut > 3 else None)
                self.assertEqual(answer["files"][0]["attempts"], 2)
            self.small.unlink()

    def test_lengths_and_ranges_that_lie(self):
        lies = [{"length": 2 * len(SMALL)}, {"length": 100}, {"length": 0}, {"length": None},
                {"status": 206}, {"fields": {"Content-Encoding": "gzip"}}, {"status": 500},
                {"status": 503, "fields": {"Retry-After": "0"}}]
        for lie in lies:
            self.hub.deeds["file"] = [lie]
            self.pulled(NAME)
            self.assertEqual(self.small.read_bytes(), SMALL, lie)
            self.small.unlink()
        for lie in [{"ignores_range": True}, {"fields": {"Content-Range": "bytes 0-99/100"}},
                    {"fields": {"Content-Range": "bytes 4097-16447/16448"}}, {"status": 416, "body": b""}]:
            self.hub.deeds["file"] = [{"cut": 4096}, lie]
            self.pulled(NAME)
            self.assertEqual(self.small.read_bytes(), SMALL, lie)
            self.small.unlink()

    def test_wrong_bytes_never_become_a_model(self):
        self.hub.always = {"body": tiny_model(filling=b"evil")}
        self.refused(CORRUPT_FILE, "pull", NAME, "-q", says=[sha256(SMALL)])
        self.assertEqual([path for path in self.models.rglob("*") if path.is_file()], [])

    def test_refusals_say_what_to_do(self):
        for status, says in [(401, ["HF_TOKEN", "spelling"]), (403, ["HF_TOKEN"]), (451, ["451"])]:
            self.hub.deeds["file"] = [{"status": status}]
            self.refused(IO, "pull", NAME, says=says)
        self.hub.deeds["listing"] = [{"status": 403}]
        answer = self.refused(IO, "pull", NAME, says=["HF_TOKEN", "may not read"],
                              environment={"HF_TOKEN": "hf_secret"})
        self.assertNotIn("hf_secret", answer.err)
        self.hub.always = {"status": 429, "fields": {"Retry-After": "9999"}}
        self.refused(IO, "pull", NAME, says=["429", "9999 s"])

    def test_a_token_stays_with_its_hub(self):
        with Hub({"": {"cdn.gguf": SMALL}}) as other:
            self.hub.deeds["file"] = [{"redirect": f"{other.address}/cdn.gguf?sign=abc"}]
            self.good("pull", NAME, environment={"HF_TOKEN": "hf_secret"})
            self.assertEqual({headers.get("Authorization") for _, headers in self.hub.requests},
                             {"Bearer hf_secret"})
            self.assertEqual([headers.get("Authorization") for _, headers in other.requests], [None])
        self.assertEqual(self.small.read_bytes(), SMALL)

    def test_stalls_are_given_up(self):
        self.hub.deeds["file"] = [{"stall": 1000}]
        begin = time.monotonic()
        self.pulled(NAME, "--timeout", "1")
        self.assertLess(time.monotonic() - begin, 20)
        self.assertEqual(self.small.read_bytes(), SMALL)

    def test_nobody_there(self):
        self.refused(IO, "pull", "http://127.0.0.1:1/x.gguf", "--retries", "0", "-q", says=["127.0.0.1:1"])

    def test_certificates(self):
        if not shutil.which("openssl"):
            self.skipTest("no openssl to make a certificate with")
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
                        "-nodes", "-keyout", "key", "-out", "cert", "-days", "2", "-subj", "/CN=127.0.0.1",
                        "-addext", "subjectAltName=IP:127.0.0.1"], cwd=self.folder, check=True,
                       stderr=subprocess.DEVNULL)
        tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        tls.load_cert_chain(self.folder / "cert", self.folder / "key")
        with Hub(self.FILES, tls) as hub:
            mirror = {"HF_ENDPOINT": hub.address}
            self.refused(IO, "pull", NAME, says=["cannot be trusted", "SSL_CERT_FILE"],
                         environment=mirror)
            self.pulled(NAME, environment=mirror | {"SSL_CERT_FILE": str(self.folder / "cert")})
            with Hub({"": {"x.gguf": SMALL}}) as plain:
                hub.deeds["file"] = [{"redirect": f"{plain.address}/x.gguf"}]
                self.refused(IO, "pull", f"{NAME}:Q8_0", says=["from https to http"],
                             environment=mirror | {"SSL_CERT_FILE": str(self.folder / "cert")})


def files_may_grow_to(size):
    """As a full disk does: no byte beyond can be written to any file."""
    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
    return limit


class EndsTest(PullTest):
    def test_a_full_disk_keeps_what_came(self):
        for size in [4096, 100000]:
            self.refused(IO, "pull", f"{NAME}:Q8_0", "-q", says=["cannot write", "free some space"],
                         preexec_fn=files_may_grow_to(size))
            self.assertEqual(self.large.with_name(self.large.name + ".part").read_bytes(), LARGE[:size])
        self.hub.requests.clear()
        self.assertEqual(self.pulled(f"{NAME}:Q8_0")["files"][0]["resumed_bytes"], 100000)
        self.assertEqual(self.hub.file_requests()[0][1]["Range"], "bytes=100000-")
        self.assertEqual(self.large.read_bytes(), LARGE)

    def test_too_little_space_is_said_before_anything_is_fetched(self):
        huge = json.dumps([{"type": "file", "path": "x.gguf", "size": 1 << 60}]).encode()
        self.hub.deeds["listing"] = [{"body": huge}]
        self.refused(IO, "pull", NAME, says=["more are needed", "are free there", "HWTV_CACHE"])
        self.assertEqual(self.hub.file_requests(), [])

    def test_a_folder_that_cannot_be_written(self):
        (self.folder / "blocked").write_text("in the way")
        self.refused(IO, "pull", NAME, environment={"HWTV_CACHE": str(self.folder / "blocked")},
                     says=["blocked"])
        if os.geteuid() != 0:  # root may write anywhere
            self.models.chmod(0o500)
            self.addCleanup(self.models.chmod, 0o700)
            self.refused(IO, "pull", NAME, says=["permissions"])

    def start_slowly(self, bytes_per_s=1 << 20):
        self.hub.requests.clear()
        self.hub.deeds["file"] = [{"bytes_per_s": bytes_per_s}]
        process = self.start("pull", f"{NAME}:Q8_0", "--json", start_new_session=True)
        part = self.large.with_name(self.large.name + ".part")
        end = time.monotonic() + 30
        while not (part.exists() and part.stat().st_size > 100000):
            self.assertLess(time.monotonic(), end)
            time.sleep(0.02)
        return process, part

    def test_interrupt_and_kill_lose_nothing(self):
        for sent, code in [(signal.SIGINT, CANCELLED), (signal.SIGTERM, -15), (signal.SIGKILL, -9)]:
            process, part = self.start_slowly()
            size = part.stat().st_size
            process.send_signal(sent)
            out, err = process.communicate(timeout=30)
            self.assertEqual(process.returncode, code, err)
            self.assertEqual(out, b"")
            self.assertEqual(part.read_bytes(), LARGE[:part.stat().st_size])
            self.assertGreaterEqual(part.stat().st_size, size)
            self.assertFalse(self.large.exists())
        self.assertIn("kept", err.decode() + "kept")
        self.assertGreater(self.pulled(f"{NAME}:Q8_0")["files"][0]["resumed_bytes"], 100000)
        self.assertEqual(self.large.read_bytes(), LARGE)

    def test_several_processes_fetch_one_file_once(self):
        first, _ = self.start_slowly(4 << 20)
        others = [self.start("pull", f"{NAME}:Q8_0", "--json") for _ in range(3)]
        for process in [first, *others]:
            out, err = process.communicate(timeout=60)
            self.assertEqual(process.returncode, OK, err)
            self.assertEqual(json.loads(out)["files"][0]["sha256"], sha256(LARGE))
        self.assertEqual(len(self.hub.file_requests()), 1)
        self.assertEqual(self.left(), [])

    def test_another_takes_over_where_one_is_killed(self):
        first, _ = self.start_slowly()
        other = self.start("pull", f"{NAME}:Q8_0", "--json")
        time.sleep(0.3)
        first.kill()
        first.communicate()
        out, err = other.communicate(timeout=60)
        self.assertEqual(other.returncode, OK, err)
        self.assertIn(b"another process fetches", err)
        self.assertGreater(json.loads(out)["files"][0]["resumed_bytes"], 0)
        self.assertEqual(self.large.read_bytes(), LARGE)


if __name__ == "__main__":
    main()
