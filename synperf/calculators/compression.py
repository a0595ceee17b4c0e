"""Whether it pays to compress gradients before they are sent: the bytes saved against the time of the codec."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ..collectives.bandwidth import bus_share
from ..errors import FieldError
from ..units import format_quantity, format_time
from .amounts import count, not_negative, number, positive

_MOST_RATIO, _MOST_RANKS = 1e6, 65_536


@dataclass(frozen=True, slots=True, kw_only=True)
class Compression:
    """`saving_s` is what the sending takes less, before the codec; `net_s` what is left of it after `codec_s`.

    `sent_bytes` cross the link without compression. It pays below `bandwidth_limit` bytes a second, from `least_ratio`
    on, and while the codec takes less than `saving_s`; a limit is None where there is none.
    """

    bytes: float
    sent_bytes: float
    bandwidth: float
    ratio: float
    codec_s: float
    plain_s: float
    compressed_s: float
    saving_s: float
    net_s: float
    worth_it: bool
    bandwidth_limit: float | None
    least_ratio: float | None
    why: tuple[str, ...]
    advice: tuple[str, ...]


def compression(
    *, bytes: float, bandwidth: float, ratio: float, codec_s: float = 0.0, ranks: int | None = None
) -> Compression:
    """What it brings to send `bytes` as that over `ratio`, where compressing and decompressing take `codec_s`.

    With `ranks` they are the buffer of an all-reduce around a ring, which sends 2(n-1)/n of it.

    Raises:
        FieldError: a number is not what it should be.
    """
    positive(bytes=bytes, bandwidth=bandwidth)
    not_negative(codec_s=codec_s)
    if not 1 <= number("ratio", ratio) <= _MOST_RATIO:
        raise FieldError(f"ratio must be from 1 (nothing is saved) to {_MOST_RATIO:g}, got {ratio:g}")
    sent = bytes * (1.0 if ranks is None else _share(ranks))
    plain = sent / bandwidth
    saving = plain * (1 - 1 / ratio)
    return Compression(
        bytes=bytes,
        sent_bytes=sent,
        bandwidth=bandwidth,
        ratio=ratio,
        codec_s=codec_s,
        plain_s=plain,
        compressed_s=plain / ratio + codec_s,
        saving_s=saving,
        net_s=saving - codec_s,
        worth_it=saving > codec_s,
        bandwidth_limit=sent * (1 - 1 / ratio) / codec_s if codec_s and ratio > 1 else None,
        least_ratio=plain / (plain - codec_s) if plain > codec_s else None,
        why=tuple(_why(sent, bandwidth, ratio, codec_s)),
        advice=tuple(_advice(sent, bandwidth, ratio, codec_s)),
    )


def _share(ranks: int) -> float:
    number = count("ranks", ranks, _MOST_RANKS)
    if number < 2:
        raise FieldError(f"ranks must be 2 or more, got {number}")
    return bus_share("all_reduce", number)


def _why(sent: float, bandwidth: float, ratio: float, codec_s: float) -> Iterator[str]:
    plain = sent / bandwidth
    saving = plain * (1 - 1 / ratio)
    yield (
        f"{format_quantity(sent, 'B')} over {format_quantity(bandwidth, 'B/s')} take {format_time(plain)}, "
        f"1/{ratio:g} of them {format_time(plain / ratio)}: {format_time(saving)} are saved"
    )
    than = "more" if saving > codec_s else "no more"
    yield f"that is {than} than the {format_time(codec_s)} of compressing and decompressing"


def _advice(sent: float, bandwidth: float, ratio: float, codec_s: float) -> Iterator[str]:
    plain = sent / bandwidth
    saving = plain * (1 - 1 / ratio)
    if saving > codec_s:
        if codec_s:
            limit = format_quantity(sent * (1 - 1 / ratio) / codec_s, "B/s")
            yield f"keep it while the link has less than {limit} and the codec takes less than {format_time(saving)}"
        doubled = format_time(plain * (1 - 1 / (2 * ratio)))
        yield f"twice the ratio saves {doubled} in the place of {format_time(saving)}"
        return
    if saving:
        limit = format_quantity(sent * (1 - 1 / ratio) / codec_s, "B/s")
        yield f"send it as it is; it pays with a codec of less than {format_time(saving)}, or below {limit}"
    if plain > codec_s:
        yield f"it pays from a ratio of {plain / (plain - codec_s):.3g} on"
    else:
        yield f"no ratio pays: the codec takes longer than sending all of it, {format_time(plain)}"
