import { createNonce } from '../../src/access/dpop/dpop-nonces.ts'
import { createPlatformCtx } from '../../src/context/context.ts'
import type { BudgetName } from '../../src/coordination/storage-budgets.ts'
import { issuerOf } from '../../src/core/issuer.ts'
import { buildCallbackUrl } from '../../src/idps/callback-url.ts'
import { createIdentityProvider } from '../../src/idps/idps.ts'
import { updateSettings } from '../../src/tenants/settings.ts'
import { JWT_BEARER } from './client-assertions.ts'
import { closers } from './environment.ts'
import type { PageBrowser } from './page-browser.ts'
import { makeAssertion, makeKey, makeProof } from './proofs.ts'
import { authorizePath, codeFor, csrfIn, makeClient, REDIRECT_URI } from './protocol.ts'
import { readTransfer, signInUpstream } from './provider-sign-in.ts'
import { createUpstreamKeys, startUpstream } from './upstream.ts'

type Act = () => Promise<Response>
type Scene = { slug: string; client: { id: string } }

const toForm = (path: string) => new URLSearchParams(path.split('?')[1])

async function openForm(browser: PageBrowser, path: string) {
  const { response, path: at } = await browser.open(path)
  return { csrf: csrfIn(await response.text()), at }
}

/** Registers a client with a key, as a stranger; returns what makes its parameters of authentication. */
async function registerWithKeys(browser: PageBrowser, slug: string) {
  await updateSettings(createPlatformCtx(slug), { openRegistration: true })
  const key = await makeKey()
  const registered = await browser.fetch(`/${slug}/oidc/register`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      redirect_uris: [REDIRECT_URI],
      token_endpoint_auth_method: 'private_key_jwt',
      jwks: { keys: [{ ...key.jwk, kid: 'ec' }] },
    }),
  })
  const { client_id: id } = (await registered.json()) as { client_id: string }
  const assert = async (lifetimeSeconds = 60) => ({
    client_assertion_type: JWT_BEARER,
    client_assertion: await makeAssertion(
      key,
      { clientId: id, audience: issuerOf(slug) },
      { claims: { exp: Math.floor(Date.now() / 1000) + lifetimeSeconds }, header: { kid: 'ec' } },
    ),
  })
  return { id, assert }
}

/** Requests of strangers that store rows: what is prepared before the request, and the request. */
export const STORING_REQUESTS: [
  what: string,
  budget: BudgetName,
  prepare: (browser: PageBrowser, scene: Scene) => Promise<Act>,
][] = [
  [
    'an authorize request',
    'pendingRequest',
    async (browser, { slug, client }) =>
      () =>
        browser.fetch(authorizePath(slug, client)),
  ],
  [
    'an authorize request by POST',
    'pendingRequest',
    async (browser, { slug, client }) =>
      () =>
        browser.fetch(`/${slug}/oidc/authorize`, {
          method: 'POST',
          body: toForm(authorizePath(slug, client)),
        }),
  ],
  [
    'a pushed request of a public client',
    'pendingRequest',
    async (browser, { slug }) => {
      const native = await makeClient(slug, { appType: 'native' })
      return () =>
        browser.fetch(`/${slug}/oidc/par`, { method: 'POST', body: toForm(authorizePath(slug, native)) })
    },
  ],
  [
    'a pushed request of a client with keys that a stranger registered',
    'pendingRequest',
    async (browser, { slug }) => {
      const { id, assert } = await registerWithKeys(browser, slug)
      return async () =>
        browser.fetch(`/${slug}/oidc/par`, {
          method: 'POST',
          body: new URLSearchParams([
            ...toForm(authorizePath(slug, { id })),
            ...Object.entries(await assert()),
          ]),
        })
    },
  ],
  [
    'a device request of a public client',
    'pendingRequest',
    async (browser, { slug }) => {
      const { id } = await makeClient(slug, { appType: 'native' })
      return () => browser.post(`/${slug}/oidc/device`, { client_id: id, scope: 'openid' })
    },
  ],
  [
    'an entered user code',
    'pendingRequest',
    async (browser, { slug }) => {
      const { id } = await makeClient(slug, { appType: 'native' })
      const started = await browser.post(`/${slug}/oidc/device`, { client_id: id, scope: 'openid' })
      const { user_code } = (await started.json()) as { user_code: string }
      const { csrf } = await openForm(browser, `/${slug}/device`)
      return () => browser.post(`/${slug}/device`, { csrf, user_code })
    },
  ],
  [
    'a requested code',
    'passcode',
    async (browser, { slug, client }) => {
      const { csrf, at } = await openForm(browser, authorizePath(slug, client))
      return () => browser.post(at, { csrf, step: 'email', address: 'nobody@example.com' })
    },
  ],
  [
    'a guess at a code',
    'passcode',
    async (browser, { slug, client }) => {
      const { csrf, at } = await openForm(browser, authorizePath(slug, client))
      await browser.post(at, { csrf, step: 'email', address: 'nobody@example.com' })
      return () => browser.post(at, { csrf, step: 'code', code: '000000' })
    },
  ],
  [
    'a new account',
    'account',
    async (browser, { slug, client }) => {
      await updateSettings(createPlatformCtx(slug), { signUp: 'open' })
      const address = `stranger@${slug}.example`
      const { csrf, at } = await openForm(browser, authorizePath(slug, client))
      await browser.post(at, { csrf, step: 'email', address })
      await browser.post(at, { csrf, step: 'code', code: await codeFor(address) })
      // The proof has bound the sign-in anew, and its forms with it.
      const create = await openForm(browser, `${at}/create`)
      return () => browser.post(`${at}/create`, { csrf: create.csrf, step: 'create', name: 'Ada' })
    },
  ],
  [
    'a new account by an identity provider',
    'account',
    async (browser, { slug, client }) => {
      const callback = buildCallbackUrl(slug, 'open')
      const { issuer, client: credentials, close } = await startUpstream(createUpstreamKeys(), [callback])
      closers.push(async () => close())
      const provider = { id: 'open', type: 'oidc', name: 'Open', issuer, entry: 'anyone', ...credentials }
      await createIdentityProvider(createPlatformCtx(slug), provider)
      const { csrf, at } = await openForm(browser, authorizePath(slug, client))
      const request = readTransfer(await browser.post(at, { csrf, step: 'provider', idp: 'open' }))
      const { pathname, search } = await signInUpstream(request, 'stranger')
      return () => browser.fetch(`${pathname}${search}`)
    },
  ],
]

/** Requests of a client that a stranger registered, with assertions that are valid for an hour. */
export async function createAssertionSender(browser: PageBrowser, slug: string): Promise<Act> {
  const { assert } = await registerWithKeys(browser, slug)
  return async () =>
    browser.post(`/${slug}/oidc/token`, {
      ...(await assert(3600)),
      grant_type: 'refresh_token',
      refresh_token: 'none',
    })
}

/** Requests of a public client with proofs that were not used before. */
export async function createProofSender(browser: PageBrowser, slug: string): Promise<Act> {
  const { id } = await makeClient(slug, { appType: 'native' })
  const key = await makeKey()
  const url = `${issuerOf(slug)}/oidc/token`
  const form = { grant_type: 'refresh_token', refresh_token: 'none', client_id: id }
  return async () =>
    browser.post(`/${slug}/oidc/token`, form, {
      dpop: await makeProof(key, { method: 'POST', url, nonce: createNonce() }),
    })
}
