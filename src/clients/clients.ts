import { invalidateClient } from '../access/client-cache.ts'
import { isClientId } from '../access/client-ids.ts'
import { requireNoEscalation } from '../access/require-scope.ts'
import type { Ctx } from '../context/context.ts'
import { newId, randomToken, sha256 } from '../core/crypto.ts'
import { Forbidden, NotFound } from '../core/errors.ts'
import { isScope, type Scope, SYSTEM_TENANT } from '../core/scopes.ts'
import type { Tx } from '../database/handle.ts'
import { createEvent } from '../events/create-event.ts'
import { recordEvents } from '../events/log.ts'
import type { Client as ClientModel, Prisma } from '../generated/prisma/client.ts'
import { ensureSigningKeys } from '../keys/key-rotation.ts'
import { type ClaimMapping, listClientMappings, SCOPES_OF_SOURCES } from '../model/claim-mappings.ts'
import { parseInput } from '../schema/input-shapes.ts'
import { createClientCreateShape } from './client-inputs.fields.ts'
import { listCallbackOrigins } from './client-rules.fields.ts'
import { HAS_SECRET, type RegisteredBy } from './client-types.ts'
import { REGISTERED_ID_TOKEN_ALGORITHM } from './own-changes.ts'
import { completeSecuritySettings } from './security-profile.fields.ts'

/** A client. Its secrets are in another table. */
export type Client = ClientModel

/**
 * The scopes of those who may give a client these mappings, or control one that has them: they may read the data of users
 * that the client gets, and give permissions at APIs, which authorize by the scopes and claims of access tokens.
 */
export const listMappingScopes = (mappings: readonly ClaimMapping[]): Scope[] =>
  mappings.flatMap(({ source, scope, targets }): readonly Scope[] => [
    ...SCOPES_OF_SOURCES[source],
    ...(scope !== null || targets.includes('access_token') ? (['roles:write'] as const) : []),
  ])

/** Options for clients that no administrator creates. */
export type ClientOrigin = {
  by: Exclude<RegisteredBy, 'administrator'>
  /** Columns besides the input. */
  columns: { id?: string; registrationTokenHash?: Buffer<ArrayBuffer>; documentFreshUntil?: Date }
  /** False for a client that authenticates by its keys only. */
  hasSecret: boolean
  /** The registration token that authorized it. */
  registrationTokenId?: string
  /** The first step of the transaction. Throws to reject the creation. */
  permit?: (tx: Tx) => Promise<void>
}

/**
 * Creates a client. A web or machine client gets a secret of 256 random bits, which is returned only once, unless it must
 * authenticate by private_key_jwt.
 * Throws InvalidInput, or Forbidden that names the scopes that the caller cannot grant.
 */
export async function createClient(
  ctx: Ctx,
  input: unknown,
  origin?: ClientOrigin,
): Promise<{ client: Client; secret: string | null }> {
  const { allowedOrigins = null, ...data } = completeSecuritySettings(
    parseInput(createClientCreateShape(ctx.tenant), input),
  )
  requireNoEscalation(ctx, [
    ...(data.scopes ?? []).filter(isScope),
    ...listMappingScopes(
      listClientMappings({ claimMappings: data.claimMappings ?? [], groupsClaim: data.groupsClaim ?? false }),
    ),
  ])
  if (data.allTenants && (ctx.actor.kind !== 'platform' || ctx.tenant !== SYSTEM_TENANT))
    throw new Forbidden('Only the platform creates clients for all tenants.')
  const id = origin?.columns.id ?? newId('client')
  const usesSecret = HAS_SECRET[data.appType] && data.tokenEndpointAuthMethod !== 'private_key_jwt'
  const secret = usesSecret && origin?.hasSecret !== false ? randomToken() : null
  const client = await ctx.db.transaction(async (tx) => {
    await origin?.permit?.(tx)
    const created = await tx.prisma.client.create({
      data: {
        ...data,
        allowedOrigins: allowedOrigins ?? listCallbackOrigins(data.callbacks ?? []),
        hasDefaultOrigins: allowedOrigins === null,
        idTokenSigningAlg: data.idTokenSigningAlg ?? (origin ? REGISTERED_ID_TOKEN_ALGORITHM : null),
        jwks: (data.jwks ?? undefined) as Prisma.InputJsonObject | undefined,
        registeredBy: origin?.by,
        ...origin?.columns,
        tenantId: ctx.tenant,
        id,
      },
    })
    if (secret)
      await tx.prisma.clientSecret.create({
        data: { tenantId: ctx.tenant, clientId: id, secretHash: sha256(secret) },
      })
    invalidateClient(tx, id)
    await recordEvents(tx, ctx, [
      createEvent(
        'client.created',
        { clientId: id, registrationTokenId: origin?.registrationTokenId },
        origin?.by ? { by: origin.by } : null,
      ),
    ])
    await ensureSigningKeys(tx, ctx, created)
    return created
  })
  return { client, secret }
}

/** Returns the client with this id. Throws NotFound, also for a client of another tenant. */
export async function getClient(ctx: Ctx, clientId: string): Promise<Client> {
  const where = { tenantId_id: { tenantId: ctx.tenant, id: clientId } }
  const client = isClientId(clientId) ? await ctx.db.prisma.client.findUnique({ where }) : null
  if (!client) throw new NotFound('client')
  return client
}
