"""A file of one's own is a kernel family: its fields, its tasks, one call as many, and what is wrong with it."""

import sys

import numpy as np
import pytest

import synperf
from synperf import kernels
from synperf.errors import FieldError, PluginError, UnknownNameError
from synperf.features import analyse, features
from synperf.kernels import families, family, installed, load_family, of_type
from synperf.kernels.own import LOADED
from synperf.scheduling import schedule

from ..toys import TOY
from .own_files import PLAIN, install, returning, write

pytestmark = pytest.mark.usefixtures("own_families")


def loaded(folder, text=PLAIN, name="mine.py"):
    return load_family(write(folder, text, name))


def test_a_file_is_a_family_under_its_name(tmp_path):
    kind = loaded(tmp_path)
    assert (kind.name, kind.summary, kind.required()) == ("mine", "A row for each CTA", ("rows", "dim"))
    assert kind.field_names() == ("rows", "dim", "dtype", "engine", "kernel")
    assert family("mine") is families()["mine"] is of_type(kind.call_type) is kind


def test_the_tasks_are_worked_out_in_the_head(tmp_path):
    kind = loaded(tmp_path)
    call = kind.call_type(rows=11, dim=100)  # 11 tasks on 10 SMs
    f = features(kind, call, TOY)
    assert (f.load.tasks, f.load.sm_max_tasks) == (11, 2)
    assert (f.flop, f.compulsory_bytes, f.dram_bytes, f.padding) == (4400, 3300, 3300, 1)
    assert f.pipes["fma"].sm_max_s == pytest.approx(2 * 400 / (100 * 1e9))
    assert f.pipes["dram"].gpu_s == pytest.approx(3300 / 1e12)


def test_useful_work_is_what_the_file_says(tmp_path):
    text = PLAIN + "\n\ndef flop(params):\n    return params.rows * params.dim\n"
    text += "\n\ndef compulsory_bytes(params):\n    return 2 * params.rows * params.dim\n"
    kind = loaded(tmp_path, text)
    call = kind.call_type(rows=10, dim=100)
    f = features(kind, call, TOY)
    assert (f.flop, f.compulsory_bytes, f.padding) == (1000, 2000, 0.25)
    assert not any("counts as useful" in said for said in kind.assumptions(call, TOY))


@pytest.mark.parametrize("rows", [10, np.array([1.0, 10.0])])
def test_useful_work_above_that_of_the_tasks_is_told_with_its_line(rows, tmp_path):
    text = PLAIN + "\n\ndef flop(params):\n    return params.rows * params.dim * 1e6\n"
    kind = loaded(tmp_path, text)
    with pytest.raises(PluginError, match=r"mine.py:\d+: flop gives .*, and all tasks do .*; right would be the"):
        features(kind, kind.call_type(rows=rows, dim=100), TOY)


def test_what_a_file_leaves_out_is_said(tmp_path):
    kind = loaded(tmp_path)
    said = kind.assumptions(kind.example, TOY)
    assert said == (
        "family: of your own, mine.py; no measured rows of it come with synperf",
        "flop and compulsory_bytes: not in mine.py, so all that its tasks do counts as useful",
        "occupancy: threads_per_cta 256, registers_per_thread 32, as mine.py gives no other",
    )


def test_without_fields_they_are_what_is_read_of_params(tmp_path):
    text = PLAIN.replace('FIELDS = {"rows": int, "dim": int}\n', "")
    assert loaded(tmp_path, text).field_names() == ("rows", "dim", "dtype", "engine", "kernel")


