"""How the tasks of a study run; what they are is in ``tasks``, what Prefect is told of them in ``orchestration``.

There are two ways, with one interface, ``Calls``: as task runs of a Prefect flow (``task_runs``), and as functions in
worker processes of our own (``pool``) or in this process. A study that a command runs on one machine takes the
second: an own Prefect server costs 26 to 29 s of CPU time a study, whatever its size, and the import of Prefect one
more; the same 28 releases took 10.5 s of CPU time in our pool, 13.2 s with plain spawned workers and 13.4 s with loky,
and three times as long on the clock as task runs. The course of a study (``flows.course``) is written once, against
the interface, and cannot tell which way it goes. That both end in the same is tested to the byte of what they keep
(``tests/flows/test_agreement.py``).
"""
