"""Light classes are dataclasses, but for the time that it takes to make them."""

import copy
import dataclasses
import pickle

import pytest

from synperf.light_classes import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """Of a plane."""

    x: int
    y: int = 2
    tags: list[str] = dataclasses.field(default_factory=list, repr=False)


@dataclass(slots=True)
class Open:
    """Its fields may change."""

    a: int
    b: int = 5


@dataclass(frozen=True, slots=True)
class Pair:
    """Two numbers."""

    a: int
    b: int


def test_fields_are_set_by_name_and_to_their_defaults():
    point = Point(x=1)
    assert (point.x, point.y, point.tags) == (1, 2, [])
    assert point.tags is not Point(x=1).tags
    assert [one.name for one in dataclasses.fields(point)] == ["x", "y", "tags"]


def test_fields_are_set_by_place_where_the_class_takes_it():
    assert (Open(1).a, Open(1).b, Open(1, b=3).b) == (1, 5, 3)


@pytest.mark.parametrize("wrong", [lambda: Point(), lambda: Point(1), lambda: Point(x=1, z=2), lambda: Open(1, 2, 3)])
def test_what_is_missing_or_too_much_is_an_error(wrong):
    with pytest.raises(TypeError):
        wrong()


def test_a_field_that_is_given_twice_is_an_error():
    with pytest.raises(TypeError):
        Open(1, a=2)


def test_the_fields_of_a_frozen_one_do_not_change():
    point = Point(x=1)
    with pytest.raises(dataclasses.FrozenInstanceError):
        point.x = 2
    with pytest.raises(dataclasses.FrozenInstanceError):
        del point.x
    assert point.x == 1
    with pytest.raises((AttributeError, TypeError)):
        point.other = 1


def test_the_fields_of_an_open_one_do_and_it_has_no_hash():
    one = Open(1)
    one.a = 7
    assert one == Open(7)
    with pytest.raises(TypeError):
        hash(one)


def test_equal_fields_make_equal_objects_of_one_class_only():
    assert Pair(1, 2) == Pair(1, 2) != Pair(2, 1)
    assert len({Pair(1, 2), Pair(1, 2), Pair(2, 1)}) == 2
    assert Pair(1, 5) != Open(1, 5)


def test_copies_pickles_replaced_ones_and_dictionaries_have_the_same_fields():
    point = Point(x=1, tags=["a"])
    assert pickle.loads(pickle.dumps(point)) == copy.deepcopy(point) == copy.copy(point) == point
    assert dataclasses.replace(point, y=9) == Point(x=1, y=9, tags=["a"])
    assert dataclasses.asdict(point) == {"x": 1, "y": 2, "tags": ["a"]}
    assert pickle.loads(pickle.dumps(Open(1))) == copy.copy(Open(1)) == Open(1)


def test_they_show_as_dataclasses_do():
    assert repr(Point(x=1, tags=["a"])) == "Point(x=1, y=2)"
