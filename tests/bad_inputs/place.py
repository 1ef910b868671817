"""Places that cannot be written, and servers that do not answer."""

from bad_inputs.case import EVALUATE, Case, override

_RELEASE = (*EVALUATE, "--synthetic", "release.csv")

PLACES: tuple[Case, ...] = (
    override("workspace=people.csv", "workspace must be a folder, got 'people.csv', which is a file"),
    override("workspace=people.csv/deep/work", "workspace must be a folder in a folder"),
    override("workspace=/proc/work", "workspace must be a folder that can be written, got '/proc/work', which cannot"),
    override("workspace=''", "workspace: must not be empty, got ''"),
    override("workspace=sftp://host/work", "workspace must be a folder or begin with s3://, s3a://, file://, memory://, got 'sftp:"),
    override("workspace=s3://me:Zebrafink-Qx7@host/work", "a URL must take its password from the environment (${NAME})"),
    override("workspace=s3://bucket/work?x=1", "workspace must be a place such as s3://bucket/folder, without user, variables or"),
    override("workspace=file:///proc/work", "workspace must be a place that"),
    override("workspace=memory://work", "workspace memory:// is in one process alone, which workers of processes do not see"),
    override("tracking.uri=http://127.0.0.1:9", "tracking.uri must lead to a server that answers, got none at 127.0.0.1:9"),
    override("tracking.uri=http://", "tracking.uri must name a server, as in http://host:port, got none"),
    override("tracking.uri=http://host.invalid:5000", "tracking.uri must lead to a server that answers, got none at host.invalid"),
    override("tracking.uri=htp://host:5000", "tracking.uri must begin with one of http, https, sqlite"),
    override("tracking.uri=http://me:Zebrafink-Qx7@host", "a URL must take its password from the environment (${NAME})"),
    override("tracking.uri=http://me:${NOWHERE_SET}@host", "the environment variable NOWHERE_SET must be named in SYNTHRISK_VARIABLES before an address can take it, got none there"),
    override("tracking.uri=postgresql://127.0.0.1:9/mlflow", "tracking.uri must lead to a server that answers, got none at 127.0.0.1:9"),
    override("tracking.uri=sqlite:///nowhere/deep/mlflow.db", "tracking.uri must be a file in a folder that is there, got 'nowhere/deep/mlflow.db'"),
    override("tracking.uri=sqlite:///people.csv", "tracking.uri must be an SQLite file, got 'people.csv', which is another kind"),
    override("tracking.uri=people.csv", "tracking.uri must be a folder, got 'people.csv', which is a file"),
    override("tracking.uri=5", "tracking.uri: must be a text, got 5"),
    override("runner={kind: dask, address: 'tcp://127.0.0.1:9'}", "runner.address must lead to a server that answers"),
    override("runner={kind: dask, address: host}", "runner.address must be tcp://host:port, got 'host'"),
    override("runner={kind: dask, address: 'tcp://host:port'}", "runner.address must be tcp://host:port, got 'tcp://host:port'"),
    override("runner={kind: dask, address: 5}", "runner.address: must be a text, got 5"),
    Case("--json is a folder", (*_RELEASE, "--json", "folder"), "--json must be a file, got 'folder', which is a folder"),
    Case("--json in a file", (*_RELEASE, "--json", "people.csv/out.json"), "--json must be a file in a folder"),
    *(Case(f"--json is {what}", (*_RELEASE, "--json", path, *more), f"--json must be a file of its own, got '{path}', which the command reads")
      for what, path, more in (("the real table", "people.csv", ()), ("the release", "folder/../release.csv", ()),
                               ("the control records", "study.yaml", ("--control", "study.yaml")))),
    Case("--json in a closed folder", (*_RELEASE, "--json", "/proc/out.json"), "--json must be a file that can be written"),
    Case("--workspace is a file", (*_RELEASE, "--workspace", "people.csv"), "workspace must be a folder, got 'people.csv'"),
    Case("--to of split is a file", ("split", "study.yaml", "--to", "people.csv"), "--to must be a folder, got 'people.csv', which is a file"),
    Case("--to of split in a file", ("split", "study.yaml", "--to", "people.csv/parts"), "--to must be a folder in a folder"),
    Case("--to of split in a closed folder", ("split", "study.yaml", "--to", "/proc/parts"), "--to must be a folder that can be written"),
    Case("--to of init is a folder", ("init", "people.csv", "--to", "folder"), "--to must be a file, got 'folder', which is a folder"),
    Case("--to of init in a file", ("init", "people.csv", "--to", "people.csv/own.yaml"), "--to must be a file in a folder"),
    Case("--to of init in a closed folder", ("init", "people.csv", "--to", "/proc/own.yaml"), "--to must be a file that can be written"),
    Case("--to of init is the table", ("init", "people.csv", "--to", "people.csv"), "--to must be a new file (or give --force), got 'people.csv'"),
)  # fmt: skip
