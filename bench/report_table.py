# SPDX-License-Identifier: BSD-3-Clause
"""Tables of Markdown."""


def cell(value) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.2f}" if abs(value) < 100 else f"{value:.0f}"
    return str(value)


def table(header: list[str], lines: list[list]) -> str:
    out = ["| " + " | ".join(header) + " |", "|" + " --- |" * len(header)]
    out += ["| " + " | ".join(cell(v) for v in one) + " |" for one in lines]
    return "\n".join(out)


def chosen(document: dict, columns: dict[str, str]) -> str:
    """The columns that some row has."""
    rows = document["rows"]
    keys = [k for k in columns if any(r.get(k) is not None for r in rows)]
    return table([columns[k] for k in keys], [[r.get(k) for k in keys] for r in rows])