def test_fields_are_numbers_truths_and_formats_with_their_defaults(tmp_path):
    fields = '{"rows": int, "dim": 64, "train": True, "quant_dtype": "fp8", "dtype": "fp16"}'
    kind = loaded(tmp_path, PLAIN.replace('{"rows": int, "dim": int}', fields))
    call = kind.call_type(rows="8", train="no")
    assert (call.rows, call.dim, call.train, call.quant_dtype, call.dtype) == (8, 64, False, "fp8", "fp16")
    with pytest.raises(FieldError, match="rows must be a whole number from 1"):
        kind.call_type(rows=1.5)
    with pytest.raises(FieldError, match="train must be true or false"):
        kind.call_type(rows=1, train="maybe")
    with pytest.raises(FieldError, match="quant_dtype: no dtype named 'fp9'"):
        kind.call_type(rows=1, quant_dtype="fp9")


BRANCHING = returning('{"count": params.rows, "load_bytes": 4096 if params.dim > 1000 else 2 * params.dim}')
REDUCING = returning('{"count": params.rows, "load_bytes": 2 * params.dim + max([params.dim]) * 0}')
ACROSS = returning('{"count": params.rows, "load_bytes": params.dim + getattr(params.dim, "max", lambda: 0)()}')


@pytest.mark.parametrize("text", [PLAIN, BRANCHING, REDUCING, ACROSS], ids=["columns", "branches", "lists", "across"])
def test_columns_are_as_their_calls_one_by_one(text, tmp_path):
    kind = loaded(tmp_path, text)
    rows, dim = np.array([1, 5, 7, 1000, 3]), np.array([8, 2000, 999, 1001, 64])
    many = synperf.predict(kind.call_type(rows=rows, dim=dim), TOY)
    for i in range(len(rows)):
        one = synperf.predict(kind.call_type(rows=rows[i], dim=dim[i]), TOY)
        assert (one.time_s, one.floor_s, one.limiter) == (many.time_s[i], many.floor_s[i], many.limiter[i])


def test_a_function_that_takes_columns_runs_few_times_and_another_once_for_each_call(tmp_path):
    counting = "seen = []\n" + PLAIN.replace("    return {", "    seen.append(params)\n    return {")
    for text, most in ((counting, 40), (counting.replace("4 * params.dim", "4 * int(params.dim)"), 1100)):
        kernels.own.LOADED.clear()
        kernels.own.FILES.clear()
        kind = loaded(tmp_path, text)
        kind.decompose(kind.call_type(rows=np.arange(1, 1001), dim=64 * np.ones(1000)), TOY)
        seen = sys.modules["synperf_own_mine"].seen
        assert most / 5 < len(seen) + 9 <= most


def test_unequal_groups_are_placed_by_the_policy(tmp_path):
    groups = '[{"count": 10, "load_bytes": 100}, {"count": 1, "load_bytes": 500}, {"count": 9, "load_bytes": 100}]'
    kind = loaded(tmp_path, returning(groups))
    f = features(kind, kind.example, TOY)
    assert f.load.tasks == 20
    assert f.load.sm_max_tasks * 2400 / 20 == pytest.approx(600)  # a short one, then the long one
    software = returning(groups).replace('"HW"', '"SW"').replace('"count": 10', '"count": 9')
    kind = loaded(tmp_path, software + 'NAME = "others"\n', "others.py")
    assert features(kind, kind.example, TOY).load.sm_max_tasks * 2300 / 19 == pytest.approx(500)
    assert kind.launch(kind.example, TOY).grid == (10, 1, 1)


def test_a_million_unequal_tasks_are_taken_as_even_and_never_below_the_longest(tmp_path):
    groups = '[{"count": 999_990, "load_bytes": 100}, {"count": 10, "load_bytes": 100 * params.dim}]'
    kind = loaded(tmp_path, returning(groups))
    for dim in (1, 10, 1_000_000):
        load = schedule(kind.decompose(kind.call_type(rows=1, dim=dim), TOY), TOY.num_sms)
        total = 999_990 * 100 + 1000 * dim
        assert load.sm_max_tasks * total / 1e6 == pytest.approx(max(total / 10, 100 * dim))


