import type { Kind } from './kinds.ts'

/** The values that a snippet is filled in with. */
export type SnippetFacts = { issuer: string; clientId: string; redirectUri: string }

type SnippetFile = { name: string; write: (facts: SnippetFacts) => string }

/** How an application of one framework signs users in: the commands, then its files. */
export type Snippet = {
  id: string
  label: string
  kinds: readonly Kind[]
  /** The redirect URI of the framework on the machine of a developer. */
  redirectUri: string | null
  files: readonly SnippetFile[]
}

const originOf = (url: string): string => (URL.canParse(url) ? new URL(url).origin : url)
const pathOf = (url: string): string => (URL.canParse(url) ? new URL(url).pathname : '/callback')
const portOf = (url: string): string => (URL.canParse(url) && new URL(url).port) || '4000'

/** The lines by which a library accepts an issuer over http, which exists in development only. */
const onHttp = ({ issuer }: SnippetFacts, text: string): string => (issuer.startsWith('http:') ? text : '')

const command = (text: string | ((facts: SnippetFacts) => string)): SnippetFile => ({
  name: 'Commands',
  write: typeof text === 'string' ? () => text : text,
})

const NODE_OPTIONS = ({ issuer }: SnippetFacts): string =>
  issuer.startsWith('http:')
    ? ', {\n  execute: [client.allowInsecureRequests], // http, in development only\n}'
    : ''

