"""Fields of convolutions: what is read, what they default to, and the sentence for each that is wrong."""

import pytest

import synperf
from synperf import Conv, DType, FieldError

GIVEN = {
    "batch": 8, "in_channels": 64, "out_channels": 32, "height": 28, "width": 30, "kernel_h": 3, "kernel_w": 5,
}  # fmt: skip
BAD = [
    ({"batch": None}, "conv: missing batch"),
    ({"rows": 3}, "conv: no field named 'rows'"),
    ({"stride": 0}, "stride must be a whole number from 1 to 2147483647, got 0"),
    ({"padding": -1}, r"padding must be a whole number from 0 \(none\) to 2147483647, got -1"),
    ({"padding": 1.5}, r"padding must be a whole number from 0 \(none\) to 2147483647, got 1.5"),
    ({"groups": 5}, "groups must divide in_channels, which are 64, got 5"),
    ({"groups": 64}, "groups must divide out_channels, which are 32, got 64"),
    ({"layout": "hwcn"}, "layout must be one of nchw, nhwc, got 'hwcn'"),
    ({"dtype": "nvfp4"}, "dtype must be one of fp32, tf32, fp16, bf16, got nvfp4"),
    ({"kernel_h": 29}, "kernel_h must not reach beyond the padded height, which is 28, got a reach of 29"),
    ({"dilation": 8}, "kernel_w must not reach beyond the padded width, which is 30, got a reach of 33"),
    ({"batch": 2**31 - 1}, "batch x height x width must be at most 2147483647, got 1.80389e"),
    ({"padding": 10**5}, "batch x height x width of the result must be at most 2147483647, got 3.2"),
    (
        {"in_channels": 2**28},
        "in_channels / groups x kernel_h x kernel_w must be at most 2147483647, got 4.02653e",
    ),
]


@pytest.mark.parametrize(("values", "sentence"), BAD)
def test_a_bad_field_is_one_sentence(values, sentence):
    with pytest.raises(FieldError, match=sentence) as raised:
        synperf.parse_call("conv", GIVEN | values)
    assert "\n" not in str(raised.value)


def test_a_bad_row_of_a_column_is_named():
    with pytest.raises(FieldError, match="groups must divide in_channels, which are 64, got 3 at index 1"):
        Conv(**GIVEN | {"groups": [1, 3]})
    with pytest.raises(FieldError, match="padding has 3 values, but batch has 2"):
        Conv(**GIVEN | {"batch": [1, 2], "padding": [0, 1, 2]})


def test_text_and_numbers_are_read_alike():
    read = synperf.parse_call(
        "conv", {name: str(value) for name, value in GIVEN.items()} | {"padding": "1", "layout": "NHWC"}
    )
    assert read == Conv(**GIVEN, padding=1, layout="nhwc")
    assert (read.stride, read.dilation, read.groups, read.dtype) == (1, 1, 1, DType.BF16)
    assert Conv(**GIVEN).layout == "nchw"


def test_a_result_has_as_many_values_as_the_kernel_has_places():
    assert (Conv(**GIVEN).out_height, Conv(**GIVEN).out_width) == (26, 26)
    strided = Conv(**GIVEN | {"kernel_w": 3}, stride=2, padding=2, dilation=2)
    assert (strided.out_height, strided.out_width) == (14, 15)
    assert Conv(**GIVEN, padding=[0, 1]).out_height.tolist() == [26, 28]


def test_engines_and_kernels_are_those_of_pytorch():
    assert synperf.predict(Conv(**GIVEN), "h100_sxm").engine == "torch"
    with pytest.raises(
        synperf.UnsupportedError, match=r"engine: vllm has no conv kernel for bf16; right would be plain, torch$"
    ):
        synperf.predict(Conv(**GIVEN, engine="vllm"), "h100_sxm")
    with pytest.raises(FieldError, match="no conv kernel named 'winograd'"):
        synperf.predict(Conv(**GIVEN, kernel="winograd"), "h100_sxm")