def test_many_groups_are_as_few_that_say_the_same(tmp_path):
    each = '{"count": 1, "load_bytes": 100 + i % 7, "threads_per_cta": 128 + 64 * (i % 2)}'
    many = loaded(tmp_path, returning(f"[{each} for i in range(14_000)]"))
    few = loaded(tmp_path, returning(f"[{each} | {{'count': 1000}} for i in range(14)]"), "few.py")
    seen = [features(kind, kind.example, TOY).load for kind in (many, few)]
    assert seen[0].tasks == seen[1].tasks == 14_000
    assert seen[0].sm_max_tasks == pytest.approx(seen[1].sm_max_tasks)
    assert many.launch(many.example, TOY).threads == 192


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ("{'count': 1}", "tasks that neither load nor store"),
        ("{'load_bytes': 1}", "decompose gives no count"),
        ("{'count': 1, 'load_bytes': True}", "load_bytes must be a number from 0 to 1e\\+30, got True"),
        ("{'count': 1, 'load_bytes': 10**400}", "load_bytes must be a number from 0 to 1e\\+30, got 1000"),
        ("{'count': 1, 'load_bytes': 1, 'threads_per_cta': 1.5}", "threads_per_cta must be a whole number, got 1.5"),
        ("{'count': 1, 'load_bytes': 1, 'flop': 1}", "no column named 'flop'"),
        ("7", "decompose gives 7; right would be a dict"),
        ("'count'", "decompose gives 'count'; right would be a dict"),
    ],
)
def test_one_wrong_group_among_many_says_why(wrong, said, tmp_path):
    kind = loaded(tmp_path, returning(f"[*[{{'count': 1, 'load_bytes': 1}}] * 5000, {wrong}]"))
    with pytest.raises(PluginError, match=rf"mine.py:7: decompose.*{said}|mine.py:7: {said}"):
        kind.decompose(kind.example, TOY)


@pytest.mark.filterwarnings("error")
def test_a_function_that_is_async_is_told_and_warns_of_nothing(tmp_path):
    for name in ("decompose", "scheduling_policy"):
        with pytest.raises(PluginError, match=rf"mine.py:\d+: {name} is async; right would be a plain def"):
            synperf.predict(loaded(tmp_path, PLAIN.replace(f"def {name}", f"async def {name}")).example, TOY)


@pytest.mark.filterwarnings("error")
def test_numpy_warns_of_nothing_in_a_file(tmp_path):
    kind = loaded(tmp_path, returning('{"count": 1, "load_bytes": np.float64(1) / (params.dim - 8)}'))
    kind = loaded(tmp_path, "import numpy as np\nnp.zeros(1) / 0\n" + (tmp_path / "mine.py").read_text())
    for dim in (8, np.array([8, 9])):
        with pytest.raises(PluginError, match="load_bytes must be a number from 0 to 1e"):
            kind.decompose(kind.call_type(rows=1, dim=dim), TOY)


def test_a_kernel_without_flop_has_an_estimate_that_its_bytes_set(tmp_path):
    kind = loaded(tmp_path, returning('{"count": params.rows, "load_bytes": 2**20, "store_bytes": 2**20}'))
    found = synperf.predict(kind.call_type(rows=1000, dim=1), TOY)
    assert found.limiter == "l2"  # 100 tasks of 2 MiB on each SM, whose port moves 64 GB/s
    assert found.time_s == pytest.approx(100 * 2**21 / 64e9)
    many = synperf.predict(kind.call_type(rows=np.array([1000, 1]), dim=1), TOY)
    assert many.time_s[0] == found.time_s
    assert np.isfinite(many.time_s).all()


def test_tensor_cores_count_only_where_they_are_used(tmp_path):
    kind = loaded(tmp_path, returning(
        '{"count": 10, "load_bytes": 1, "tensor_flop": 100 * (params.dim > 50), "fma_flop": 100 * (params.dim <= 50)}'
    ))  # fmt: skip
    call = kind.call_type(rows=1, dim=np.array([64, 32]))
    assert analyse(kind, call, TOY, kind.decompose(call, TOY)).padding.tolist() == [1, 1]


