import { type CachedClient, findClient, isClientSecret } from '../clients/client-cache.ts'
import { deleteClient, updateClient } from '../clients/client-changes.ts'
import { type Client, createClient } from '../clients/clients.ts'
import { equals, randomToken, sha256 } from '../crypto.ts'
import type { Ctx } from '../ctx.ts'
import { sql } from '../db.ts'
import { type FieldFault, NotFound, OAuthError } from '../errors.ts'
import { spend } from '../limits.ts'
import { issuerOf } from '../oidc/keys/keys.ts'
import type { CachedTenant } from '../tenants/tenant-cache.ts'
import {
  hasSecret,
  hostIn,
  Metadata,
  methodOf,
  readMetadata,
  refused,
  toMetadata,
} from './registration.fields.ts'
import { selectLiveToken, useToken } from './registration-tokens.sql.ts'

/** Where clients register themselves, and below it, where each is managed by itself. */
export const registrationEndpointOf = (tenant: string): string => `${issuerOf(tenant)}/oidc/register`

/** Counts the call, and throws NotFound where the tenant lets nobody register. */
async function enter(ctx: Ctx, { dynamicRegistration }: CachedTenant): Promise<void> {
  if (!dynamicRegistration) throw new NotFound('page')
  await spend('registerClient', ctx.tenant, ctx.ip)
}

const BEARER = /^bearer +([\w.~+/-]+=*) *$/i

/** The token of a call (RFC 6750, section 2.1). Throws OAuthError with a challenge when there is none. */
function bearerIn(tenant: string, authorization: string | null): string {
  const token = BEARER.exec(authorization ?? '')?.[1]
  if (token) return token
  throw new OAuthError('invalid_token', 'A token is required.', {
    status: 401,
    headers: { 'www-authenticate': `Bearer realm="${issuerOf(tenant)}"` },
  })
}

const wrongToken = (tenant: string): OAuthError =>
  new OAuthError('invalid_token', 'The token is wrong, expired or used up.', {
    status: 401,
    headers: { 'www-authenticate': `Bearer realm="${issuerOf(tenant)}", error="invalid_token"` },
  })

/** Throws OAuthError that names everything that is wrong with the metadata (RFC 7591, section 3.2.2). */
function requireFaultless(faults: FieldFault[]): void {
  if (faults.length === 0) return
  const isAboutRedirects = faults.every(({ field }) => /^redirect_uris(\.|$)/.test(field))
  const words = faults.map(({ field, description }) => `${field || 'The body'} ${description}`)
  throw new OAuthError(
    isAboutRedirects ? 'invalid_redirect_uri' : 'invalid_client_metadata',
    `${words.join('; ')}.`,
  )
}

/** What a client is told of itself (RFC 7591, section 3.2.1; RFC 7592, section 3). Secrets are kept hashed: only a new one is told. */
const toInformation = (
  client: Client,
  isKeptSecret: boolean,
  told: { token: string; secret?: string | null },
) => ({
  ...toMetadata(client, methodOf(client, isKeptSecret)),
  ...(told.secret && { client_secret: told.secret, client_secret_expires_at: 0 }),
  registration_access_token: told.token,
  registration_client_uri: `${registrationEndpointOf(client.tenantId)}/${client.id}`,
})

/**
 * Registers the client that calls (RFC 7591, section 3): by an initial access token, of which this takes a use together with
 * the creation. It gets no management scopes, and people are always asked before it gets anything of theirs, since nobody has
 * vouched for it. Throws NotFound while registration is off, RateLimited, and OAuthError: invalid_token (401),
 * invalid_redirect_uri, invalid_client_metadata.
 */
export async function registerClient(
  ctx: Ctx,
  tenant: CachedTenant,
  authorization: string | null,
  readBody: () => Promise<unknown>,
  now = new Date(),
): Promise<object> {
  await enter(ctx, tenant)
  const initialToken = bearerIn(ctx.tenant, authorization)
  const tokenId = await selectLiveToken(sql, ctx.tenant, sha256(initialToken), now)
  if (tokenId === null) throw wrongToken(ctx.tenant)
  const metadata = await readBody()
  const { input, method, faults } = readMetadata(ctx.tenant, metadata, Metadata, {
    method: 'client_secret_basic',
    name: hostIn(metadata),
  })
  requireFaultless(faults)
  const token = randomToken()
  const { client, secret } = await createClient(
    ctx,
    { ...input, type: 'login', requireConsent: true },
    {
      by: 'registration',
      columns: { registrationTokenHash: sha256(token) },
      hasSecret: method !== 'private_key_jwt',
      subjectIds: [tokenId],
      permit: async (sql) => {
        if (!(await useToken(sql, ctx.tenant, tokenId, now))) throw wrongToken(ctx.tenant)
      },
    },
  )
  return { ...toInformation(client, secret !== null, { token, secret }), token_endpoint_auth_method: method }
}

