"""One owner's entries that outlive a conversation: timers, lists, orders, appointments, and more.

The owner is given once, when a store is made, so no tool sees the entries of another owner. The
store does not know what an entry means or when it is announced.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache, partial

from sqlalchemy import (
    ColumnElement,
    Connection,
    Delete,
    Executable,
    ScalarSelect,
    Select,
    Table,
    Update,
    delete,
    insert,
    literal,
    select,
    update,
)

from voice.callers import Owner
from voice.errors import ConflictError
from voice.tools.database import Database
from voice.tools.database.tables import (
    alerts,
    appointments,
    facts,
    flows,
    list_items,
    orders,
    owned_by,
)
from voice.tools.scope import Inverses


class AlertKind(StrEnum):
    """A kind of entry that can be due."""

    TIMER = "timer"
    ALARM = "alarm"
    REMINDER = "reminder"


@dataclass(frozen=True, slots=True)
class Alert:
    """An entry to be announced when it is due.

    Attributes:
        label: A timer's name, a reminder's text; may be empty.
        due: Seconds since the epoch; None for a reminder without a time.
        length_s: The length of a timer; 0 for the others.
        session_id: The session that set it.
        repeat: The rule by which it repeats, as in RFC 5545; empty if it does not.
    """

    id: int
    kind: AlertKind
    label: str
    due: float | None
    length_s: float
    session_id: str
    repeat: str = ""


@dataclass(frozen=True, slots=True)
class Fact:
    """Something the owner asked the agent to remember, in their own words.

    Attributes:
        about: "name" if the content is what they want to be called; else empty.
    """

    id: int
    about: str
    content: str


_FIELDS = [alerts.c[name] for name in Alert.__dataclass_fields__]


class Store:
    """The entries of one caller at one agent; cheap to make.

    Args:
        database: Where they are kept.
        owner: The agent and the caller.
        inverses: Gets a function that undoes each change that can be undone.
    """

    def __init__(self, database: Database, owner: Owner, inverses: Inverses | None = None) -> None:
        self._database = database
        self._owner = owner
        self._inverses = Inverses() if inverses is None else inverses
        self._owned = {"agent": owner.agent, "caller": str(owner.caller)}

    def add_alert(
        self,
        kind: AlertKind,
        label: str,
        due: float | None,
        session_id: str,
        length_s: float = 0.0,
        repeat: str = "",
    ) -> Alert:
        """Keep an entry that is due at ``due``, seconds since the epoch."""
        ends_s, boot = None, ""
        if kind is AlertKind.TIMER and due:
            ends_s, boot = self._database.countdown(due)
        (added,) = self._database.write(
            insert(alerts).values(
                **self._owned,
                kind=kind.value,
                label=label,
                due=due,
                length_s=length_s,
                session_id=session_id,
                repeat=repeat,
                ends_s=ends_s,
                boot=boot,
            )
        )
        key = added.inserted_primary_key
        assert key is not None
        self._inverses.append(lambda: self.remove_alert(key[0]))
        return Alert(key[0], kind, label, due, length_s, session_id, repeat)

    def alerts(self, kind: AlertKind | None = None, due_by: float | None = None) -> list[Alert]:
        """Entries not announced yet, soonest first, those without a due time last.

        Args:
            kind: Only of this kind.
            due_by: Only those due by then, seconds since the epoch.
        """
        query = select(*_FIELDS).where(self._mine(alerts), ~alerts.c.told)
        if kind is not None:
            query = query.where(alerts.c.kind == kind.value)
        if due_by is not None:
            query = query.where(alerts.c.due <= due_by)
        return self._alerts(query.order_by(alerts.c.due.nulls_last(), alerts.c.id))

    def next_due(self, after: float) -> float | None:
        """When the first entry after ``after`` is due, seconds since the epoch; None if none is."""
        query = select(alerts.c.due).where(self._mine(alerts), ~alerts.c.told, alerts.c.due > after)
        rows = self._database.read(query.order_by(alerts.c.due).limit(1))
        return rows[0][0] if rows else None

    def take_alert(self, alert: Alert, now: float, until: float) -> bool:
        """Take an entry, so that nobody else announces it.

        At ``until``, in seconds since the epoch like ``now``, it is free again, because its taker
        may have crashed. False if another has taken it, or it was told, changed or removed.
        """
        free = alerts.c.due.is_not_distinct_from(alert.due) & (alerts.c.taken_until <= now)
        taken = self._untold(alert.id).where(free)
        return self._changes(taken.values(taken_until=until, taken_by=self._database.name))

    def hold_alerts(self, taken: Iterable[Alert], until: float) -> None:
        """Extend the hold on taken entries, except on those that another has taken since."""
        held = update(alerts).where(self._taken(), alerts.c.id.in_([alert.id for alert in taken]))
        self._database.write(held.values(taken_until=until))

    def put_back_alert(self, alert: Alert) -> None:
        """Undo `take_alert`."""
        self._database.write(self._put_back(alert))

    def tell_alert(self, alert: Alert, next_due: float | None = None) -> None:
        """Mark an entry as announced, or as due again at ``next_due``, unless it was changed."""
        told = self._untold(alert.id).where(alerts.c.due.is_not_distinct_from(alert.due))
        again = {"told": True} if next_due is None else {"due": next_due}
        self._database.write(told.values(again), self._put_back(alert))

    def change_alert(self, alert: Alert) -> bool:
        """Change an entry's due time, length and repeat; False if it was announced or deleted."""
        had = self._alerts(select(*_FIELDS).where(self._kept(alert.id)))
        changed = self._changes(
            self._untold(alert.id).values(
                ends_s=alerts.c.ends_s + alert.due - alerts.c.due,
                due=alert.due,
                length_s=alert.length_s,
                repeat=alert.repeat,
            )
        )
        if changed:
            self._inverses.extend(partial(self.change_alert, old) for old in had)
        return changed

    def remove_alert(self, alert_id: int) -> bool:
        """Delete an entry; False if it was already announced or deleted."""
        return self._remove(alerts, self._kept(alert_id))

    def add_item(self, list_name: str, *items: str) -> None:
        """Append items to a list, all or none; the list need not exist."""
        self._database.write(*self._adding(list_name, items))
        self._inverses.extend(partial(self.remove_item, list_name, item) for item in items)

    def add_new_items(
        self, list_name: str, items: Sequence[str], key: Callable[[str], str]
    ) -> list[str]:
        """Append those items that a list does not have yet, and return them.

        Args:
            key: Equal for items that are the same.
        """
        new: list[str] = []

        def adding(connection: Connection) -> list[Executable]:
            had = {key(item) for (item,) in connection.execute(self._on_list(list_name))}
            new.extend(item for item in items if key(item) not in had)
            return self._adding(list_name, new)

        self._database.change(list_items, adding)
        self._inverses.extend(partial(self.remove_item, list_name, item) for item in new)
        return new

    def _adding(self, list_name: str, items: Sequence[str]) -> list[Executable]:
        add = insert(list_items)
        return [add.values(**self._owned, list=list_name, item=item) for item in items]

    def remove_item(self, list_name: str, item: str) -> bool:
        """Remove the oldest such item from a list; False if it is not there."""
        oldest = self._oldest(list_name, item)
        removed = self._changes(delete(list_items).where(list_items.c.id == oldest))
        if removed:
            self._inverses.append(lambda: self.add_item(list_name, item))
        return removed

    def move_item(self, list_name: str, item: str, to: str) -> bool:
        """Move an item to the end of another list; False if it is not there."""
        oldest = list_items.c.id == self._oldest(list_name, item)
        same = [list_items.c[name] for name in ("agent", "caller", "created", "item")]
        # A new row, because items are listed in the order of their ids.
        new = insert(list_items).from_select(
            [*same, list_items.c.list], select(*same, literal(to)).where(oldest)
        )
        _, moved = self._database.write(new, delete(list_items).where(oldest))
        if moved.rowcount == 1:
            self._inverses.append(lambda: self.move_item(to, item, list_name))
        return moved.rowcount == 1

    def clear_items(self, list_name: str) -> list[str]:
        """Delete all items of a list; returns them, oldest first."""
        cleared = delete(list_items).where(self._mine(list_items), list_items.c.list == list_name)
        rows = self._database.read(cleared.returning(list_items.c.id, list_items.c.item))
        items = [item for _, item in sorted(tuple(row) for row in rows)]
        if items:
            self._inverses.append(lambda: self.add_item(list_name, *items))
        return items

    def lists(self) -> list[str]:
        """The names of all lists that have items."""
        query = select(list_items.c.list).where(self._mine(list_items)).distinct()
        return [name for (name,) in self._database.read(query)]

    def items(self, list_name: str) -> list[str]:
        """The items of a list, oldest first; an unknown list is empty."""
        return [item for (item,) in self._database.read(self._on_list(list_name))]

    def _on_list(self, list_name: str) -> Select[str]:
        there = self._mine(list_items) & (list_items.c.list == list_name)
        return select(list_items.c.item).where(there).order_by(list_items.c.id)

    def place_order(self, customer: str, content: str, placed: float) -> int:
        """Keep a confirmed order and return its id; ``placed`` is in seconds since the epoch."""
        order = {"placed": placed, "customer": customer, "content": content}
        placing = insert(orders).values(**self._owned, **order).returning(orders.c.id)
        ((order_id,),) = self._database.read(placing)
        return int(order_id)

    def change_order(self, order_id: int, customer: str, content: str) -> bool:
        """Change a placed order; an empty content deletes it. False if there is no such order."""
        mine = self._mine(orders) & (orders.c.id == order_id)
        if not content:
            return self._remove(orders, mine)
        self._inverses.extend(
            partial(self.change_order, order_id, old.customer, old.content)
            for old in self._database.read(select(orders).where(mine))
        )
        changed = {"customer": customer, "content": content}
        return self._changes(update(orders).where(mine).values(**changed))

    def orders(self) -> list[tuple[float, str, str]]:
        """Moment, customer and content of every order placed, oldest first."""
        query = select(orders.c.placed, orders.c.customer, orders.c.content)
        rows = self._database.read(query.where(self._mine(orders)).order_by(orders.c.id))
        return [(placed, customer, content) for placed, customer, content in rows]

    def book(self, due: float, name: str, about: str) -> bool:
        """Keep an appointment at ``due``, seconds since the epoch; False if that time is taken."""
        booked = insert(appointments).values(**self._owned, due=due, name=name, about=about)
        try:
            self._database.write(booked)
        except ConflictError:
            return False
        return True

    def move_appointment(self, old: float, due: float) -> bool:
        """Move an appointment; False if there is none at ``old``, or if ``due`` is taken."""
        mine = self._mine(appointments) & (appointments.c.due == old)
        try:
            return self._changes(update(appointments).where(mine).values(due=due))
        except ConflictError:
            return False

    def taken_between(self, first: float, last: float) -> set[float]:
        """The times of anybody's appointments with the agent from ``first`` to ``last`` inclusive.

        It does not tell whose they are.
        """
        there = appointments.c.agent == self._owner.agent
        taken = select(appointments.c.due).where(there, appointments.c.due.between(first, last))
        return {due for (due,) in self._database.read(taken)}

    def appointments(self, after: float) -> list[tuple[float, str, str]]:
        """Moment, name and matter of every appointment later than ``after``, soonest first."""
        query = select(appointments.c.due, appointments.c.name, appointments.c.about).where(
            self._mine(appointments), appointments.c.due > after
        )
        rows = self._database.read(query.order_by(appointments.c.due))
        return [(due, name, about) for due, name, about in rows]

    def cancel_appointment(self, due: float) -> bool:
        """Delete the appointment at ``due``; False if there is none."""
        mine = self._mine(appointments) & (appointments.c.due == due)
        return self._changes(delete(appointments).where(mine))

    def save_flow(self, content: str, saved: float, session_id: str, until: float) -> None:
        """Keep a conversation's position in a flow, replacing the one kept before.

        Args:
            content: The position; if empty, nothing is kept.
            saved: When it was reached, in seconds since the epoch.
            session_id: The conversation.
            until: Until when no other conversation may take it, in seconds since the epoch.
        """
        row = {"saved": saved, "content": content, "session_id": session_id, "taken_until": until}
        kept = [insert(flows).values(**self._owned, **row)] if content else []
        self._database.write(delete(flows).where(self._flow_of(session_id)), *kept)

    def take_flow(self, session_id: str, now: float, until: float, after: float) -> str:
        """Take the caller's newest flow that no conversation holds, if saved after ``after``.

        Returns:
            The position in it; empty if there is none.
        """
        free = self._mine(flows) & (flows.c.taken_until <= now) & (flows.c.saved > after)
        newest = select(flows.c.id).where(free).order_by(flows.c.id.desc()).limit(1)
        taken = update(flows).where(free, flows.c.id == newest.scalar_subquery())
        had = taken.values(session_id=session_id, taken_until=until).returning(flows.c.content)
        return next((content for (content,) in self._database.read(had)), "")

    def hold_flow(self, session_id: str, until: float) -> None:
        """Hold a conversation's flow until ``until``, seconds since the epoch; then it is free."""
        held = update(flows).where(self._flow_of(session_id))
        self._database.write(held.values(taken_until=until))

    def _flow_of(self, session_id: str) -> ColumnElement[bool]:
        return self._mine(flows) & (flows.c.session_id == session_id)

    def facts(self) -> list[Fact]:
        """All remembered facts, oldest first."""
        query = select(facts.c.id, facts.c.about, facts.c.content).where(self._mine(facts))
        return [Fact(*row) for row in self._database.read(query.order_by(facts.c.id))]

    def keep_fact(
        self, content: str, changed: float, about: str = "", was: Fact | None = None
    ) -> None:
        """Remember a fact, in place of ``was`` if given; ``changed``: seconds since the epoch."""
        row = {"content": content, "changed": changed, "about": about}
        if was is None:
            (added,) = self._database.write(insert(facts).values(**self._owned, **row))
            key = added.inserted_primary_key
            assert key is not None
            self._inverses.append(lambda: self.remove_fact(key[0]))
        else:
            mine = self._mine(facts) & (facts.c.id == was.id)
            self._inverses.extend(
                partial(self.keep_fact, old.content, old.changed, old.about, was)
                for old in self._database.read(select(facts).where(mine))
            )
            self._database.write(update(facts).where(mine).values(row))

    def remove_fact(self, fact_id: int) -> bool:
        """Forget a fact; False if it was not there."""
        return self._remove(facts, self._mine(facts) & (facts.c.id == fact_id))

    def forget(self) -> None:
        """Delete all entries of the owner."""
        self._database.delete(self._owner.caller, self._owner.agent)

    def _alerts(self, statement: Executable) -> list[Alert]:
        rows = self._database.read(statement)
        return [Alert(row[0], AlertKind(row[1]), *row[2:]) for row in rows]

    def _kept(self, alert_id: int) -> ColumnElement[bool]:
        """Selects the entry of an id, unless it was announced."""
        return self._mine(alerts) & (alerts.c.id == alert_id) & ~alerts.c.told

    def _remove(self, table: Table, which: ColumnElement[bool]) -> bool:
        """Delete rows and return whether there were any.

        To undo it, they are inserted with the ids they had, which other inverses may name.
        """
        removed = self._database.read(delete(table).where(which).returning(table))
        self._inverses.extend(
            partial(self._database.write, insert(table).values(row._asdict())) for row in removed
        )
        return bool(removed)

    def _mine(self, table: Table) -> ColumnElement[bool]:
        return owned_by(table, self._owner.caller, self._owner.agent)

    def _untold(self, alert_id: int) -> Update:
        """An update of an entry, unless it was announced."""
        return update(alerts).where(self._kept(alert_id))

    def _put_back(self, alert: Alert) -> Update:
        mine = update(alerts).where(self._taken(), alerts.c.id == alert.id)
        return mine.values(taken_until=0.0, taken_by="")

    def _taken(self) -> ColumnElement[bool]:
        return self._mine(alerts) & (alerts.c.taken_by == self._database.name)

    def _oldest(self, list_name: str, item: str) -> ScalarSelect[int]:
        """The id of the oldest such item that nobody else is removing."""
        same = (list_items.c.list == list_name) & (list_items.c.item == item)
        query = select(list_items.c.id).where(self._mine(list_items), same)
        return (
            query.order_by(list_items.c.id)
            .limit(1)
            .with_for_update(skip_locked=True)
            .scalar_subquery()
        )

    def _changes(self, statement: Update | Delete) -> bool:
        """Execute a statement and return whether it changed an entry."""
        (result,) = self._database.write(statement)
        return result.rowcount == 1


class Glance(Store):
    """A store that reads lists, items and facts once and then returns them from memory.

    It is for readers of values, which look up every span of a message.
    """

    def __init__(self, database: Database, owner: Owner) -> None:
        super().__init__(database, owner)
        self._seen = cache(super().lists), cache(super().items), cache(super().facts)

    def lists(self) -> list[str]:
        """See `Store.lists`."""
        return self._seen[0]()

    def items(self, list_name: str) -> list[str]:
        """See `Store.items`."""
        return self._seen[1](list_name)

    def facts(self) -> list[Fact]:
        """See `Store.facts`."""
        return self._seen[2]()