def test_a_file_that_changed_is_read_again_and_one_that_did_not_is_the_same(tmp_path):
    first = loaded(tmp_path)
    assert load_family(tmp_path / "mine.py") is first
    second = loaded(tmp_path, PLAIN.replace("int}", 'int, "heads": 1}'))
    assert family("mine") is second is not first
    assert second.digest != first.digest
    assert loaded(tmp_path, PLAIN + 'NAME = "renamed"\n').name == "renamed"
    assert set(LOADED) == {"renamed"}


def test_names_of_families_are_taken_once(tmp_path):
    loaded(tmp_path)
    (tmp_path / "other").mkdir()
    with pytest.raises(PluginError, match=r"mine is the family of .*mine\.py; right would be another NAME"):
        loaded(tmp_path / "other")
    with pytest.raises(PluginError, match=r"two\.py:1: gemm is a family of synperf; right would be another NAME"):
        loaded(tmp_path, 'NAME = "gemm"\n' + PLAIN, "two.py")
    assert set(LOADED) == {"mine"}


WRONG_FILES = {
    "def decompose(": "mine.py:1: not Python ('(' was never closed); right would be a Python file with decompose",
    "x\0": "mine.py:1: not Python (source code string cannot contain null bytes)",
    "import no_such_module\n": "mine.py:1: ModuleNotFoundError: No module named 'no_such_module'",
    "\nimport sys\nsys.exit(3)\n": "mine.py:3: SystemExit: 3",
    "x = 1\n": "mine.py:1: there is no decompose; right would be",
    "decompose = 7\n": "mine.py:1: decompose is 7; right would be a function",
    PLAIN.replace("def scheduling_policy", "def policy"): "mine.py:1: there is no scheduling_policy; right would be",
    PLAIN.replace('"HW"', '"hard"'): "mine.py:11: scheduling_policy gives 'hard'; right would be 'HW' or 'SW'",
    PLAIN.replace('return "HW"', "1 / 0"): "mine.py:11: ZeroDivisionError: division by zero",
    PLAIN.replace("int}", "0.5}"): "mine.py:3: FIELDS: dim is 0.5; right would be int, or a default",
    PLAIN.replace("int}", "0}"): "mine.py:3: FIELDS: dim must be a whole number from 1",
    PLAIN.replace("int}", "str}"): "mine.py:3: FIELDS: dim is <class 'str'>; right would be int",
    PLAIN.replace('"dim"', '"kernel"'): "mine.py:3: FIELDS has kernel, which means something else in tables",
    PLAIN.replace('"dim"', '"origin"'): "mine.py:3: FIELDS has origin, which means something else in tables",
    PLAIN.replace('"dim"', '"time_us"'): "mine.py:3: FIELDS has time_us, which means something else in tables",
    PLAIN.replace('"dim"', "7"): "mine.py:3: FIELDS has 7; right would be names",
    PLAIN.replace('{"rows": int, "dim": int}', "[1]"): "mine.py:3: FIELDS is [1]; right would be such as",
    PLAIN.replace("int}", 'int, "dtype": "fp9"}'): "mine.py:3: FIELDS: dtype: no dtype named 'fp9'",
    PLAIN + 'NAME = "../x"\n': "mine.py:12: the family is called '../x'; right would be a NAME of a-z",
    PLAIN + "EXAMPLE = {'rows': 0}\n": "mine.py:12: EXAMPLE: rows must be a whole number",
    PLAIN + "EXAMPLE = {'row': 1}\n": "mine.py:12: EXAMPLE: ",
    PLAIN + "EXAMPLE = 7\n": "mine.py:12: EXAMPLE is 7; right would be such as",
}


