import { type CachedClient, findClient, isClientSecret } from '../clients/client-cache.ts'
import { deleteClient, updateClient } from '../clients/client-changes.ts'
import { equals, sha256 } from '../crypto.ts'
import type { Ctx } from '../ctx.ts'
import type { FieldFault } from '../errors.ts'
import type { CachedTenant } from '../tenants/tenant-cache.ts'
import { hasSecret, hostIn, Metadata, methodOf, readMetadata, refused } from './registration.fields.ts'
import { bearerIn, enter, requireFaultless, toInformation, wrongToken } from './registration-calls.ts'

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
