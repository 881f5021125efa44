#!/usr/bin/env bash
set -euo pipefail
issuer=http://localhost:3000/demo
client=your-client-id

response=$(curl -sS --fail-with-body -d client_id="$client" -d scope='openid email profile' "$issuer/oidc/device")
read_member() { sed -E "s/.*\"$1\":\"([^\"]*)\".*/\1/" <<<"$response"; }
echo "Open $(read_member verification_uri) and enter $(read_member user_code)"

# The response is authorization_pending until the user has entered the code.
until tokens=$(curl -sS --fail-with-body -d client_id="$client" -d device_code="$(read_member device_code)" \
  -d grant_type=urn:ietf:params:oauth:grant-type:device_code "$issuer/oidc/token"); do
  case $tokens in *authorization_pending*) sleep 5 ;; *) echo "$tokens" >&2 && exit 1 ;; esac
done
echo "$tokens"
