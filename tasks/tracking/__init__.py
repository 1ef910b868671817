"""What a study leaves in MLflow, one idea a file; the only room that imports mlflow."""

import logging

for _name in ("mlflow", "alembic"):  # a new store says how it makes its tables
    logging.getLogger(_name).setLevel(logging.WARNING)
