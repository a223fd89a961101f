"""Runs moto, which answers as Amazon's S3 does, until standard input ends. Prints its port and a key that it checks."""

import json
import logging
import os
import sys

# The first requests, which create the key, need none.
os.environ["INITIAL_NO_AUTH_ACTION_COUNT"] = "3"

import boto3
from moto.server import ThreadedMotoServer

logging.getLogger("werkzeug").disabled = True
server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
server.start()
_, port = server.get_host_and_port()
iam = boto3.client(
    "iam",
    endpoint_url=f"http://127.0.0.1:{port}",
    region_name="us-east-1",
    aws_access_key_id="none",
    aws_secret_access_key="none",
)
policy = {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "s3:*", "Resource": "*"}]}
iam.create_user(UserName="transcribe")
iam.put_user_policy(UserName="transcribe", PolicyName="all", PolicyDocument=json.dumps(policy))
key = iam.create_access_key(UserName="transcribe")["AccessKey"]
print(json.dumps({"port": port, "accessKeyId": key["AccessKeyId"], "secretAccessKey": key["SecretAccessKey"]}), flush=True)
sys.stdin.read()
server.stop()