/** A client that manages its own registration, and the context of what it does. */
type Registrant = { client: CachedClient; token: string; ctx: Ctx }

/**
 * The registered client whose own token the call carries (RFC 7592, section 1.3). Throws OAuthError invalid_token (401), the
 * same for a client that there is not, that did not register itself, and a wrong token.
 */
async function authenticateRegistrant(
  ctx: Ctx,
  tenant: CachedTenant,
  authorization: string | null,
  clientId: string,
): Promise<Registrant> {
  await enter(ctx, tenant)
  const token = bearerIn(ctx.tenant, authorization)
  const client = await findClient(ctx.tenant, clientId)
  const expected = client?.registeredBy === 'registration' ? client.registrationTokenHash : null
  if (!client || !expected || !equals(Buffer.from(expected), sha256(token))) throw wrongToken(ctx.tenant)
  return { client, token, ctx: { ...ctx, actor: { kind: 'client', tenant: ctx.tenant, clientId } } }
}

/** The registration as it is (RFC 7592, section 2.1). Throws as authenticateRegistrant. */
export async function readRegistration(
  ctx: Ctx,
  tenant: CachedTenant,
  authorization: string | null,
  clientId: string,
): Promise<object> {
  const { client, token } = await authenticateRegistrant(ctx, tenant, authorization, clientId)
  return toInformation(client, hasSecret(client), { token })
}

const isSetByUs = refused('is set by the server')
/** RFC 7592, section 2.2: what a client may not send. */
const Replacement = Metadata.extend({
  registration_access_token: isSetByUs,
  registration_client_uri: isSetByUs,
  client_secret_expires_at: isSetByUs,
  client_id_issued_at: isSetByUs,
})

/** Members that must be as they are: the faults of those that are not. */
function changedIdentity(metadata: unknown, client: CachedClient, method: string): FieldFault[] {
  const { client_id: id, client_secret: secret } = metadata as Record<string, unknown>
  const kindOf = (one: string) => one.replace(/_(basic|post)$/, '')
  return [
    ...(id === client.id ? [] : [{ field: 'client_id', description: 'must be that of the client' }]),
    ...(secret === undefined || (typeof secret === 'string' && isClientSecret(client, secret))
      ? []
      : [{ field: 'client_secret', description: 'must be that of the client, or left out' }]),
    ...(kindOf(method) === kindOf(methodOf(client, hasSecret(client)))
      ? []
      : [{ field: 'token_endpoint_auth_method', description: 'cannot become another: register anew' }]),
  ]
}

/**
 * Replaces what the client registered of itself (RFC 7592, section 2.2): members that are left out are unset; what only
 * administrators decide stays. The token stays as well: one that changed with an answer that got lost would be lost with it.
 * Throws as registerClient, and Forbidden once an administrator gave it management scopes: from then on they change it.
 */
export async function replaceRegistration(
  ctx: Ctx,
  tenant: CachedTenant,
  authorization: string | null,
  clientId: string,
  readBody: () => Promise<unknown>,
): Promise<object> {
  const registrant = await authenticateRegistrant(ctx, tenant, authorization, clientId)
  const { client, token } = registrant
  const metadata = await readBody()
  const { input, method, faults } = readMetadata(ctx.tenant, metadata, Replacement, {
    method: methodOf(client, hasSecret(client)),
    name: hostIn(metadata),
  })
  const isObject = Object.keys(input).length > 0
  requireFaultless([...faults, ...(isObject ? changedIdentity(metadata, client, method) : [])])
  const updated = await updateClient(registrant.ctx, clientId, input, 'registration')
  return {
    ...toInformation(updated, hasSecret(client), { token }),
    token_endpoint_auth_method: method,
  }
}

/** Deletes the client (RFC 7592, section 2.3), as an administrator would. Throws as authenticateRegistrant, and Forbidden as above. */
export async function deleteRegistration(
  ctx: Ctx,
  tenant: CachedTenant,
  authorization: string | null,
  clientId: string,
): Promise<void> {
  const registrant = await authenticateRegistrant(ctx, tenant, authorization, clientId)
  await deleteClient(registrant.ctx, clientId, 'registration')
}
