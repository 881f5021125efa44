import os
import secrets
from urllib.parse import urlparse

from authlib.integrations.starlette_client import OAuth
from fastapi import FastAPI, Request
from fastapi.responses import HTMLResponse, RedirectResponse
from starlette.middleware.sessions import SessionMiddleware

REDIRECT_URI = os.environ["REDIRECT_URI"]

app = FastAPI()
app.add_middleware(SessionMiddleware, secret_key=secrets.token_urlsafe())

vestibule = OAuth().register(
    "vestibule",
    server_metadata_url=f"{os.environ['ISSUER']}/.well-known/openid-configuration",
    client_id=os.environ["CLIENT_ID"],
    client_secret=os.environ["CLIENT_SECRET"],
    client_kwargs={"scope": "openid email profile", "code_challenge_method": "S256"},
)


@app.get("/sign-in")
async def sign_in(request: Request):
    return await vestibule.authorize_redirect(request, REDIRECT_URI)


@app.get(urlparse(REDIRECT_URI).path)
async def callback(request: Request):
    token = await vestibule.authorize_access_token(request)
    request.session["user"] = dict(await vestibule.userinfo(token=token))
    return RedirectResponse("/")


@app.get("/", response_class=HTMLResponse)
async def index(request: Request):
    user = request.session.get("user")
    return f"Signed in as {user['email']}" if user else '<a href="/sign-in">Sign in</a>'
