"""Where a CSV holds a cell that is longer than Python reads."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence

_ANY = 2**31 - 1


def too_long(lines: Iterable[str], header: Sequence[str]) -> tuple[int, str] | None:
    """(line from 1 on, sentence) of the first cell that is too long; its line is that in which its row begins.

    None where nothing is before what makes the text no CSV.
    """
    most = csv.field_size_limit(_ANY)
    try:
        reader = csv.reader(lines)
        line = 1
        for cells in reader:
            for number, cell in enumerate(cells):
                if len(cell) > most:
                    name = header[number] if number < len(header) else str(number + 1)
                    open_quote = "; is a quote left open?" if "\n" in cell else ""
                    return line, f"column {name}: a cell is longer than {most:,} characters{open_quote}"
            line = reader.line_num + 1
    except csv.Error:
        return None
    finally:
        csv.field_size_limit(most)
    return None
