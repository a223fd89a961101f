"""Verifies messages with the package of Standard Webhooks: a list of secrets, bodies and headers, from standard input."""

import json
import sys

from standardwebhooks import Webhook, WebhookVerificationError


def verify(message):
    try:
        return Webhook(message["secret"]).verify(message["body"], message["headers"])["type"]
    except WebhookVerificationError as error:
        return f"refused: {error}"


json.dump([verify(message) for message in json.load(sys.stdin)], sys.stdout)
