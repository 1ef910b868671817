import time
from synthrisk.conf import load
def test_probe(prefect_database, tmp_path):
    print(prefect_database)
    from synthrisk.flows.benchmark import benchmark
    t=time.time()
    out = benchmark("smoke", [f"workspace={tmp_path}/w","split.repetitions=1"])
    print(time.time()-t, out.result.exit_code, out.result.failures)
