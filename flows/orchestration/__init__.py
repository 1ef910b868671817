"""What Prefect is told and asked: its server, flow runs, artifacts, events and progress; no task runs here."""
