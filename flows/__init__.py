"""Prefect flows: ``benchmark`` runs a study, ``evaluate`` judges one release. Importing this changes nothing."""
