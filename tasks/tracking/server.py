"""MLflow's server, run by this process."""

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from socket import socketpair

import psutil
from click import Abort, ClickException
from mlflow.exceptions import MlflowException

_GRACE = 15  # seconds that a request under way has when the server ends


def run_server(uri: str, port: int) -> None:
    """Run ``mlflow server`` on this machine alone until it ends; a signal that ends this process ends it.

    Beside this process there is one more, the server's only worker, which says nothing but errors. What is wrong with
    the store or with options of the environment is said on standard error.

    Raises:
        KeyboardInterrupt: SIGINT or SIGTERM came.
    """
    from mlflow.cli import cli  # warns of types of its own

    worker = f"--log-level error --timeout-graceful-shutdown {_GRACE}"
    options = {"backend-store-uri": uri, "host": "127.0.0.1", "port": port, "workers": 1, "uvicorn-opts": worker}
    given = [part for name, value in options.items() for part in (f"--{name}", str(value))]
    with _interrupting():
        try:
            cli.main(["server", *given], prog_name="mlflow", standalone_mode=False)
        except (Abort, SystemExit):  # Ctrl-C before there is a worker; the store cannot be opened
            return
        except ClickException as error:
            error.show()
        except MlflowException as error:
            print(error, file=sys.stderr)
        finally:
            _end_worker()


def _end_worker() -> None:
    """End the worker, where a signal came just when it was started."""
    left = []
    for each in psutil.Process().children():
        with suppress(psutil.Error):  # it has just ended
            if "uvicorn" in each.cmdline():
                each.terminate()
                left.append(each)
    for each in psutil.wait_procs(left, timeout=_GRACE)[1]:
        with suppress(psutil.Error):
            each.kill()


@contextmanager
def _interrupting() -> Iterator[None]:
    """Raise ``KeyboardInterrupt`` after the block if a signal came: MLflow's handlers return as if none had."""
    before = {each: signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM)}
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    come, write = socketpair()
    for end in (come, write):
        end.setblocking(False)
    signal.set_wakeup_fd(write.fileno())
    with come, write:
        try:
            yield
        finally:
            signal.set_wakeup_fd(-1)
            for each, handler in before.items():
                signal.signal(each, handler)
        try:
            came = come.recv(1)
        except BlockingIOError:
            came = b""
    if came:
        raise KeyboardInterrupt
