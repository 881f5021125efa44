import os

from authlib.integrations.httpx_client import OAuth2Client
from dotenv import load_dotenv

load_dotenv()
client = OAuth2Client(os.environ["CLIENT_ID"], os.environ["CLIENT_SECRET"])
token = client.fetch_token(f"{os.environ['ISSUER']}/oidc/token", grant_type="client_credentials")
print(f"A token for {token['expires_in']} seconds: {token['access_token']}")
