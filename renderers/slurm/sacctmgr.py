"""Accounts and QOS as `sacctmgr` shows them, and the commands that make them what they should be.

Only what differs is changed, nothing is ever deleted, and what no plan speaks of is left alone: other accounts, QOS and
users, other limits of our accounts, further QOS that an account may use.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from renderers.slurm.accounts import Account, Qos, State

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

Command = tuple[str, ...]
"""The words of one command, without the name of the program."""

QOS_QUERY: Final = "name,priority,preempt,preemptmode,gracetime,preemptexempttime"
ASSOC_QUERY: Final = "cluster,account,parentname,user,share,grptres,qos"
"""What to ask: `sacctmgr -nP show qos format=…`, and the same of `assoc`."""
_NO_LIMIT: Final = -1
_PARENT_SHARE: Final = "parent"


def parse(qos: str, assoc: str, cluster: str) -> State:
    """What `sacctmgr -nP` answers to `QOS_QUERY` and `ASSOC_QUERY`, as far as it is of that cluster.

    Raises `ValueError` for an answer of another form. Users with a partition of their own appear once an account.
    """
    rows = [row for row in _rows(assoc, ASSOC_QUERY) if row["cluster"] == cluster]
    users = {(row["user"], row["account"]) for row in rows if row["user"]}
    return State(
        qos=tuple(_qos(row) for row in _rows(qos, QOS_QUERY)),
        accounts=tuple(_account(row) for row in rows if not row["user"] and row["account"] != "root"),
        users=tuple(sorted(users)),
    )


def _rows(text: str, query: str) -> Iterator[dict[str, str]]:
    names = query.split(",")
    for line in text.splitlines():
        values = line.split("|")
        if len(values) != len(names):
            raise ValueError(f"'{line}' does not have the {len(names)} fields {query}")
        yield dict(zip(names, values, strict=True))


def _qos(row: dict[str, str]) -> Qos:
    return Qos(
        name=row["name"],
        priority=int(row["priority"] or 0),
        preempt=_names(row["preempt"]),
        preempt_mode=row["preemptmode"],
        grace_seconds=seconds_of(row["gracetime"]),
        exempt_seconds=seconds_of(row["preemptexempttime"]),
    )


def _account(row: dict[str, str]) -> Account:
    share = row["share"]
    return Account(
        name=row["account"],
        parent=row["parentname"],
        fairshare=0 if share == _PARENT_SHARE else int(share or 1),
        limits=tuple(sorted(_limits(row["grptres"]))),
        qos=_names(row["qos"]),
    )


def _names(text: str) -> tuple[str, ...]:
    return tuple(sorted(filter(None, text.split(","))))


def _limits(text: str) -> Iterator[tuple[str, int | None]]:
    """`gres/gpu:h100=8,cpu=64`; amounts with a unit, such as `mem=1T`, are of others and left out."""
    for part in filter(None, text.split(",")):
        name, _, amount = part.rpartition("=")
        if amount.isdigit():
            yield name, int(amount)


def seconds_of(text: str) -> int:
    """The seconds of `[D-]HH:MM:SS`; nothing said is none, and so is `INVALID` and `UNLIMITED`."""
    match = re.fullmatch(r"(?:([0-9]+)-)?([0-9]+):([0-9]{2}):([0-9]{2})", text)
    if match is None:
        return 0
    days, hours, minutes, seconds = (int(item or 0) for item in match.groups())
    return ((days * 24 + hours) * 60 + minutes) * 60 + seconds


def difference(current: State, planned: State, cluster: str = "") -> tuple[Command, ...]:
    """The commands that lead from what is to what should be; none where nothing differs.

    `cluster` is the name that Slurm itself knows: an accounting database may serve several, and only one is meant.
    """
    where = (f"cluster={cluster}",) if cluster else ()
    return (
        *_new_qos(current, planned),
        *_changed_qos(current, planned),
        *_new_accounts(current, planned, where),
        *_changed_accounts(current, planned, where),
        *_new_users(current, planned, where),
    )


def complete(planned: State) -> tuple[Command, ...]:
    """The commands that lead to what should be from anything that may be, but for the parents of known accounts."""
    unlike = State(qos=tuple(map(_unlike_qos, planned.qos)), accounts=tuple(map(_unlike_account, planned.accounts)))
    nothing = State()
    return (
        *_new_qos(nothing, planned),
        *_changed_qos(unlike, planned),
        *_new_accounts(nothing, planned, ()),
        *_changed_accounts(unlike, planned, ()),
        *_new_users(nothing, planned, ()),
    )


def _unlike_qos(item: Qos) -> Qos:
    return Qos(
        name=item.name,
        priority=_NO_LIMIT,
        preempt_mode="",
        grace_seconds=_NO_LIMIT,
        exempt_seconds=_NO_LIMIT,
    )


def _unlike_account(item: Account) -> Account:
    limits = tuple((tres, None if amount is not None else _NO_LIMIT) for tres, amount in item.limits)
    return Account(name=item.name, parent=item.parent, fairshare=_NO_LIMIT, limits=limits)


def _new_qos(current: State, planned: State) -> Iterator[Command]:
    known = {item.name for item in current.qos}
    for item in planned.qos:
        if item.name not in known:
            yield ("add", "qos", item.name)


def _changed_qos(current: State, planned: State) -> Iterator[Command]:
    known = {item.name: item for item in current.qos}
    for item in planned.qos:
        # What is new begins as Slurm makes it.
        was = known.get(item.name, Qos(name=item.name, preempt_mode="cluster", grace_seconds=0))
        if settings := tuple(_qos_settings(was, item)):
            yield ("modify", "qos", "set", *settings, "where", f"name={item.name}")


def _qos_settings(was: Qos, item: Qos) -> Iterator[str]:
    if was.priority != item.priority:
        yield f"Priority={item.priority}"
    # A list that is emptied makes slurmdbd 22.05 see loops in all others until it is restarted.
    if item.preempt and set(was.preempt) != set(item.preempt):
        yield f"Preempt={','.join(item.preempt)}"
    if was.preempt_mode.lower() != item.preempt_mode:
        yield f"PreemptMode={item.preempt_mode}"
    if was.grace_seconds != item.grace_seconds:
        yield f"GraceTime={item.grace_seconds}"
    if was.exempt_seconds != item.exempt_seconds:
        yield f"PreemptExemptTime={_clock(item.exempt_seconds) if item.exempt_seconds else _NO_LIMIT}"


def _clock(seconds: int) -> str:
    """`HH:MM:SS`: a bare number would be minutes."""
    return f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"


def _new_accounts(current: State, planned: State, where: Command) -> Iterator[Command]:
    known = {item.name for item in current.accounts}
    for item in planned.accounts:
        if item.name not in known:
            yield ("add", "account", item.name, f"parent={item.parent}", *where)


def _changed_accounts(current: State, planned: State, where: Command) -> Iterator[Command]:
    known = {item.name: item for item in current.accounts}
    for item in planned.accounts:
        # What is new begins as Slurm makes it, below the account that it was added to.
        was = known.get(item.name, Account(name=item.name, parent=item.parent))
        # Together with a parent other settings may be passed over without a word.
        if was.parent != item.parent:
            yield ("modify", "account", "set", f"Parent={item.parent}", "where", f"name={item.name}", *where)
        if settings := tuple(_account_settings(was, item)):
            yield ("modify", "account", "set", *settings, "where", f"name={item.name}", *where)


def _account_settings(was: Account, item: Account) -> Iterator[str]:
    if was.fairshare != item.fairshare:
        yield f"Fairshare={item.fairshare}"
    if limits := tuple(_limit_changes(was, item)):
        yield f"GrpTRES={','.join(limits)}"
    if missing := [name for name in item.qos if name not in was.qos]:
        yield f"QOS+={','.join(missing)}"


def _limit_changes(was: Account, item: Account) -> Iterator[str]:
    """`modify` merges: only what is named changes, and -1 takes a limit away."""
    known = dict(was.limits)
    for tres, amount in item.limits:
        if known.get(tres) != amount:
            yield f"{tres}={_NO_LIMIT if amount is None else amount}"


def _new_users(current: State, planned: State, where: Command) -> Iterator[Command]:
    known = frozenset(current.users)
    for user, account in planned.users:
        if (user, account) not in known:
            yield ("add", "user", user, f"account={account}", *where)


def stream(commands: Iterable[Command]) -> str:
    """Commands as `sacctmgr -i` reads them from its standard input, one a line."""
    return "".join(f"{' '.join(command)}\n" for command in commands)
