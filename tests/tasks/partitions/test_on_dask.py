import os
import socket
from contextlib import ExitStack, suppress

import pytest

pytest.importorskip("distributed")

from synthrisk.metrics.models.threads import ONE_THREAD
from synthrisk.tasks.partitions import cluster


def test_its_server_of_pages_takes_a_free_port_of_this_machine_alone():
    with ExitStack() as held:
        with suppress(OSError):  # another holds it already
            held.enter_context(socket.create_server(("", 8787)))
        with cluster(None, 1) as client:
            assert client.submit(sum, [1, 2]).result() == 3
            pages = client.cluster.scheduler.http_server
            assert pages.address == "127.0.0.1"
            assert pages.port != 8787


def test_its_workers_compute_with_one_thread_each():
    with cluster(None, 1) as client:
        assert {name: client.submit(os.getenv, name).result() for name in ONE_THREAD} == ONE_THREAD
