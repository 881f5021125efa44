import { createPlatformCtx } from '../../src/context/context.ts'
import { createRegistrationToken } from '../../src/registration/registration-tokens.ts'
import { updateSettings } from '../../src/tenants/settings.ts'
import { newTenant } from './actors.ts'
import { dbFor } from './database.ts'
import type { Json } from './json.ts'
import { test as base } from './openid-client.ts'
import { REDIRECT_URI } from './protocol.ts'

/** The required metadata of a registration. */
export const WEB = { redirect_uris: [REDIRECT_URI] }

/** Makes a tenant with dynamic client registration. */
export async function newOpenTenant(): Promise<string> {
  const slug = await newTenant()
  await updateSettings(createPlatformCtx(slug), { dynamicRegistration: true })
  return slug
}

/** `test` with a tenant that clients register themselves at. */
export const test = base
  .extend('tenant', { scope: 'file' }, async ({ app }) => {
    if (!app) throw new Error('no app')
    return newOpenTenant()
  })
  /** Makes an initial access token, by default for any number of clients. */
  .extend(
    'newRegistrationToken',
    { scope: 'file' },
    ({ tenant }) =>
      async (input: object = { uses: null }, of = tenant): Promise<string> =>
        (await createRegistrationToken(createPlatformCtx(of), input)).token,
  )
  /** Calls the registration endpoint; a string body is sent unchanged. */
  .extend(
    'callEndpoint',
    { scope: 'file' },
    ({ app, tenant }) =>
      async (method: string, path: string, token: string | null, body?: unknown, of = tenant) => {
        const response = await app.fetch(`/${of}/oidc/register${path}`, {
          method,
          headers: {
            ...(token !== null && { authorization: `Bearer ${token}` }),
            ...(body !== undefined && { 'content-type': 'application/json' }),
          },
          ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
        })
        const text = await response.text()
        const read: Json = text ? JSON.parse(text) : null
        return { status: response.status, headers: response.headers, body: read }
      },
  )
  /** Registers a client with a new initial access token. */
  .extend(
    'register',
    { scope: 'file' },
    ({ tenant, newRegistrationToken, callEndpoint }) =>
      async (metadata: unknown, of = tenant) =>
        callEndpoint('POST', '', await newRegistrationToken({ uses: null }, of), metadata, of),
  )
  .extend(
    'listClients',
    { scope: 'file' },
    () => (of: string) => dbFor(of).client.findMany({ where: { tenantId: of }, orderBy: { id: 'asc' } }),
  )
