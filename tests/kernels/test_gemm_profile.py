"""Tiles of recorded launches: how a table is read, and which launch answers for a call."""

import numpy as np
import pytest

from synperf import Gemm
from synperf.errors import FileFormatError
from synperf.kernels.gemm_profile import read
from synperf.kernels.gemm_tiling import choose
from tests.toys import A100, H100


def write(tmp_path, text):
    path = tmp_path / "tiles.csv"
    path.write_text(text)
    return path


TILES = "compute_capability,m,n,k,tile_m,tile_n,tile_k,split_k\n"


def test_the_nearest_recorded_shape_gives_the_tile(tmp_path):
    profile = read(write(tmp_path, TILES + "8.0,100,100,100,64,64,32,1\n8.0,4000,4000,4000,256,128,32,1\n"))
    call, said = profile.fill(Gemm(m=3000, n=3000, k=3000), A100)
    assert (call.tile_m, call.tile_n, call.tile_k, call.split_k) == (256, 128, 32, 1)
    assert "tiles.csv" in said
    assert choose(call, A100).tile_m == 256


def test_columns_are_looked_up_row_by_row(tmp_path):
    profile = read(write(tmp_path, TILES + "8.0,100,100,100,64,64,32,4\n8.0,4000,4000,4000,256,128,32,1\n"))
    call, _ = profile.fill(Gemm(m=np.array([1, 5000]), n=2000, k=2000), A100)
    assert call.tile_m.tolist() == [64, 256]
    assert call.split_k.tolist() == [4, 1]


def test_a_given_tile_wins_over_the_profile(tmp_path):
    profile = read(write(tmp_path, TILES + "8.0,100,100,100,64,64,32,1\n"))
    call, _ = profile.fill(Gemm(m=100, n=100, k=100, tile_m=128, tile_n=128), A100)
    assert (call.tile_m, call.tile_n) == (128, 128)


def test_a_near_architecture_of_the_same_instruction_set_stands_in_and_no_other(tmp_path):
    profile = read(write(tmp_path, TILES + "8.6,100,100,100,64,64,32,1\n12.0,100,100,100,128,64,32,1\n"))
    call, said = profile.fill(Gemm(m=100, n=100, k=100), A100)
    assert call.tile_m == 64
    assert "compute capability 8.6" in said
    call, said = profile.fill(Gemm(m=100, n=100, k=100), H100)
    assert call.tile_m is None
    assert "least cost" in said


@pytest.mark.parametrize(
    ("name", "ctas", "expected"),
    [
        (
            "ampere_bf16_s16816gemm_bf16_128x256_ldg8_f2f_stages_64x3_tn",
            32,
            (256, 128, 64, 1),
        ),  # 4 x 8 tiles, column-major
        (
            "ampere_bf16_s16816gemm_bf16_128x256_ldg8_f2f_stages_64x3_tn",
            96,
            (256, 128, 64, 3),
        ),  # the same, split in three
        ("cutlass_80_tensorop_bf16_s16816gemm_bf16_64x128_32x3_tn_align8", 128, (128, 64, 32, 1)),
        ("nvjet_tst_128x256_64x4_1x2_h_bz_coopA_TNT", 107, (256, 128, 64, 1)),  # a persistent grid fits neither way
    ],
)
def test_kernel_names_and_grids_say_tile_and_split(tmp_path, name, ctas, expected):
    profile = read(write(tmp_path, f"compute_capability,m,n,k,kernel_name,ctas\n8.0,1024,1024,4096,{name},{ctas}\n"))
    r = profile.launches[0]
    assert (r.tile_m, r.tile_n, r.tile_k, r.split_k) == expected


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "no rows"),
        (TILES, "no rows"),
        (TILES + "8.0,100,100\n", "row 1: missing k"),
        (TILES + "8.0,100,100,0,64,64,32,1\n", "row 1: k must be"),
        (TILES + "ada,100,100,10,64,64,32,1\n", "compute_capability must be"),
        ("compute_capability,m,n,k,kernel_name,ctas\n8.0,1,1,1,gemv,1\n", "says no tile"),
        ("compute_capability,m,n,k\n8.0,1,1,1\n", "missing tile_m and tile_n"),
    ],
)
def test_a_bad_table_names_the_row_and_the_field(tmp_path, text, says):
    with pytest.raises(FileFormatError, match=says):
        read(write(tmp_path, text))


def test_a_folder_is_not_a_table(tmp_path):
    with pytest.raises(FileFormatError, match="Is a directory"):
        read(tmp_path)


def test_a_column_twice_and_an_endless_capability_are_refused(tmp_path):
    with pytest.raises(FileFormatError, match="column 'm' is there twice"):
        read(write(tmp_path, TILES.replace("k,tile_m", "m,tile_m") + "8.0,1,1,1,64,64,32,1\n"))
    with pytest.raises(FileFormatError, match="compute_capability must be"):
        read(write(tmp_path, TILES + "inf,1,1,1,64,64,32,1\n"))
