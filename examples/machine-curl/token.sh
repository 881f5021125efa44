#!/usr/bin/env bash
set -euo pipefail
source .env

curl -sS --fail-with-body -u "$CLIENT_ID:$CLIENT_SECRET" -d grant_type=client_credentials "$ISSUER/oidc/token"
