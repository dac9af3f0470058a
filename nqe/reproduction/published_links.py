"""Published figures of link prediction, and those that others found when they ran the code again.

All are filtered MRR from 0 to 1 on the test split, with the strict filter.
"""

from __future__ import annotations

from dataclasses import dataclass

TRAIN, BOTH = "train", "train,valid"
PUBLISHED, RERUN = "published", "re-run by others"


@dataclass(frozen=True)
class PublishedLinks:
    """What a model reached, who says so, and which splits it learnt from if that is known."""

    data: str
    model: str
    source: str
    trained_on: str | None = None
    all: float | None = None
    subject_object: float | None = None


PUBLISHED_LINKS = (
    PublishedLinks("wd50k", "StarE", PUBLISHED, None, None, 0.349),
    PublishedLinks("wd50k", "StarE", RERUN, None, None, 0.315),
    PublishedLinks("wd50k", "GRAN", PUBLISHED, None, 0.309),
    PublishedLinks("wd50k", "GRAN", RERUN, None, 0.363, 0.329),
    PublishedLinks("wd50k", "HyNT", PUBLISHED, None, 0.356, 0.328),
    PublishedLinks("wd50k", "HAHE", PUBLISHED, None, 0.402, 0.368),
    PublishedLinks("wd50k", "HAHE", RERUN, None, 0.378, 0.343),
    PublishedLinks("wd50k", "HyperSAT", PUBLISHED, BOTH, 0.380, 0.345),
    PublishedLinks("wd50k", "UniHR", PUBLISHED, BOTH, 0.382, 0.348),
    PublishedLinks("wd50k", "MAYPL", PUBLISHED, BOTH, 0.411),
    PublishedLinks("wd50k", "KREPE", PUBLISHED, BOTH, 0.419),
    PublishedLinks("jf17k", "StarE", PUBLISHED, None, None, 0.574),
    PublishedLinks("jf17k", "GRAN", PUBLISHED, None, 0.656, 0.617),
    PublishedLinks("jf17k", "HAHE", PUBLISHED, None, 0.668, 0.623),
)
"""By data set, the older models first."""


def list_published(data: str) -> list[PublishedLinks]:
    """The published figures of a data set."""
    return [one for one in PUBLISHED_LINKS if one.data == data]
