"""Stand-ins for Slurm's client programs, which keep a queue in a file and can be killed with all who called them."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.renderers.slurm.site import Site

PROGRAMS = ("sbatch", "squeue", "sacct", "scontrol", "scancel")
PROGRAM = f"""#!{sys.executable} -S
import json, os, re, signal, sys
state = os.environ["STATE"]
program, words = os.path.basename(sys.argv[0]), sys.argv[1:]
if os.path.exists(state + "/no" + program):
    sys.exit(1)
with open(state + "/queue.json") as file:
    queue = json.load(file)
def option(name):
    return next((word.partition("=")[2] for word in words if word.startswith("--" + name + "=")), "")
def job(text):
    return next(item for item in queue["jobs"] if item["id"] == int(text))
def waits(item):
    ids = [each for each in item["waits"] if each in {{other["id"] for other in queue["jobs"]}}]
    return ",".join(f"afterok:{{each}}(unfulfilled)" for each in ids) or "(null)"
if program == "squeue":
    for item in queue["jobs"]:
        print("|".join(str(part) for part in (
            item["id"], item["state"], item["reason"], waits(item), item["name"], item["comment"])))
    sys.exit()
if program == "sacct":
    queue["asked"].append(os.environ.get("TZ", "") + " " + " ".join(words))
    for name, number in queue["done" if option("state") == "COMPLETED" else "failed"]:
        print(name, number)
else:
    queue["calls"].append(" ".join([program, *words]))
    if queue["limit"] == len(queue["calls"]) - 1:
        os.killpg(0, signal.SIGKILL)
if program == "sbatch":
    script = open(words[-1]).read()
    values = dict(re.findall(r"^#SBATCH --([a-z-]+)=(.*)$", script, re.M))
    queue["last"] += 1
    queue["jobs"].append(dict(
        id=queue["last"], state="PENDING", reason="BeginTime", name=values["job-name"], comment=values["comment"],
        waits=[int(each) for each in option("dependency").split(":")[1:]], given=dict(
            Account=values["account"], QOS=values["qos"], StartTime=values["begin"],
            ReqNodeList=values.get("nodelist", ""), ExcNodeList=values.get("exclude", ""))))
    queue["leaked"] += [each for each in os.environ if re.match("SLURM_|SBATCH_", each)]
    print(f"{{queue['last']}};hpc")
elif program == "scancel":
    queue["jobs"].remove(job(words[0]))
elif program == "scontrol" and words[0] == "uhold":
    job(words[1])["reason"] = "JobHeldUser"
elif program == "scontrol" and words[0] == "release":
    job(words[1])["reason"] = "BeginTime"
elif program == "scontrol" and words[0] == "update":
    changed = dict(word.split("=", 1) for word in words[1:])
    item = job(changed.pop("JobId"))
    item["comment"] = changed.pop("Comment", item["comment"])
    if "Dependency" in changed:
        item["waits"] = [int(each) for each in changed.pop("Dependency").split(":")[1:]]
    item["given"].update(changed)
with open(state + "/queue.json.new", "w") as file:
    json.dump(queue, file)
os.rename(state + "/queue.json.new", state + "/queue.json")
"""


class Controller:
    """A folder with rendered files and programs that act as Slurm's."""

    def __init__(self, folder: Path, site: Site) -> None:
        self.folder = folder
        self.render(site)
        for name in PROGRAMS:
            (folder / name).write_text(PROGRAM)
            (folder / name).chmod(0o755)
        self.queue: dict[str, Any] = {
            "jobs": [], "calls": [], "asked": [], "leaked": [], "done": [], "failed": [], "last": 99, "limit": -1
        }  # fmt: skip
        self.save()

    def render(self, site: Site) -> None:
        """Put the files of a plan where the last one's are."""
        for manifest in site.rendered.manifests:
            path = self.folder / manifest.path
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(manifest.text)
            path.chmod(0o755 if manifest.executable else 0o644)

    def save(self, **values: Any) -> None:
        """Make the queue what `queue` says, with further values."""
        self.queue |= values
        (self.folder / "queue.json").write_text(json.dumps(self.queue))

    def submit(self, *, check: bool = True, **environment: str) -> list[str]:
        """Run the program; the lines that it prints."""
        base = {"PATH": f"{self.folder}:{os.environ['PATH']}", "STATE": str(self.folder)}
        done = subprocess.run(
            [self.folder / "hpc" / "submit.sh"],
            env=base | environment, text=True, capture_output=True, check=check, start_new_session=True,
        )  # fmt: skip
        self.queue = json.loads((self.folder / "queue.json").read_text())
        return done.stdout.splitlines() + done.stderr.splitlines()

    def calls(self, program: str = "") -> list[str]:
        """What was asked of the programs that change something."""
        return [line for line in self.queue["calls"] if line.startswith(program)]

    def submitted(self) -> list[str]:
        """The jobs that were submitted, in order."""
        return [match[1] for line in self.calls("sbatch") if (match := re.search(r"\.([a-z0-9]+)\.sbatch$", line))]

    def jobs(self) -> dict[str, dict[str, Any]]:
        """What is queued by the jobs' own names, and what each waits for by their names too."""
        names = {item["id"]: item["name"].rpartition("-")[0].partition(".")[2] for item in self.queue["jobs"]}
        assert len(set(names.values())) == len(names)
        return {
            names[item["id"]]: {
                **{key: value for key, value in item.items() if key not in ("id", "waits")},
                "waits": sorted(names[each] for each in item["waits"] if each in names),
            }
            for item in self.queue["jobs"]
        }
