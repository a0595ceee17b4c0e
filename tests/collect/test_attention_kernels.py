"""What `collect` times of attention: one fused kernel, never torch's chain of several."""

from types import SimpleNamespace

import pytest

from synperf.errors import UnsupportedError

torch = pytest.importorskip("torch", reason="needs the extra [collect]")


def test_a_call_that_no_fused_kernel_takes_on_a_gpu_is_refused(monkeypatch):
    from torch.nn.attention import SDPBackend

    from synperf.collect.calls.attention import _backend

    q = SimpleNamespace(is_meta=False, is_cuda=True)
    monkeypatch.setattr(torch, "_fused_sdp_choice", lambda *_, **__: SDPBackend.MATH.value)
    with pytest.raises(UnsupportedError, match="no fused kernel takes it"):
        _backend(q, q, q, {})
    monkeypatch.setattr(torch, "_fused_sdp_choice", lambda *_, **__: SDPBackend.FLASH_ATTENTION.value)
    assert _backend(q, q, q, {}) == "FLASH_ATTENTION"
