"""Devices: which one a setting names."""

from __future__ import annotations

import pytest
import torch

from nqe.errors import NqeError
from nqe.model.devices import choose_device


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU here")
def test_a_device_that_is_not_there_is_refused() -> None:
    assert choose_device("auto") == torch.device("cpu")
    with pytest.raises(
        NqeError, match="device is 'cuda', but this machine has no usable GPU; choose auto"
    ):
        choose_device("cuda")
