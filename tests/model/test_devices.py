"""Devices: which one a setting names."""

from __future__ import annotations

import pytest
import torch

from nqe.errors import NqeError
from nqe.model.devices import device_of


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU here")
def test_a_device_that_is_not_there_is_refused() -> None:
    assert device_of("auto") == torch.device("cpu")
    with pytest.raises(NqeError, match="device is 'cuda', but there is none here; choose auto"):
        device_of("cuda")
