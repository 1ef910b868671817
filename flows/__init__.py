"""Prefect flows: ``benchmark`` runs a study, ``evaluate`` judges one release."""

import os

# Before prefect and mlflow are imported anywhere: nothing is sent to anyone, workers do not fight for cores.
for _name, _value in {
    "DO_NOT_TRACK": "true",
    "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
    "PREFECT_CLOUD_ENABLE_ORCHESTRATION_TELEMETRY": "false",
    "PREFECT_TELEMETRY_ENABLE_RESOURCE_METRICS": "false",
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS": "240",
    "OMP_WAIT_POLICY": "passive",
}.items():
    os.environ.setdefault(_name, _value)
