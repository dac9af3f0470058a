"""The table of public data sets that `nqe fetch` knows: addresses, checksums, licences.

To add a set, enter it here. An address should name a commit, so that its content never changes. A
checksum is entered only if it was computed from the very files; without one, the cache records that
of the first download.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class DataFile:
    """A file of a data set, by its name in the cache, at its address and at mirrors."""

    name: str
    sha256: str | None = None
    member: str | None = None
    """Its path in the archive, if the set is published as one."""


@dataclass(frozen=True)
class DataSet:
    """A public data set."""

    title: str
    facts: int
    """As published, with repetitions."""
    megabytes: float | None
    """What is downloaded, about; None if that is not known."""
    licence: str
    """Of the set; if it states none, that of the graph in brackets, which it was taken from."""
    origin: str
    base: str
    """The address that the names of files are put after."""
    files: tuple[DataFile, ...]
    format: str
    archive: str | None = None
    """The file that is downloaded, a zip archive of the files; otherwise each is downloaded."""

    @property
    def downloads(self) -> tuple[str, ...]:
        """The names of what is downloaded."""
        return (self.archive,) if self.archive else tuple(file.name for file in self.files)

    @property
    def is_verified(self) -> bool:
        """Whether the checksums of all files are known."""
        return all(file.sha256 for file in self.files)


_GITHUB = "https://raw.githubusercontent.com"
_STARE = f"{_GITHUB}/migalkin/StarE/d2a2f5d8a02c992f9a2a3eb337ba6388acd85337/data"
_CODEX = f"{_GITHUB}/tsafavi/codex/e805ea2f512d7f0f8e44f213bc4db51dac0de118/data/triples"
_SPLITS = (DataFile("train.txt"), DataFile("valid.txt"), DataFile("test.txt"))
_WD50K_ORIGIN = "Galkin et al., EMNLP 2020, from Wikidata; repository migalkin/StarE"
_CODEX_ORIGIN = "Safavi and Koutra, EMNLP 2020, from Wikidata; repository tsafavi/codex"
_OF_FREEBASE = "CC BY 2.5 (Freebase)"
_OF_WIKIDATA = "CC0 (Wikidata)"

DATA_SETS = {
    "wd50k": DataSet(
        "WD50K: Wikidata, 14 % of statements with qualifiers",
        236_507,
        5.5,
        "CC BY 4.0",
        _WD50K_ORIGIN,
        f"{_STARE}/clean/wd50k/statements/",
        (
            DataFile(
                "train.txt", "e9aba6bb10e3deba00e2172d793ee793b93d134050d2fd00038f74e5757ecf59"
            ),
            DataFile(
                "valid.txt", "1e14707f2be1df2725f85876894c937e3293ff7bce68aaf8b340c743fb0a6f3d"
            ),
            DataFile(
                "test.txt", "d361fe8b4a0cfb41016471f9118f2d61ef0ed5c97569709ec2ba869b721b5028"
            ),
        ),
        "statements",
    ),
    "wd50k_33": DataSet(
        "WD50K, about 33 % of statements with qualifiers",
        102_107,
        2.7,
        "CC BY 4.0",
        _WD50K_ORIGIN,
        f"{_STARE}/clean/wd50k_33/statements/",
        _SPLITS,
        "statements",
    ),
    "wd50k_66": DataSet(
        "WD50K, about 66 % of statements with qualifiers",
        49_167,
        1.6,
        "CC BY 4.0",
        _WD50K_ORIGIN,
        f"{_STARE}/clean/wd50k_66/statements/",
        _SPLITS,
        "statements",
    ),
    "wd50k_100": DataSet(
        "WD50K, all statements with qualifiers",
        31_314,
        1.3,
        "CC BY 4.0",
        _WD50K_ORIGIN,
        f"{_STARE}/clean/wd50k_100/statements/",
        (
            DataFile(
                "train.txt", "383a1c794128fde7c595b53cfdb7b4fd5a13924ad9347f6a06b106bd54abbc60"
            ),
            DataFile(
                "valid.txt", "100a7acb06c79d1ed4c195f7f8973131feaeead30e07d5e08e901ab4c740727a"
            ),
            DataFile(
                "test.txt", "d27ee487fac4f53ba333562603cbd5866d40b876fb3b56e1c00ecb2f9490c565"
            ),
        ),
        "statements",
    ),
    # The split of repository liuyuaa/RAM, whose files LZ-LAB/HyConvE has at the same paths.
    "jf17k": DataSet(
        "JF17K: facts of Freebase with 2 to 6 entities; train and test overlap",
        100_947,
        5.6,
        _OF_FREEBASE,
        "Wen et al., IJCAI 2016, from Freebase; repository LZ-LAB/HyConvE",
        f"{_GITHUB}/LZ-LAB/HyConvE/97e13dd7c0541caef1920cbe0f158378b42eaae2/data/JF17K/",
        (
            DataFile(
                "train.txt", "0113a29a6b8ed73750db10c8e00078cfd805c757d390c6258f7b7bd8a9bed301"
            ),
            DataFile(
                "valid.txt", "286e8293cbc40f4432f93c128c11ad4746fc8dbd21a2294cf43e244b8350125b"
            ),
            DataFile(
                "test.txt", "bddd7648e36005ab8026112756afd078aec0724eb1b03305af3b6e86e5bf4c2a"
            ),
        ),
        "nary",
    ),
    "wikipeople": DataSet(
        "WikiPeople: facts of Wikidata about people",
        382_229,
        None,
        _OF_WIKIDATA,
        "Guan et al., WWW 2019, from Wikidata; repository migalkin/StarE",
        f"{_STARE}/raw_data/wikipeople/",
        (
            DataFile("n-ary_train.json"),
            DataFile("n-ary_valid.json"),
            DataFile("n-ary_test.json"),
        ),
        "nary",
    ),
    "fb15k-237": DataSet(
        "FB15k-237: triples of Freebase",
        310_116,
        None,
        _OF_FREEBASE,
        "Toutanova and Chen, CVSC 2015, from Freebase; published by Microsoft",
        "https://download.microsoft.com/download/8/7/0/8700516A-AB3D-4850-B4BB-805C515AECE1/",
        (
            DataFile("train.txt", member="Release/train.txt"),
            DataFile("valid.txt", member="Release/valid.txt"),
            DataFile("test.txt", member="Release/test.txt"),
        ),
        "statements",
        archive="FB15K-237.2.zip",
    ),
    "wn18rr": DataSet(
        "WN18RR: triples of WordNet",
        93_003,
        4.4,
        "WordNet licence",
        "Dettmers et al., AAAI 2018, from WordNet; repository villmow/datasets_knowledge_embedding",
        f"{_GITHUB}/villmow/datasets_knowledge_embedding/"
        "045a868edc0b18d7083b14e80715e82d92938fff/WN18RR/text/",
        _SPLITS,
        "statements",
    ),
    "codex-s": DataSet(
        "CoDEx, small: triples of Wikidata",
        36_543,
        0.7,
        _OF_WIKIDATA,
        _CODEX_ORIGIN,
        f"{_CODEX}/codex-s/",
        _SPLITS,
        "statements",
    ),
    "codex-m": DataSet(
        "CoDEx, medium: triples of Wikidata",
        206_205,
        4.1,
        _OF_WIKIDATA,
        _CODEX_ORIGIN,
        f"{_CODEX}/codex-m/",
        _SPLITS,
        "statements",
    ),
}
"""The known data sets by name."""
