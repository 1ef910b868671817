"""The environment of a command: nothing is sent to anyone, and no log covers the answer."""

import os

QUIET = {
    "DO_NOT_TRACK": "true",
    "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
    "PREFECT_CLOUD_ENABLE_ORCHESTRATION_TELEMETRY": "false",
    "PREFECT_TELEMETRY_ENABLE_RESOURCE_METRICS": "false",
    "MLFLOW_DISABLE_TELEMETRY": "true",
}
_PATIENT = {"PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS": "240"}
_SILENT = {
    "PREFECT_LOGGING_HANDLERS_CONSOLE_LEVEL": "CRITICAL",  # the closing table says what failed
    "PREFECT_LOGGING_INTERNAL_LEVEL": "CRITICAL",  # each event that a server which is gone does not take
    "MLFLOW_LOGGING_LEVEL": "WARNING",  # a new store is no news
}
_ASLEEP = {"OMP_WAIT_POLICY": "passive"}  # threads of models that wait would turn in circles on cores that others need
_BOUNDED = {  # MLflow's own retries take minutes, request after request: a study that cannot be logged waits
    "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "5",  # a minute in all, while a server starts again
    "MLFLOW_HTTP_REQUEST_TIMEOUT": "30",  # seconds
}


def set_up() -> None:
    """Set what is not set, before prefect and mlflow are imported."""
    for name, value in (QUIET | _PATIENT | _SILENT | _ASLEEP | _BOUNDED).items():
        os.environ.setdefault(name, value)
