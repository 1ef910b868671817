"""An S3 server of this machine, until the process ends: prints its address."""

import threading

import boto3
from moto.server import ThreadedMotoServer

server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
server.start()
address = "http://{}:{}".format(*server.get_host_and_port())
boto3.client(
    "s3", endpoint_url=address, region_name="us-east-1", aws_access_key_id="any", aws_secret_access_key="any"
).create_bucket(Bucket="studies")
print(address, flush=True)
threading.Event().wait()
