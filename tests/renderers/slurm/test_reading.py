"""The strict reader sees what Slurm would see, and refuses everything that it might read otherwise."""

from __future__ import annotations

import pytest

from renderers.payload import jobs_of
from renderers.slurm.reading import check, components
from tests.renderers.slurm.site import a_site, whole_nodes

GOOD = """#!/bin/bash
#SBATCH --job-name=a
#SBATCH --comment=planner:job/a/b@1
#SBATCH --account=a
#SBATCH --qos=p2
#SBATCH --partition=gpu
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=1
#SBATCH --gres=gpu:h100:8,nvme:2
#SBATCH --time=0-01:00:00
#SBATCH --begin=uts1796083200

# comment
true
#SBATCH --wrap=evil
"""


def test_reading_ends_where_slurm_stops() -> None:
    (component,) = components(GOOD)
    assert component.get("nodes") == "2"
    assert component.gpus() == (("h100", 8),)
    assert not component.has("wrap")


def test_a_separator_begins_another_component() -> None:
    head, _, rest = GOOD.partition("\n")
    directives = rest.partition("\n\n")[0]
    assert len(components(f"{head}\n{directives}\n#SBATCH hetjob\n{directives}\n\ntrue\n")) == 2


@pytest.mark.parametrize(
    "line",
    [
        "#SBATCH --job-name='a'",
        '#SBATCH --comment="a b"',
        "#SBATCH --comment=a b",
        "#SBATCH --comment=a#b",
        "#SBATCH --comment=a\\",
        "#SBATCH -J a",
        "#SBATCH --comment",
        "#SBATCH --wrap=id",
        "#SBATCH --requeue=yes",
        "#SBATCH  --qos=p1",
        "#SBATCH --qos=p1 ",
        "#SBATCH --qos=p1 # prio",
        "#SBATCH --output=$HOME/x",
        "#SBATCHhetjob",
    ],
)
def test_a_line_of_another_form_is_refused(line: str) -> None:
    without = GOOD.replace("#SBATCH --comment=planner:job/a/b@1\n", "").replace("#SBATCH --qos=p2\n", "")
    with pytest.raises(ValueError, match="is not"):
        components(without.replace("#SBATCH --job-name=a", f"#SBATCH --job-name=a\n{line}", 1))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("#SBATCH --nodes=2\n", "#SBATCH --nodes=2\n#SBATCH --nodes=2\n"),
        ("#SBATCH --time=0-01:00:00\n", ""),
        ("#SBATCH --qos=p2\n", "#SBATCH --qos=p2\n#SBATCH --requeue\n#SBATCH --no-requeue\n"),
        ("#SBATCH --qos=p2\n", "#SBATCH --qos=p2\n#SBATCH --nodelist=a\n#SBATCH --exclude=b\n"),
        ("#!/bin/bash\n", "#!/bin/sh\n"),
    ],
)
def test_what_contradicts_itself_or_lacks_something_is_refused(old: str, new: str) -> None:
    with pytest.raises(ValueError, match=r"once|exclude each other|begins with"):
        components(GOOD.replace(old, new, 1))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("--nodes=2", "--nodes=3"),
        ("gpu:h100:8", "gpu:h100:16"),
        ("gpu:h100:8", "gpu:h100:7"),
        ("--begin=uts1796083200", "--begin=uts1796083201"),
        ("gpu-[001-002]", "gpu-[001-003]"),
        ("gpu-[001-002]", "gpu-[002-003]"),
    ],
)
def test_a_script_that_says_something_else_than_the_plan_is_noticed(old: str, new: str) -> None:
    site = a_site("command: ['true']", "gpus: 16", nodes=whole_nodes(2))
    (payload,) = jobs_of(site.plan, site.specs, site.specs.cluster("hpc"))
    script = site.script()
    check(script, payload)
    assert old in script
    with pytest.raises(ValueError, match="the plan"):
        check(script.replace(old, new), payload)
