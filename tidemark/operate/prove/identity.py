"""Says which states of homes are equal, whatever runs are called there and when they ran.

A job that starts from one of two equal states does what it does from the other.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from hashlib import sha256

# The beginning of a random id or a digest; a letter and a number, such as b0000012, count things.
SHORT_ID = r"(?<![0-9A-Za-z])(?=[a-f]*[0-9]+[a-f])[0-9a-f]{8,31}(?![0-9A-Za-z])"
# Ids of runs, random ids, and digests; windows of the library and their attempts.
ID = (
    r"jr_[0-9a-f]+|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|\b[0-9a-f]{32,64}\b"
    r"|\b\d{10}-[0-9a-f]{16}\b"
    r'|(?:(?<=window=\d{10}-[0-9a-f]{16}/)|(?<="N": "))attempt=\d{10}\b'
    rf"|{SHORT_ID}"
)
TIME = (
    r"(?<!\d)(?:20\d\d-?[01]\d-?[0-3]\d[T _-]?[0-2]\d[:-]?[0-5]\d(?:[:-]?[0-5]\d(?:\.?\d{1,9})?)?"
    r"|1\d{9}(?:\.\d+|\d{3}|\d{6}|\d{9})?)(?!\d)"
)
MADE_UP = re.compile(f"({ID}|{TIME})")
A_TIME = re.compile(TIME)
DAY_S = 86_400.0  # a time zone may be ahead
SECONDS_DIGITS = 10  # of seconds since 1970
ROUNDS = 2  # what names an object that names another one


@dataclass(frozen=True)
class Piece:
    """A part of a state.

    Attributes:
        name: what it is a part of, such as the path of an object, or the folder of a row.
        text: what it holds.
        count: how many rows that is.
    """

    name: str
    text: str
    count: int = 1


def condensed(texts: Sequence[str], since: float) -> list[Piece]:
    """Return the texts that runs may have made up a part of, and one piece for all others.

    That is the same for the same texts, whatever their order.
    """
    pieces, others = list[Piece](), list[str]()
    for text in texts:
        if _has_made_up(text, since):
            pieces.append(Piece("", text))
        else:
            others.append(text)
    if len(others) == 1:
        return [*pieces, Piece("", others[0])]
    total = sum(int.from_bytes(sha256(text.encode()).digest()) for text in others)
    return [*pieces, Piece("", f"{total}", len(others))] if others else pieces


@lru_cache(maxsize=50_000)  # equal runs write the same rows again
def _has_made_up(text: str, since: float) -> bool:
    """Return whether a part of a text may be another one in an equal run; times of data are not."""
    return any(
        not A_TIME.fullmatch(word) or _is_new(_seconds(word), since)
        for word in MADE_UP.findall(text)
    )


def _is_new(at: float, since: float) -> bool:
    return 0 <= at - since < DAY_S


def seconds_in(pieces: Iterable[Piece], since: float) -> set[str]:
    """Return the numbers of seconds since 1970 in pieces that are not before the proof began."""
    words = {word for piece in pieces for word in MADE_UP.findall(piece.text)}
    return {word for word in words if len(word) == SECONDS_DIGITS and _seconds(word) >= since - 1}


def _is_ahead(word: str, since: float) -> bool:
    """Return whether a word is a number of seconds so late that no run has ended by then."""
    return word.isdigit() and len(word) == SECONDS_DIGITS and int(word) - since >= DAY_S


@dataclass(frozen=True)
class Equality:
    """Which differences between states count.

    Attributes:
        since: when the proof began, in seconds since 1970: later times count by their order, those
            of other days by the day, and those of data and of files that were there as they are.
        stable: ids that every run makes, such as a digest of its input, and times ahead: they count
            as they are.
        noisy: pieces, by name, that differ in equal runs. For `identity` they are never the same;
            for `likeness` it counts how many there are.
    """

    since: float
    stable: Collection[str] = frozenset()
    noisy: Collection[str] = frozenset()


def learned(since: float, one: Sequence[Piece], other: Sequence[Piece]) -> Equality:
    """Return which differences count, from what two equal runs have left."""
    equality = Equality(since, _stable(one, since) & _stable(other, since))
    texts = [
        {(piece.name, piece.text) for piece in rendered(pieces, equality)}
        for pieces in (one, other)
    ]
    return Equality(since, equality.stable, {name for name, _ in texts[0] ^ texts[1]})


def identity(pieces: Iterable[Piece]) -> str:
    """Return the same text for equal states, of which these are the rendered pieces."""
    return _digest(sorted(f"{piece.name}\n{piece.text}" for piece in pieces))


def likeness(pieces: Iterable[Piece], noisy: Collection[str]) -> str:
    """Return the same text for states that are equal but for what differs by chance.

    Of noisy pieces it counts how many there are, by their names.
    """
    counts, texts = Counter[str](), []
    for piece in pieces:
        if piece.name in noisy:
            counts[piece.name] += piece.count
        else:
            texts.append(f"{piece.name}\n{piece.text}")
    return _digest(sorted([*texts, *(f"{name} {count}" for name, count in counts.items())]))


def rendered(pieces: Sequence[Piece], equality: Equality) -> list[Piece]:
    """Return pieces without what their runs have made up.

    Ids are the same if they stand in the same places. Times count by their order.
    """
    split = [_split(piece.name, piece.text) for piece in pieces]
    words = {word for _, parts in split for word in parts[1::2]}
    times = {word: _seconds(word) for word in words if A_TIME.fullmatch(word)}
    ids = words - times.keys() - set(equality.stable)
    new = [at for at in times.values() if _is_new(at, equality.since)]
    order = {at: rank for rank, at in enumerate(sorted(set(new)))}
    shown = {word: f"time {order[at]}" for word, at in times.items() if at in order}
    shown |= {
        word: f"{(at - equality.since) // DAY_S} days ahead"
        for word, at in times.items()
        if word not in equality.stable and _is_ahead(word, equality.since)
    }
    shown |= dict.fromkeys(ids, "id")
    for _ in range(ROUNDS if ids else 0):
        shown |= _by_their_places([parts for _, parts in split], ids, shown)
    return [
        Piece(name, "".join(shown.get(part, part) for part in parts), piece.count)
        for piece, (name, parts) in zip(pieces, split, strict=True)
    ]


@lru_cache(maxsize=20_000)  # the states of a run share most of their pieces
def _split(name: str, text: str) -> tuple[str, Sequence[str]]:
    """Return a name without what is made up, and name and text around what is."""
    return MADE_UP.sub("*", name), MADE_UP.split(f"{name}\n{text}")


def _by_their_places(
    texts: Sequence[Sequence[str]], ids: Collection[str], shown: Mapping[str, str]
) -> dict[str, str]:
    """Return a name for each id that says where it stands: the same in an equal state."""
    places = defaultdict[str, list[str]](list)
    for parts in texts:
        text = _digest(shown.get(part, part) for part in parts)
        for at, part in enumerate(parts):
            if part in ids:
                places[part].append(f"{text} {at}")
    return {word: f"id {_digest(sorted(of_word))}" for word, of_word in places.items()}


def _stable(pieces: Sequence[Piece], since: float) -> set[str]:
    """Return the ids in pieces, and the seconds since 1970 that are ahead, such as an expiry."""
    texts = (f"{piece.name}\n{piece.text}" for piece in pieces)
    words = {word for text in texts for word in MADE_UP.findall(text)}
    return {word for word in words if not A_TIME.fullmatch(word) or _is_ahead(word, since)}


@lru_cache(maxsize=100_000)
def _seconds(word: str) -> float:
    """Return the seconds since 1970 of a time in seconds, thousandths and so on, or in words."""
    digits = word.replace(".", "") if word.startswith("1") else re.sub(r"\D", "", word)
    if word.startswith("1"):
        return float(f"{digits[:10]}.{digits[10:]}")
    with suppress(ValueError):  # such as a month 13
        at = datetime.strptime(digits[:14].ljust(14, "0"), "%Y%m%d%H%M%S").replace(tzinfo=UTC)
        return at.timestamp() + float(f"0.{digits[14:]}0")
    return 0.0


def _digest(texts: Iterable[str]) -> str:
    digest = sha256()
    for text in texts:
        digest.update(f"{len(text)} {text}".encode())
    return digest.hexdigest()
