"""Plain text: columns below each other, no trailing blanks."""

from synperf.report.text import labelled, paragraphs, section, table


def test_a_table_aligns_text_left_and_numbers_right():
    assert table(("name", "SMs", "x"), [("a", "8", ""), ("longer", "132", "y")], ("SMs",)) == (
        "name    SMs  x\na         8\nlonger  132  y"
    )


def test_labels_without_text_are_left_out():
    assert labelled([("gpu", "toy"), ("beyond", ""), ("kernel", "k")]) == "gpu     toy\nkernel  k"
    assert labelled([]) == ""


def test_empty_sections_and_paragraphs_leave_no_trace():
    assert section("notes", []) == ""
    assert paragraphs("a", section("notes", ["x", "y"]), "", "b") == "a\n\nnotes\n  x\n  y\n\nb"
