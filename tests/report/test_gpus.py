"""GPUs as the user sees them."""

from dataclasses import replace

from synperf import hardware
from synperf.hardware import Calibration, DType
from synperf.hardware.makers import maker
from synperf.report import gpus
from synperf.report.jsonout import plain

from ..toys import TOY

SMALL = replace(TOY, l2_bytes=8 * 2**20)
KNOWN = replace(
    SMALL,
    sources={"num_sms": "a data sheet"},
    notes={"power_w": "of the board"},
    assumptions=("num_sms: 10 instead of 5 (2x)",),
    aliases=("Toy 10",),
    calibration=Calibration(
        clock_share=0.9,
        launch_floor_s={"cublas.bf16": 2e-6},
        launch_floor_from="h100_sxm",
        provenance={"date": "today"},
    ),
)

LINE = """\
key  name  architecture   CC  SMs        bf16  fp8   DRAM  bandwidth     L2  power
toy  toy   ampere        8.0   10  10 TFLOP/s    -  10 GB     1 TB/s  8 MiB  100 W"""

TEXT = """\
toy (toy), ampere, compute capability 8.0

assumptions
  num_sms: 10 instead of 5 (2x)

field                            value    source
num_sms                          10       a data sheet
base_clock_hz                    1 GHz
clock_hz                         1 GHz
max_clock_hz                     1 GHz
tensor_flop_per_clk_per_sm.bf16  1000
fma_flop_per_clk_per_sm.fp32     100
xu_op_per_clk_per_sm             10
dram_bytes                       10 GB
dram_bytes_per_s                 1 TB/s
l2_bytes                         8 MiB
l2_bytes_per_s                   10 TB/s
shared_bytes_per_clk_per_sm      100 B
shared_bytes_per_sm              164 KiB
shared_bytes_per_cta             163 KiB
reserved_shared_bytes_per_cta    1 KiB
shared_granularity_bytes         128 B
registers_per_sm                 65536
max_registers_per_thread         255
max_threads_per_cta              1024
warp_size                        32
max_warps_per_sm                 64
max_ctas_per_sm                  32
power_w                          100 W
nvlink_bytes_per_s               0 B/s
pcie_bytes_per_s                 10 GB/s

format  pipe    dense peak      ridge
fp32    fma      1 TFLOP/s   1 FLOP/B
bf16    tensor  10 TFLOP/s  10 FLOP/B

notes
  power_w: of the board

measured
  sustained clock: 90 % of the published
  launch floor cublas.bf16: 2 µs, of h100_sxm
  date: today

aliases  Toy 10"""


def test_a_list_has_one_line_per_gpu():
    assert gpus.list_text([SMALL]) == LINE


def test_one_gpu_shows_all_that_is_known():
    assert gpus.to_text(KNOWN) == TEXT


def test_json_has_every_field_and_the_peaks_that_follow():
    document = plain(gpus.to_dict(KNOWN))
    assert document["num_sms"] == 10
    assert document["calibration"]["launch_floor_s"] == {"cublas.bf16": 2e-6}
    assert document["formats"] == {
        "fp32": {"pipe": "fma", "peak_flop_per_s": 1e12, "ridge_flop_per_byte": 1.0},
        "bf16": {"pipe": "tensor", "peak_flop_per_s": 1e13, "ridge_flop_per_byte": 10.0},
    }
    assert TOY.peak_flop_per_s(DType.BF16) == 1e13


def test_a_gpu_of_another_maker_says_what_its_fields_mean():
    text = gpus.to_text(hardware.gpu("mi300x"))
    assert text.splitlines()[0] == "AMD Instinct MI300X (mi300x), cdna3, target gfx942"
    assert text.splitlines()[2] == "in the names of fields: sm is CU, warp wave, cta workgroup"


def test_an_article_goes_with_the_word_of_the_maker():
    said = "Each row is an SM, each block its tasks; grey is an SM without work; SMs hold CTAs."
    assert maker("nvidia").said(said) == said
    assert maker("amd").said(said) == (
        "Each row is a CU, each block its tasks; grey is a CU without work; CUs hold workgroups."
    )
