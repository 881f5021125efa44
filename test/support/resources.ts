import { decodeJwt } from 'jose'
import { createPlatformCtx } from '../../src/context/context.ts'
import { apiAudienceOf, issuerOf } from '../../src/core/issuer.ts'
import { updateSettings } from '../../src/tenants/settings.ts'
import { setUserRoles } from '../../src/users/roles.ts'
import { answerIn, basic, REDIRECT_URI, VERIFIER } from './protocol.ts'
import { test as base } from './visitor.ts'

/** Parameters of a token request, where `resource` may be repeated. */
export type TokenForm = [name: string, value: string][]

export const ORDERS = 'https://orders.example.com'
export const STOCK = 'https://stock.example.com/v1'
/** The tenant's setting `defaultAudience`. */
export const DEFAULT = 'urn:shop'

const toForm = (resources: string[]): TokenForm => resources.map((resource) => ['resource', resource])

/** `test` with an auditor who is signed in, a machine client, and requests for resources. */
export const test = base
  .extend('client', { scope: 'file' }, async ({ tenant, newClient }) => {
    await updateSettings(createPlatformCtx(tenant), { defaultAudience: DEFAULT })
    await newClient({ resources: [ORDERS, STOCK] })
    return newClient({ scopes: ['users:read'] })
  })
  .extend('machine', { scope: 'file' }, async ({ newClient, client }) =>
    newClient({ appType: 'machine', callbacks: [], scopes: [...client.scopes, 'users:write'] }),
  )
  .extend('visitor', { scope: 'file' }, async ({ tenant, newVisitor }) => {
    const visitor = await newVisitor()
    await setUserRoles(createPlatformCtx(tenant), visitor.user.id, { roles: ['auditor'] })
    return visitor
  })
  /** The audience of the management API. */
  .extend('api', { scope: 'file' }, ({ tenant }) => apiAudienceOf(tenant))
  /** The audience of the userinfo endpoint. */
  .extend('userinfo', { scope: 'file' }, ({ tenant }) => `${issuerOf(tenant)}/oidc/userinfo`)
  /** The parameters of the response to an authorization request without a page. */
  .extend(
    'authorize',
    { scope: 'file' },
    ({ oidc, visitor }) =>
      async (resources: string[], scope = 'openid offline_access') => {
        const path = `${oidc.authorizePath({ prompt: 'none', scope })}&${new URLSearchParams(toForm(resources))}`
        return answerIn((await visitor.browser.fetch(path)).headers.get('location'))
      },
  )
  .extend(
    'requestToken',
    { scope: 'file' },
    ({ app, tenant, client }) =>
      async (form: TokenForm, by: { id: string; secret: string } = client) => {
        const response = await app.fetch(`/${tenant}/oidc/token`, {
          method: 'POST',
          headers: { authorization: basic(by) },
          body: new URLSearchParams(form),
        })
        const body = (await response.json()) as Record<string, string>
        return {
          status: response.status,
          body,
          refresh: body.refresh_token ?? '',
          audience: body.access_token ? [decodeJwt(body.access_token).aud ?? []].flat() : body.error,
        }
      },
  )
  .extend(
    'redeem',
    { scope: 'file' },
    ({ requestToken }) =>
      (code: string | undefined, resources: string[] = []) =>
        requestToken([
          ['grant_type', 'authorization_code'],
          ['code', code ?? ''],
          ['redirect_uri', REDIRECT_URI],
          ['code_verifier', VERIFIER],
          ...toForm(resources),
        ]),
  )
  .extend(
    'refresh',
    { scope: 'file' },
    ({ requestToken }) =>
      (refreshToken: string, resources: string[] = [], more: TokenForm = []) =>
        requestToken([
          ['grant_type', 'refresh_token'],
          ['refresh_token', refreshToken],
          ...toForm(resources),
          ...more,
        ]),
  )
  .extend(
    'requestAsMachine',
    { scope: 'file' },
    ({ requestToken, machine }) =>
      (resources: string[], more: TokenForm = []) =>
        requestToken([['grant_type', 'client_credentials'], ...toForm(resources), ...more], machine),
  )
