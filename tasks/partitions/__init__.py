"""Evaluation of tables that outgrow one machine: Parquet files in parts on a Dask cluster. Imports Dask on use."""
