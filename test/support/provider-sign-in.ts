import { createHash, randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { createPlatformCtx } from '../../src/context/context.ts'
import {
  buildBackchannelLogoutUrl,
  buildCallbackUrl,
  buildLogoutCallbackUrl,
} from '../../src/idps/callback-url.ts'
import { addIdpUser, linkIdpUser } from '../../src/idps/idp-links.ts'
import { createIdentityProvider } from '../../src/idps/idps.ts'
import { test as base, type Page } from './hosted-pages.ts'
import { newIdpId } from './idps.ts'
import { listenOnLoopback } from './loopback.ts'
import type { PageBrowser } from './page-browser.ts'
import { createUpstreamKeys, openUpstreamBrowser, startUpstream, type Upstream } from './upstream.ts'

const CLIENT = { clientId: 'vestibule', clientSecret: 'aSecretOfTheForge' }

/**
 * Starts an OAuth 2.0 server like that of GitHub: no ID token, no issuer, users with a numeric id, and a
 * token response with its own members. A sign-in takes the user of `login_hint`. It verifies redirect URI,
 * client secret and PKCE, and accepts a code once.
 */
export async function startGitLike(callback: string) {
  const codes = new Map<string, { user: string; challenge: string }>()
  const tokens = new Map<string, string>()
  /** What the user endpoint returns besides the id. */
  const profiles: Record<string, object> = {}

  function authorize(params: URLSearchParams): string {
    if (params.get('redirect_uri') !== callback) throw new Error('unknown redirect URI')
    const code = randomUUID()
    codes.set(code, {
      user: params.get('login_hint') ?? '',
      challenge: params.get('code_challenge') ?? '',
    })
    return `${callback}?${new URLSearchParams({ code, state: params.get('state') ?? '' })}`
  }

  function redeem(form: URLSearchParams, authorization: string | undefined): object {
    const expected = `Basic ${Buffer.from(`${CLIENT.clientId}:${CLIENT.clientSecret}`).toString('base64')}`
    const grant = codes.get(form.get('code') ?? '')
    codes.delete(form.get('code') ?? '')
    const challenge = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url')
    if (authorization !== expected) return { error: 'incorrect_client_credentials' }
    if (grant?.challenge !== challenge) return { error: 'bad_verification_code' }
    const token = randomUUID()
    tokens.set(token, grant.user)
    return { access_token: token, token_type: 'bearer', scope: 'read:user,user:email' }
  }

  const server = createServer(async (request, response) => {
    const url = new URL(request.url ?? '', 'http://forge')
    if (url.pathname === '/authorize')
      return void response.writeHead(302, { location: authorize(url.searchParams) }).end()
    const user = tokens.get(request.headers.authorization?.replace('Bearer ', '') ?? '')
    const body =
      url.pathname === '/token'
        ? redeem(new URLSearchParams(await text(request)), request.headers.authorization)
        : user && { id: Number(user), login: `user${user}`, email: null, ...profiles[user] }
    response
      .writeHead(body ? 200 : 401, { 'content-type': 'application/json' })
      .end(JSON.stringify(body ?? {}))
  })
  const origin = `http://127.0.0.1:${await listenOnLoopback(server)}`
  return {
    origin,
    profiles,
    configuration: {
      ...CLIENT,
      scopes: 'read:user user:email',
      authorizationEndpoint: `${origin}/authorize`,
      tokenEndpoint: `${origin}/token`,
      userInfoEndpoint: `${origin}/user`,
    },
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}

const unescapeHtml = (text: string): string => text.replaceAll('&amp;', '&')

/** The authorization request in the header Refresh of the page that leads to a provider. */
export const readTransfer = (response: Response): URL =>
  new URL(unescapeHtml((response.headers.get('refresh') ?? '').replace('0;url=', '')))

/** Signs a subject in at a provider; returns the URL of the callback that the browser is sent to. */
export async function signInUpstream(
  request: URL,
  subject: string,
  visit = openUpstreamBrowser(),
): Promise<URL> {
  const callback = request.searchParams.get('redirect_uri') ?? ''
  const url = new URL(request)
  url.searchParams.set('login_hint', subject)
  let next = url.href
  while (!next.startsWith(callback)) next = await visit(next)
  return new URL(next)
}

/** An identity provider of the tenant at an upstream provider of its own. */
export type SignInProvider = { id: string; upstream: Upstream; callback: string }

/**
 * `test` with two identity providers of the tenant, each at a node-oidc-provider, and one at a provider like
 * that of GitHub: OAuth 2.0 with numeric ids.
 */
export const test = base
  .extend('newProvider', { scope: 'file' }, ({ app, tenant }, { onCleanup }) => {
    const keys = createUpstreamKeys()
    const closers: (() => void)[] = []
    onCleanup(() => {
      for (const close of closers) close()
    })
    return async (fields: object = {}): Promise<SignInProvider> => {
      const id = newIdpId()
      const callback = buildCallbackUrl(tenant, id)
      const metadata = {
        backchannel_logout_uri: buildBackchannelLogoutUrl(tenant, id),
        backchannel_logout_session_required: true,
        post_logout_redirect_uris: [buildLogoutCallbackUrl(tenant, id)],
      }
      const upstream = await startUpstream(keys, [callback], { metadata, origin: app.origin })
      closers.push(upstream.close)
      await createIdentityProvider(createPlatformCtx(tenant), {
        id,
        type: 'oidc',
        name: `Upstream ${id}`,
        issuer: upstream.issuer,
        ...upstream.client,
        ...fields,
      })
      return { id, upstream, callback }
    }
  })
  .extend('providerA', { scope: 'file' }, ({ newProvider }) => newProvider())
  .extend('providerB', { scope: 'file' }, ({ newProvider }) => newProvider())
  /** The subject of `person` at every provider. */
  .extend('subject', ({ person }) => person.id)
  .extend('provider', ({ providerA }) => {
    providerA.upstream.before.clear()
    return providerA
  })
  .extend('gitLike', { scope: 'file' }, async ({ tenant }, { onCleanup }) => {
    const id = newIdpId()
    const server = await startGitLike(buildCallbackUrl(tenant, id))
    onCleanup(server.close)
    await createIdentityProvider(createPlatformCtx(tenant), {
      id,
      type: 'oauth2',
      name: 'Git forge',
      ...server.configuration,
    })
    return { id, ...server }
  })
  /** Links a user to a subject of a provider, as a proof does. */
  .extend(
    'link',
    { scope: 'file' },
    ({ ctx }) =>
      async (userId: string, { id, upstream }: SignInProvider, subject: string) =>
        linkIdpUser(ctx, userId, id, { idToken: (await upstream.tokensFor(subject)).idToken }),
  )
  .extend(
    'addLink',
    { scope: 'file' },
    ({ ctx }) =>
      (userId: string, idpId: string, externalId: string) =>
        addIdpUser(ctx, userId, idpId, { externalId }),
  )
  /** Presses the button of a provider; returns the authorization request that the browser is led to. */
  .extend(
    'choose',
    ({ browser }) =>
      async (page: Page, idpId: string, by: PageBrowser = browser): Promise<URL> =>
        readTransfer((await by.submit(page, { step: 'provider', idp: idpId })).response),
  )
  /** Signs a subject in at the provider; returns the URL of the callback that the browser is sent to. */
  .extend('signInThere', { scope: 'file' }, () => signInUpstream)
  /** Opens a callback in a browser; returns the page that follows. */
  .extend('comeBack', ({ browser }) => async (callback: URL, by: PageBrowser = browser) => {
    const { response, path, location } = await by.open(`${callback.pathname}${callback.search}`)
    return { response, html: await response.text(), path, location }
  })
  /** The whole way: the button, the provider, and back. */
  .extend(
    'signInBy',
    ({ browser, start, choose, signInThere, comeBack }) =>
      async (idpId: string, subject: string, by: PageBrowser = browser, more: object = {}) =>
        comeBack(await signInThere(await choose(await start(by, more), idpId, by), subject), by),
  )
