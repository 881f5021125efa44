import { type CachedClient, findClient, isCurrentClientSecret } from '../access/client-cache.ts'
import type { CachedTenant } from '../access/tenant-cache.ts'
import { deleteClient, updateClient } from '../clients/client-changes.ts'
import type { RegisteredBy } from '../clients/client-types.ts'
import type { Ctx } from '../context/context.ts'
import { requireStorage } from '../coordination/storage-budgets.ts'
import { equalsConstantTime, sha256 } from '../core/crypto.ts'
import { type FieldIssue, InvalidInput } from '../core/errors.ts'
import { measureJson } from '../core/json/json-size.ts'
import {
  ClientMetadata,
  createForbiddenField,
  getAuthMethod,
  hasSecret,
  omitLogos,
  parseMetadata,
  selectClientHost,
  toMemberIssues,
} from './registration.fields.ts'
import {
  assertNoIssues,
  createInvalidTokenError,
  requireBearerToken,
  requireRegistrationEnabled,
  toClientInformation,
} from './registration-endpoint.ts'

/** A client that manages its own registration, with the context of its call. */
type Registrant = { client: CachedClient; by: RegisteredBy; token: string; ctx: Ctx }

/**
 * The registered client whose registration access token the call carries (RFC 7592, section 1.3). Throws
 * OAuthError invalid_token (401), the same for an unknown client, one that did not register itself, and a
 * wrong token; NotFound where registration is off, and RateLimited.
 */
async function authenticateRegistrant(
  ctx: Ctx,
  tenant: CachedTenant,
  authorization: string | null,
  clientId: string,
): Promise<Registrant> {
  await requireRegistrationEnabled(ctx, tenant)
  const token = requireBearerToken(ctx.tenant, authorization)
  const client = await findClient(ctx.tenant, clientId)
  const expected = client?.registrationTokenHash
  if (!client || !expected || !equalsConstantTime(Buffer.from(expected), sha256(token)))
    throw createInvalidTokenError(ctx.tenant)
  const by = client.registeredBy as RegisteredBy
  return { client, by, token, ctx: { ...ctx, actor: { kind: 'client', tenant: ctx.tenant, clientId } } }
}

/** The current registration (RFC 7592, section 2.1). Throws OAuthError invalid_token, NotFound and RateLimited. */
export async function readRegistration(
  ctx: Ctx,
  tenant: CachedTenant,
  authorization: string | null,
  clientId: string,
): Promise<object> {
  const { client, token } = await authenticateRegistrant(ctx, tenant, authorization, clientId)
  return toClientInformation(client, hasSecret(client), { token })
}

const serverAssigned = createForbiddenField('is set by the server')

/** Members that a client may not send (RFC 7592, section 2.2). */
const ReplacementMetadata = ClientMetadata.extend({
  registration_access_token: serverAssigned,
  registration_client_uri: serverAssigned,
  client_secret_expires_at: serverAssigned,
  client_id_issued_at: serverAssigned,
})

/** Issues of members that an update may not change. */
function findIdentityChanges(metadata: unknown, client: CachedClient, method: string): FieldIssue[] {
  const { client_id: id, client_secret: secret } = metadata as Record<string, unknown>
  const toMethodKind = (authMethod: string) => authMethod.replace(/_(basic|post)$/, '')
  return [
    ...(id === client.id ? [] : [{ field: 'client_id', description: 'must be the client_id of the client' }]),
    ...(secret === undefined || (typeof secret === 'string' && isCurrentClientSecret(client, secret))
      ? []
      : [{ field: 'client_secret', description: 'must be the current secret, or omitted' }]),
    ...(toMethodKind(method) === toMethodKind(getAuthMethod(client, hasSecret(client)))
      ? []
      : [{ field: 'token_endpoint_auth_method', description: 'cannot change: register a new client' }]),
  ]
}

/**
 * Replaces the client's registration (RFC 7592, section 2.2): omitted members are unset, except what administrators
 * may have set. The registration access token does not rotate, since a lost response would lose the new one.
 * Throws NotFound, RateLimited, OAuthError invalid_token, invalid_redirect_uri or
 * invalid_client_metadata, and Forbidden once an administrator has assigned scopes: then only administrators change
 * the client.
 */
export async function replaceRegistration(
  ctx: Ctx,
  tenant: CachedTenant,
  authorization: string | null,
  clientId: string,
  readBody: () => Promise<unknown>,
): Promise<object> {
  const registrant = await authenticateRegistrant(ctx, tenant, authorization, clientId)
  const { client, by, token } = registrant
  const isOpen = by === 'open-registration'
  const sent = await readBody()
  const metadata = isOpen ? omitLogos(sent) : sent
  const { input, method, issues } = parseMetadata(ctx.tenant, metadata, ReplacementMetadata, {
    method: getAuthMethod(client, hasSecret(client)),
    name: selectClientHost(metadata),
  })
  const isObject = Object.keys(input).length > 0
  assertNoIssues([...issues, ...(isObject ? findIdentityChanges(metadata, client, method) : [])])
  if (isOpen) await requireStorage('clientRegistration', ctx, { bytes: measureJson(input) })
  const updated = await updateClient(registrant.ctx, clientId, input, by).catch((error: unknown) => {
    // It contradicts what administrators have set.
    if (error instanceof InvalidInput) assertNoIssues(toMemberIssues(error.fields))
    throw error
  })
  return {
    ...toClientInformation(updated, hasSecret(client), { token }),
    token_endpoint_auth_method: method,
  }
}

/**
 * Deletes the client (RFC 7592, section 2.3). Throws NotFound, RateLimited, OAuthError invalid_token, and Forbidden once an
 * administrator has assigned scopes.
 */
export async function deleteRegistration(
  ctx: Ctx,
  tenant: CachedTenant,
  authorization: string | null,
  clientId: string,
): Promise<void> {
  const registrant = await authenticateRegistrant(ctx, tenant, authorization, clientId)
  await deleteClient(registrant.ctx, clientId, registrant.by)
}