@pytest.mark.parametrize(("text", "said"), WRONG_FILES.items(), ids=range(len(WRONG_FILES)))
def test_a_file_that_is_no_family_is_told_with_its_line(text, said, tmp_path):
    with pytest.raises(PluginError) as wrong:
        loaded(tmp_path, text)
    assert str(wrong.value).startswith(f"{tmp_path}/{said}")
    assert not LOADED


def test_a_file_that_is_not_there_is_told(tmp_path):
    with pytest.raises(PluginError, match=r"none\.py: No such file or directory; right would be a Python file with"):
        load_family(tmp_path / "none.py")
    with pytest.raises(PluginError, match=r"Is a directory"):
        load_family(tmp_path)
    with pytest.raises(PluginError, match="null"):
        load_family("a\0.py")


RIGHT = '"count": 1, "load_bytes": 1'
WRONG_TASKS = {
    "None": "decompose gives None; right would be a dict such as",
    "7": "decompose gives 7",
    "[]": "decompose gives []",
    f"[{{{RIGHT}}}, None]": "decompose gives None",
    "{'load_bytes': 1}": "decompose gives no count",
    f"{{{RIGHT}, 'flop': 1}}": "decompose: no column named 'flop'; nearest: ",
    f"{{{RIGHT}, 7: 1}}": "decompose: no column named '7'; known: ",
    "{'count': 0, 'load_bytes': 1}": "decompose: count must be a number from 1 to 1e+30, got 0",
    "{'count': 1.5, 'load_bytes': 1}": "decompose: count must be a whole number, got 1.5",
    "{'count': 1}": "decompose: tasks that neither load nor store",
    f"{{{RIGHT}, 'fma_flop': -1}}": "decompose: fma_flop must be a number from 0 to 1e+30, got -1",
    f"{{{RIGHT}, 'xu_op': float('nan')}}": "decompose: xu_op must be a number from 0 to 1e+30, got nan",
    f"{{{RIGHT}, 'xu_op': float('inf')}}": "decompose: xu_op must be a number from 0 to 1e+30, got inf",
    f"{{{RIGHT}, 'xu_op': '3'}}": "decompose: xu_op must be a number from 0 to 1e+30, got '3'",
    f"{{{RIGHT}, 'xu_op': True}}": "decompose: xu_op must be a number from 0 to 1e+30, got True",
    f"{{{RIGHT}, 'xu_op': None}}": "decompose: xu_op must be a number from 0 to 1e+30, got None",
    f"{{{RIGHT}, 'xu_op': 1j}}": "decompose: xu_op must be a number from 0 to 1e+30, got 1j",
    f"{{{RIGHT}, 'xu_op': 10**400}}": "decompose: xu_op must be a number from 0 to 1e+30, got 1000",
    f"{{{RIGHT}, 'xu_op': __import__('numpy').ones(3)}}": "decompose: xu_op must be one number, got an array of",
    f"{{{RIGHT}, 'threads_per_cta': 4096}}": "decompose: threads_per_cta must be from 1 to 1024 on this GPU, got 4096",
    f"{{{RIGHT}, 'registers_per_thread': 500}}": "decompose: registers_per_thread must be from 0 to 255 on this GPU",
    f"{{{RIGHT}, 'shared_bytes_per_cta': 1e7}}": "decompose: shared_bytes_per_cta must be from 0 to ",
    f"{{{RIGHT}, 'threads_per_cta': 1024, 'registers_per_thread': 255}}": "decompose: an SM of toy cannot hold a CTA",
    "params.nothing": "AttributeError: 'Mine' object has no attribute 'nothing'",
    "{}[1]": "KeyError: 1",
    "exit()": "SystemExit",
    "gpu.math_pipe(__import__('synperf').DType.FP8)": "dtype: toy has no fp8 math; it has",
}


@pytest.mark.parametrize(("given", "said"), WRONG_TASKS.items(), ids=WRONG_TASKS)
def test_tasks_that_are_no_work_are_told_with_their_line(given, said, tmp_path):
    kind = loaded(tmp_path, returning(given))
    for rows in (8, np.array([8, 16])):
        with pytest.raises(PluginError) as wrong:
            synperf.predict(kind.call_type(rows=rows, dim=8), TOY)
        assert str(wrong.value).startswith(f"{tmp_path}/mine.py:7: {said}")
        assert "\n" not in str(wrong.value)


