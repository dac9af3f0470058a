"""A server in a process of its own: `serving_process.py GRAPH RUN PORT BATCH`.

With a batch of 1, every question is answered alone. `bench_serving.py` keeps one at a time.
"""

from __future__ import annotations

import sys
from pathlib import Path

import uvicorn

import nqe
from nqe.demo import NAME
from nqe.readers import read
from nqe.server.app import create_app
from nqe.server.service import Service
from nqe.server.state import State
from nqe.settings import ServingSettings


def main() -> None:
    graph, run, port, batch = sys.argv[1:]
    settings = ServingSettings(batch=int(batch), share=512)

    def load(state: State) -> Service:
        dataset = nqe.demo_dataset() if graph == NAME else read(graph)
        answerer = nqe.open(run, graph=dataset, facts="train,valid")
        return Service(answerer, Path(graph).name, state.settings)

    app = create_app(settings, load=load)
    uvicorn.run(app, host="127.0.0.1", port=int(port), log_level="error", access_log=False)


if __name__ == "__main__":
    main()
