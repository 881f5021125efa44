import os
from typing import Annotated

import jwt
from fastapi import Depends, FastAPI, HTTPException
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

ISSUER = os.environ["ISSUER"]
AUDIENCE = os.environ["AUDIENCE"]
keys = jwt.PyJWKClient(f"{ISSUER}/.well-known/jwks.json")
bearer = HTTPBearer(auto_error=False)


def authenticate(credentials: Annotated[HTTPAuthorizationCredentials | None, Depends(bearer)]) -> dict:
    """The claims of an access token for this API (RFC 9068, section 4)."""
    try:
        if credentials is None:
            raise jwt.InvalidTokenError("There is no token.")
        token = credentials.credentials
        if jwt.get_unverified_header(token).get("typ") != "at+jwt":
            raise jwt.InvalidTokenError("The token is not an access token.")
        key = keys.get_signing_key_from_jwt(token)
        return jwt.decode(token, key, algorithms=["ES256"], audience=AUDIENCE, issuer=ISSUER)
    except jwt.PyJWTError as error:
        raise HTTPException(401, str(error), {"WWW-Authenticate": "Bearer"}) from error


def require(permission: str):
    """Rejects a token without a permission of this API."""

    def check(claims: Annotated[dict, Depends(authenticate)]) -> dict:
        if permission not in claims.get("permissions", []):
            raise HTTPException(403, f"This needs the permission {permission}.")
        return claims

    return check


app = FastAPI()


@app.get("/me")
def me(claims: Annotated[dict, Depends(authenticate)]):
    return {"sub": claims["sub"], "client_id": claims["client_id"], "scope": claims.get("scope")}


@app.get("/orders", dependencies=[Depends(require("orders:read"))])
def orders():
    return [{"id": 1}]
