import { createPlatformCtx } from '../../src/core/context.ts'
import {
  buildBackchannelLogoutUrl,
  buildCallbackUrl,
  buildLogoutCallbackUrl,
} from '../../src/idps/callback-url.ts'
import { addIdpUser, linkIdpUser } from '../../src/idps/idp-links.ts'
import { createIdentityProvider } from '../../src/idps/idps.ts'
import { startGitLike } from './git-like.ts'
import { test as base, type Page } from './hosted-pages.ts'
import { newIdpId } from './idps.ts'
import type { PageBrowser } from './page-browser.ts'
import { createUpstreamKeys, openUpstreamBrowser, startUpstream, type Upstream } from './upstream.ts'

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
