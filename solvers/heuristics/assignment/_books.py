"""Who is where (numba): parcels leave and enter leaves, and a journal knows how to take a round back.

`where[s]` is the leaf (by position) of every parcel; those of leaf l are members[first[l] : first[l] + there[l]], and place[s]
is where s stands among them. The journal keeps what a round changes: who left which leaf, and the filters as they were.
"""

from __future__ import annotations

from yardline.solvers.kernels import kernel

ROUND, TOUCHED, LEFT, MOVED = 0, 1, 2, 3  # what the journal's clock counts


@kernel
def leave(s, people, seats, books):  # type: ignore[no-untyped-def]
    """A parcel is nowhere from now on; the last member of its leaf takes its place."""
    l = books.where[s]
    books.there[l] -= 1
    last = books.members[books.first[l] + books.there[l]]
    books.members[books.place[s]], books.place[last] = last, books.place[s]
    seats.loads[l] -= people.many[s]
    books.where[s] = -1


@kernel
def enter(s, l, people, seats, books):  # type: ignore[no-untyped-def]
    """A parcel that is nowhere goes to leaf l."""
    books.place[s], books.where[s] = books.first[l] + books.there[l], l
    books.members[books.place[s]] = s
    books.there[l] += 1
    seats.loads[l] += people.many[s]


@kernel
def listed(people, seats, books):  # type: ignore[no-untyped-def]
    """The members of an assignment; -1: nowhere yet."""
    books.there[:] = 0
    seats.loads[:] = 0
    for s in range(len(books.where)):
        if books.where[s] >= 0:
            enter(s, books.where[s], people, seats, books)


@kernel
def gone(s, people, seats, books, journal):  # type: ignore[no-untyped-def]
    """A parcel leaves, and the journal knows from where; no parcel twice in a round."""
    journal.who[journal.clock[LEFT]], journal.old[journal.clock[LEFT]] = s, books.where[s]
    journal.clock[LEFT] += 1
    journal.left[s] = journal.clock[ROUND]
    leave(s, people, seats, books)


@kernel
def save(b, f, journal):  # type: ignore[no-untyped-def]
    """Broker b and those above it are about to change."""
    while b >= 0 and journal.mark[b] != journal.clock[ROUND]:
        journal.mark[b] = journal.clock[ROUND]
        journal.touched[journal.clock[TOUCHED]] = b
        journal.clock[TOUCHED] += 1
        journal.low[b], journal.high[b], journal.own[b] = f.low[b], f.high[b], f.own[b]
        journal.count[b], journal.size[b] = f.count[b], f.size[b]
        b = f.parent[b]


@kernel
def undo(people, seats, books, f, journal):  # type: ignore[no-untyped-def]
    """Everything as it was before the round."""
    for i in range(journal.clock[LEFT]):
        if books.where[journal.who[i]] >= 0:
            leave(journal.who[i], people, seats, books)
    for i in range(journal.clock[LEFT]):
        enter(journal.who[i], journal.old[i], people, seats, books)
    for i in range(journal.clock[TOUCHED]):
        b = journal.touched[i]
        f.low[b], f.high[b], f.own[b] = journal.low[b], journal.high[b], journal.own[b]
        f.count[b], f.size[b] = journal.count[b], journal.size[b]