@pytest.mark.parametrize(
    ("function", "given", "said"),
    [
        ("flop", "-1", "flop must be a number from 0 to 1e+30, got -1"),
        ("flop", "None", "flop must be a number from 0 to 1e+30, got None"),
        ("compulsory_bytes", "0", "compulsory_bytes must be a number from 1e-09 to 1e+30, got 0"),
        ("compulsory_bytes", "1 / 0", "ZeroDivisionError: division by zero"),
    ],
)
def test_useful_work_that_is_none_is_told_with_its_line(function, given, said, tmp_path):
    kind = loaded(tmp_path, f"{PLAIN}\n\ndef {function}(params):\n    return {given}\n")
    with pytest.raises(PluginError) as wrong:
        synperf.predict(kind.example, TOY)
    assert str(wrong.value) == f"{tmp_path}/mine.py:15: {said}"


def test_columns_of_another_length_are_not_taken_and_no_call_of_many_is_wrong(tmp_path):
    kind = loaded(tmp_path, returning('{"count": params.rows, "load_bytes": __import__("numpy").ones(3)}'))
    with pytest.raises(PluginError, match=r"mine\.py:7: decompose: load_bytes must be one number, got an array"):
        kind.decompose(kind.call_type(rows=np.arange(1, 9), dim=1), TOY)


def test_an_engine_or_a_kernel_of_a_family_of_ones_own_is_refused(tmp_path):
    kind = loaded(tmp_path)
    with pytest.raises(FieldError, match="engine: mine is a family of your own; right would be none, or own, got vllm"):
        synperf.predict(kind.call_type(rows=1, dim=1, engine="vllm"), TOY)
    with pytest.raises(FieldError, match="kernel: mine is a family of your own; right would be none, or mine, got fa2"):
        synperf.predict(kind.call_type(rows=1, dim=1, kernel="fa2"), TOY)


@pytest.fixture
def package(tmp_path, monkeypatch):
    return install(tmp_path, monkeypatch)


@pytest.mark.usefixtures("package")
def test_a_family_of_an_installed_package_is_there_by_its_name():
    assert installed() == ("broken", "number", "theirs")
    call = synperf.parse_call("theirs", {"rows": 8, "dim": 64})
    assert synperf.predict(call, TOY).family == "theirs"
    (row,) = synperf.predict([{"family": "theirs", "rows": 8, "dim": 64}], TOY)
    assert row["time_s"] == synperf.predict(call, TOY).time_s


def test_what_is_wrong_with_an_installed_family_is_told_when_it_is_named(package):
    with pytest.raises(PluginError, match=r"/their_broken_kernels\.py:2: ZeroDivisionError"):
        family("broken")
    write(package, "x = 1\n)\n", "their_broken_kernels.py")
    with pytest.raises(PluginError, match=r"/their_broken_kernels\.py:2: SyntaxError: unmatched '\)'"):
        family("broken")
    (package / "their_broken_kernels.py").unlink()
    with pytest.raises(PluginError, match="their_broken_kernels:1: ModuleNotFoundError: No module named"):
        family("broken")
    with pytest.raises(
        PluginError, match=r"their_kernels:FIELDS: the entry point number is .*, no module; right would"
    ):
        family("number")
    with pytest.raises(UnknownNameError, match="no kernel family named 'their'; nearest: theirs"):
        family("their")


def test_tables_run_no_file(tmp_path):
    path = write(tmp_path)
    with pytest.raises(UnknownNameError, match="is a path, and tables run no file; right would be the family's name"):
        synperf.predict([{"family": str(path), "rows": 8, "dim": 8}], TOY)
    assert not LOADED
