"""Requests made from the OpenAPI document: no fault, and no reply that it does not document."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest
import schemathesis
from answering_cases import countries, country_model
from hypothesis import HealthCheck, given, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)
from served import serve_answerer

from nqe.answering import Answerer
from nqe.server.app import create_app
from nqe.server.service import Service
from nqe.server.state import State

pytestmark = pytest.mark.xdist_group("openapi")


@pytest.fixture(scope="module")
def server() -> Iterator[httpx.Client]:
    with serve_answerer(Answerer(countries(), country_model())) as client:
        yield client


def load_nothing(_: State) -> Service:
    raise AssertionError("only the document is read")


SCHEMA = schemathesis.openapi.from_dict(create_app(load=load_nothing).openapi())
OPERATIONS = [(path, method) for path in SCHEMA for method in SCHEMA[path]]
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]


@pytest.mark.parametrize(("path", "method"), OPERATIONS)
def test_every_reply_is_documented(server: httpx.Client, path: str, method: str) -> None:
    @given(case=SCHEMA[path][method].as_strategy())
    @settings(
        max_examples=25,
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    def call(case: schemathesis.Case) -> None:
        case.call_and_validate(base_url=str(server.base_url), checks=CHECKS)

    call()
