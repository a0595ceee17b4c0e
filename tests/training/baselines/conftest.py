"""Small networks are fastest on one core."""

import pytest


@pytest.fixture(autouse=True, scope="session")
def _one_thread():
    try:
        import torch
    except ModuleNotFoundError:
        return
    torch.set_num_threads(1)
