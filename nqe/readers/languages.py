"""The language that labels, descriptions and aliases are read in."""

from __future__ import annotations

import re

from nqe.errors import InputError

DEFAULT_LANGUAGE = "en"
_CODE = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")


def check_language(language: str | None) -> str:
    """The code of a language in lower case, or that of the default."""
    code = DEFAULT_LANGUAGE if language is None else language.lower()
    if not _CODE.fullmatch(code):
        raise InputError(f"'{language:.60}' is no language; give a code such as de or pt-br")
    return code