export const SNIPPETS: readonly Snippet[] = [
  {
    id: 'next',
    label: 'Next.js with Auth.js',
    kinds: ['web'],
    redirectUri: 'http://localhost:4000/api/auth/callback/vestibule',
    files: [
      command(
        ({ redirectUri }) => `npm install next-auth
npx next dev --port ${portOf(redirectUri)}`,
      ),
      {
        name: '.env.local',
        write: ({ redirectUri }) => `NEXTAUTH_URL=${originOf(redirectUri)}
NEXTAUTH_SECRET= # openssl rand -base64 32
CLIENT_SECRET= # the secret of the application`,
      },
      {
        name: 'app/api/auth/[...nextauth]/route.js',
        write: ({ issuer, clientId }) => `import NextAuth from 'next-auth'

const handler = NextAuth({
  providers: [
    {
      id: 'vestibule',
      name: 'Vestibule',
      type: 'oauth',
      wellKnown: '${issuer}/.well-known/openid-configuration',
      clientId: '${clientId}',
      clientSecret: process.env.CLIENT_SECRET,
      authorization: { params: { scope: 'openid email profile' } },
      client: { id_token_signed_response_alg: 'ES256' },
      idToken: true,
      checks: ['pkce', 'state'],
      userinfo: { request: ({ client, tokens }) => client.userinfo(tokens.access_token) },
      profile: ({ sub, name, email }) => ({ id: sub, name, email }),
    },
  ],
})

export { handler as GET, handler as POST }`,
      },
      {
        name: 'app/page.js',
        write: () => `import { getServerSession } from 'next-auth'

export default async function Page() {
  const session = await getServerSession()
  if (!session) return <a href="/api/auth/signin">Sign in</a>
  return <p>Signed in as {session.user.email}</p>
}`,
      },
    ],
  },
  {
    id: 'express',
    label: 'Express with openid-client',
    kinds: ['web'],
    redirectUri: 'http://localhost:4000/callback',
    files: [
      command(`npm install express express-session openid-client
CLIENT_SECRET=… node server.mjs`),
      {
        name: 'server.mjs',
        write: (facts) => `import express from 'express'
import session from 'express-session'
import * as client from 'openid-client'

const REDIRECT_URI = '${facts.redirectUri}'
const config = await client.discovery(
  new URL('${facts.issuer}'),
  '${facts.clientId}',
  process.env.CLIENT_SECRET,
  undefined,
  {${onHttp(facts, ' execute: [client.allowInsecureRequests] ')}},${onHttp(facts, ' // http, in development only')}
)

const app = express()
app.use(session({ secret: client.randomState(), resave: false, saveUninitialized: false }))

app.get('/sign-in', async (request, response) => {
  const checks = { pkceCodeVerifier: client.randomPKCECodeVerifier(), expectedState: client.randomState() }
  request.session.checks = checks
  const url = client.buildAuthorizationUrl(config, {
    redirect_uri: REDIRECT_URI,
    scope: 'openid email profile',
    state: checks.expectedState,
    code_challenge: await client.calculatePKCECodeChallenge(checks.pkceCodeVerifier),
    code_challenge_method: 'S256',
  })
  response.redirect(url.href)
})

app.get('${pathOf(facts.redirectUri)}', async (request, response) => {
  const url = new URL(request.originalUrl, REDIRECT_URI)
  const tokens = await client.authorizationCodeGrant(config, url, request.session.checks)
  const user = await client.fetchUserInfo(config, tokens.access_token, tokens.claims().sub)
  request.session.regenerate(() => {
    request.session.user = user
    response.redirect('/')
  })
})

app.get('/', ({ session: { user } }, response) =>
  response.send(user ? \`Signed in as \${user.email}\` : '<a href="/sign-in">Sign in</a>'),
)

app.listen(${portOf(facts.redirectUri)})`,
      },
    ],
  },
  {
    id: 'fastapi',
    label: 'FastAPI with Authlib',
    kinds: ['web'],
    redirectUri: 'http://localhost:8000/callback',
    files: [
      command(
        ({ redirectUri }) => `pip install fastapi uvicorn authlib httpx itsdangerous
CLIENT_SECRET=… uvicorn main:app --port ${portOf(redirectUri)}`,
      ),
      {
        name: 'main.py',
        write: ({ issuer, clientId, redirectUri }) => `import os, secrets

from authlib.integrations.starlette_client import OAuth
from fastapi import FastAPI, Request
from fastapi.responses import RedirectResponse
from starlette.middleware.sessions import SessionMiddleware

app = FastAPI()
app.add_middleware(SessionMiddleware, secret_key=secrets.token_urlsafe())

vestibule = OAuth().register(
    "vestibule",
    server_metadata_url="${issuer}/.well-known/openid-configuration",
    client_id="${clientId}",
    client_secret=os.environ["CLIENT_SECRET"],
    client_kwargs={"scope": "openid email profile", "code_challenge_method": "S256"},
)


@app.get("/sign-in")
async def sign_in(request: Request):
    return await vestibule.authorize_redirect(request, "${redirectUri}")


@app.get("${pathOf(redirectUri)}")
async def callback(request: Request):
    token = await vestibule.authorize_access_token(request)
    request.session["user"] = dict(await vestibule.userinfo(token=token))
    return RedirectResponse("/")


@app.get("/")
async def index(request: Request):
    return request.session.get("user") or RedirectResponse("/sign-in")`,
      },
    ],
  },
  {
    id: 'go',
    label: 'Go with go-oidc',
    kinds: ['web'],
    redirectUri: 'http://localhost:4000/callback',
    files: [
      command(`go mod init example.com/app
go get github.com/coreos/go-oidc/v3/oidc golang.org/x/oauth2
CLIENT_SECRET=… go run .`),
      {
        name: 'main.go',
        write: ({ issuer, clientId, redirectUri }) => `package main

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"os"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
)

func setCookie(w http.ResponseWriter, name, value string) {
	http.SetCookie(w, &http.Cookie{Name: name, Value: value, Path: "/", MaxAge: 600, HttpOnly: true, SameSite: http.SameSiteLaxMode})
}

func main() {
	provider, err := oidc.NewProvider(context.Background(), "${issuer}")
	if err != nil {
		log.Fatal(err)
	}
	config := oauth2.Config{
		ClientID:     "${clientId}",
		ClientSecret: os.Getenv("CLIENT_SECRET"),
		Endpoint:     provider.Endpoint(),
		RedirectURL:  "${redirectUri}",
		Scopes:       []string{oidc.ScopeOpenID, "email", "profile"},
	}

	http.HandleFunc("/sign-in", func(w http.ResponseWriter, r *http.Request) {
		state, verifier := oauth2.GenerateVerifier(), oauth2.GenerateVerifier()
		setCookie(w, "state", state)
		setCookie(w, "verifier", verifier)
		http.Redirect(w, r, config.AuthCodeURL(state, oauth2.S256ChallengeOption(verifier)), http.StatusFound)
	})

	http.HandleFunc("${pathOf(redirectUri)}", func(w http.ResponseWriter, r *http.Request) {
		state, err := r.Cookie("state")
		verifier, missing := r.Cookie("verifier")
		if err != nil || missing != nil || r.FormValue("state") != state.Value {
			http.Error(w, "The sign-in did not start here.", http.StatusBadRequest)
			return
		}
		token, err := config.Exchange(r.Context(), r.FormValue("code"), oauth2.VerifierOption(verifier.Value))
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		idToken, _ := token.Extra("id_token").(string)
		if _, err := provider.Verifier(&oidc.Config{ClientID: config.ClientID}).Verify(r.Context(), idToken); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		user, err := provider.UserInfo(r.Context(), config.TokenSource(r.Context(), token))
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		fmt.Fprintf(w, "Signed in as %s", user.Email)
	})

	log.Fatal(http.ListenAndServe(":${portOf(redirectUri)}", nil))
}`,
      },
    ],
  },
  {
    id: 'spring',
    label: 'Spring Boot',
    kinds: ['web'],
    redirectUri: 'http://localhost:8080/login/oauth2/code/vestibule',
    files: [
      {
        name: 'build.gradle',
        write: () => `dependencies {
    implementation 'org.springframework.boot:spring-boot-starter-web'
    implementation 'org.springframework.boot:spring-boot-starter-oauth2-client'
}`,
      },
      {
        name: 'application.yml',
        write: ({ issuer, clientId, redirectUri }) => `spring:
  security:
    oauth2:
      client:
        registration:
          vestibule:
            client-id: ${clientId}
            client-secret: \${CLIENT_SECRET}
            redirect-uri: ${redirectUri}
            scope: openid, email, profile
        provider:
          vestibule:
            issuer-uri: ${issuer}`,
      },
      {
        name: 'UserController.java',
        write: () => `@RestController
class UserController {
    @GetMapping("/")
    String index(@AuthenticationPrincipal OidcUser user) {
        return "Signed in as " + user.getEmail();
    }
}`,
      },
    ],
  },
  {
    id: 'aspnet',
    label: 'ASP.NET Core',
    kinds: ['web'],
    redirectUri: 'http://localhost:5000/signin-oidc',
    files: [
      command(
        ({ redirectUri }) => `dotnet add package Microsoft.AspNetCore.Authentication.OpenIdConnect
CLIENT_SECRET=… dotnet run --urls ${originOf(redirectUri)}`,
      ),
      {
        name: 'Program.cs',
        write: (facts) => `using Microsoft.AspNetCore.Authentication.Cookies;
using Microsoft.AspNetCore.Authentication.OpenIdConnect;

var builder = WebApplication.CreateBuilder(args);
builder.Services.AddAuthorization();
builder.Services
    .AddAuthentication(options =>
    {
        options.DefaultScheme = CookieAuthenticationDefaults.AuthenticationScheme;
        options.DefaultChallengeScheme = OpenIdConnectDefaults.AuthenticationScheme;
    })
    .AddCookie()
    .AddOpenIdConnect(options =>
    {
        options.Authority = "${facts.issuer}";
        options.ClientId = "${facts.clientId}";
        options.ClientSecret = builder.Configuration["CLIENT_SECRET"];
        options.CallbackPath = "${pathOf(facts.redirectUri)}";
        options.ResponseType = "code";
        options.ResponseMode = "query";
        options.Scope.Add("email");
        options.GetClaimsFromUserInfoEndpoint = true;
        options.MapInboundClaims = false;${onHttp(
          facts,
          `
        // http, in development only
        options.RequireHttpsMetadata = false;
        options.CorrelationCookie.SameSite = options.NonceCookie.SameSite = SameSiteMode.Lax;
        options.CorrelationCookie.SecurePolicy = options.NonceCookie.SecurePolicy = CookieSecurePolicy.SameAsRequest;`,
        )}
    });

var app = builder.Build();
app.UseAuthentication();
app.UseAuthorization();
app.MapGet("/", (HttpContext context) => $"Signed in as {context.User.FindFirst("email")?.Value}").RequireAuthorization();
app.Run();`,
      },
    ],
  },
  {
    id: 'react',
    label: 'React with oidc-client-ts',
    kinds: ['single-page'],
    redirectUri: 'http://localhost:5173/callback',
    files: [
      command(`npm create vite@latest app -- --template react
cd app && npm install oidc-client-ts && npm run dev`),
      {
        name: 'src/auth.js',
        write: ({ issuer, clientId, redirectUri }) => `import { UserManager } from 'oidc-client-ts'

export const users = new UserManager({
  authority: '${issuer}',
  client_id: '${clientId}',
  redirect_uri: '${redirectUri}',
  scope: 'openid email profile',
  loadUserInfo: true,
})

/** The user who is signed in; null for nobody. */
export async function loadUser() {
  if (location.href.startsWith('${redirectUri}?')) {
    await users.signinCallback()
    history.replaceState(null, '', '/')
  }
  return users.getUser()
}`,
      },
      {
        name: 'src/main.jsx',
        write: () => `import { createRoot } from 'react-dom/client'
import { loadUser, users } from './auth.js'

const user = await loadUser()
createRoot(document.getElementById('root')).render(
  user ? (
    <p>Signed in as {user.profile.email}</p>
  ) : (
    <button onClick={() => users.signinRedirect()}>Sign in</button>
  ),
)`,
      },
    ],
  },
  {
    id: 'angular',
    label: 'Angular with angular-auth-oidc-client',
    kinds: ['single-page'],
    redirectUri: 'http://localhost:4200/callback',
    files: [
      command('npm install angular-auth-oidc-client'),
      {
        name: 'src/app/app.config.ts',
        write: ({ issuer, clientId, redirectUri }) => `import { provideAuth } from 'angular-auth-oidc-client'

export const appConfig = {
  providers: [
    provideAuth({
      config: {
        authority: '${issuer}',
        clientId: '${clientId}',
        redirectUrl: '${redirectUri}',
        scope: 'openid email profile',
        responseType: 'code',
      },
    }),
  ],
}`,
      },
      {
        name: 'src/app/app.ts',
        write: () => `import { AsyncPipe } from '@angular/common'
import { Component, inject } from '@angular/core'
import { OidcSecurityService } from 'angular-auth-oidc-client'

@Component({
  selector: 'app-root',
  imports: [AsyncPipe],
  template: \`
    @if ((auth.userData$ | async)?.userData; as user) {
      <p>Signed in as {{ user.email }}</p>
    } @else {
      <button (click)="auth.authorize()">Sign in</button>
    }
  \`,
})
export class App {
  auth = inject(OidcSecurityService)

  ngOnInit() {
    this.auth.checkAuth().subscribe()
  }
}`,
      },
    ],
  },
  {
    id: 'native-node',
    label: 'Node or Electron with openid-client',
    kinds: ['native'],
    redirectUri: 'http://127.0.0.1/callback',
    files: [
      command('npm install openid-client open'),
      {
        name: 'sign-in.mjs',
        write: (facts) => `import { once } from 'node:events'
import { createServer } from 'node:http'
import open from 'open'
import * as client from 'openid-client'

const config = await client.discovery(
  new URL('${facts.issuer}'),
  '${facts.clientId}',
  undefined,
  client.None()${NODE_OPTIONS(facts)},
)

// The redirect URI is registered without a port: any port is accepted.
const server = createServer().listen(0, '127.0.0.1')
await once(server, 'listening')
const callback = new URL('${facts.redirectUri}')
callback.port = server.address().port

const checks = { pkceCodeVerifier: client.randomPKCECodeVerifier(), expectedState: client.randomState() }
const url = client.buildAuthorizationUrl(config, {
  redirect_uri: callback.href,
  scope: 'openid email profile',
  state: checks.expectedState,
  code_challenge: await client.calculatePKCECodeChallenge(checks.pkceCodeVerifier),
  code_challenge_method: 'S256',
})
console.log(\`Opening \${url}\`)
await open(url.href)

const [request, response] = await once(server, 'request')
const tokens = await client.authorizationCodeGrant(config, new URL(request.url, callback), checks)
const user = await client.fetchUserInfo(config, tokens.access_token, tokens.claims().sub)
response.end('You are signed in. Close this window.')
console.log(\`Signed in as \${user.email}\`)
server.close()`,
      },
    ],
  },
  {
    id: 'device-node',
    label: 'Node with openid-client',
    kinds: ['device'],
    redirectUri: null,
    files: [
      command('npm install openid-client'),
      {
        name: 'sign-in.mjs',
        write: (facts) => `import * as client from 'openid-client'

const config = await client.discovery(
  new URL('${facts.issuer}'),
  '${facts.clientId}',
  undefined,
  client.None()${NODE_OPTIONS(facts)},
)

const device = await client.initiateDeviceAuthorization(config, { scope: 'openid email profile' })
console.log(\`Open \${device.verification_uri} and enter \${device.user_code}\`)

const tokens = await client.pollDeviceAuthorizationGrant(config, device)
const user = await client.fetchUserInfo(config, tokens.access_token, tokens.claims().sub)
console.log(\`Signed in as \${user.email}\`)`,
      },
    ],
  },
  {
    id: 'device-curl',
    label: 'curl',
    kinds: ['device'],
    redirectUri: null,
    files: [
      {
        name: 'Commands',
        write: ({ issuer, clientId }) => `# Show verification_uri and user_code of the response.
curl -d client_id=${clientId} -d scope='openid email profile' ${issuer}/oidc/device

# Every five seconds, until the response is no longer authorization_pending.
curl -d client_id=${clientId} -d device_code=… \\
  -d grant_type=urn:ietf:params:oauth:grant-type:device_code ${issuer}/oidc/token`,
      },
    ],
  },
  {
    id: 'machine-curl',
    label: 'curl',
    kinds: ['machine'],
    redirectUri: null,
    files: [
      {
        name: 'Commands',
        write: ({ issuer, clientId }) =>
          `curl -u "${clientId}:$CLIENT_SECRET" -d grant_type=client_credentials ${issuer}/oidc/token`,
      },
    ],
  },
  {
    id: 'machine-node',
    label: 'Node with openid-client',
    kinds: ['machine'],
    redirectUri: null,
    files: [
      command(`npm install openid-client
CLIENT_SECRET=… node token.mjs`),
      {
        name: 'token.mjs',
        write: (facts) => `import * as client from 'openid-client'

const config = await client.discovery(
  new URL('${facts.issuer}'),
  '${facts.clientId}',
  process.env.CLIENT_SECRET,
  undefined${NODE_OPTIONS(facts)},
)

const tokens = await client.clientCredentialsGrant(config)
console.log(\`A token for \${tokens.expires_in} seconds: \${tokens.access_token}\`)`,
      },
    ],
  },
  {
    id: 'machine-python',
    label: 'Python with Authlib',
    kinds: ['machine'],
    redirectUri: null,
    files: [
      command(`pip install authlib httpx
CLIENT_SECRET=… python token_example.py`),
      {
        name: 'token_example.py',
        write: ({ issuer, clientId }) => `import os

from authlib.integrations.httpx_client import OAuth2Client

client = OAuth2Client(client_id="${clientId}", client_secret=os.environ["CLIENT_SECRET"])
token = client.fetch_token("${issuer}/oidc/token", grant_type="client_credentials")
print(token["access_token"])`,
      },
    ],
  },
]
