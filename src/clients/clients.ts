import { newId, randomToken, sha256 } from '../crypto.ts'
import { type Ctx, SYSTEM_TENANT } from '../ctx.ts'
import { dbFor, type Sql, sqlOf } from '../db.ts'
import { Forbidden, NotFound } from '../errors.ts'
import { type NewEvent, recordEvents, wakeReaders } from '../events.ts'
import { parse } from '../fields.ts'
import type { Client as ClientModel, Prisma } from '../generated/prisma/client.ts'
import { ensureSigningKeys } from '../oidc/keys/key-rotation.ts'
import { forgetKeys } from '../oidc/keys/keys.ts'
import { requireNoEscalation } from '../scopes.ts'
import { isClientId } from './client-ids.ts'
import { HAS_SECRET, type RegisteredBy } from './client-types.ts'
import { clientCreate } from './clients.fields.ts'
import { forgetDeclaredResources } from './declared-resources.ts'

/** A client as callers see it; its secrets stand in a table of their own. */
export type Client = ClientModel

/** How a client comes about that no administrator makes. */
export type ClientOrigin = {
  by: Exclude<RegisteredBy, 'administrator'>
  /** What it has besides what was said of it. */
  columns: { id?: string; registrationTokenHash?: Buffer<ArrayBuffer>; documentFreshUntil?: Date }
  /** False for one that proves itself by its keys alone. */
  hasSecret: boolean
  /** What else the log names beside it. */
  subjectIds?: string[]
  /** The first step of the transaction: throws where nothing is to be created. */
  permit?: (sql: Sql) => Promise<void>
}

/**
 * Creates a client. A web or machine client gets a secret of 256 random bits, which is returned here and nowhere
 * else. Throws InvalidInput, or Forbidden that names the scopes which the caller cannot give.
 */
export async function createClient(
  ctx: Ctx,
  input: unknown,
  origin?: ClientOrigin,
): Promise<{ client: Client; secret: string | null }> {
  const data = parse(clientCreate(ctx.tenant), input)
  requireNoEscalation(ctx, data.scopes ?? [])
  if (data.allTenants && (ctx.actor.kind !== 'platform' || ctx.tenant !== SYSTEM_TENANT))
    throw new Forbidden('Only the platform itself makes clients for all tenants.')
  const id = origin?.columns.id ?? newId('client')
  const secret = HAS_SECRET[data.appType] && origin?.hasSecret !== false ? randomToken() : null
  const { client, hasNewKeys } = await dbFor(ctx.tenant).$transaction(async (tx) => {
    await origin?.permit?.(sqlOf(tx))
    const created = await tx.client.create({
      data: {
        ...data,
        jwks: (data.jwks ?? undefined) as Prisma.InputJsonObject | undefined,
        registeredBy: origin?.by,
        ...origin?.columns,
        tenantId: ctx.tenant,
        id,
      },
    })
    if (secret)
      await tx.clientSecret.create({
        data: { tenantId: ctx.tenant, clientId: id, secretHash: sha256(secret) },
      })
    const subjectIds = [id, ...(origin?.subjectIds ?? [])]
    await recordEvents(sqlOf(tx), ctx, [{ type: 'client.created', subjectIds, detail: detailOf(origin?.by) }])
    return { client: created, hasNewKeys: await ensureSigningKeys(sqlOf(tx), ctx, created) }
  })
  if (hasNewKeys) forgetKeys(ctx.tenant)
  forgetDeclaredResources(ctx.tenant)
  wakeReaders(ctx.tenant)
  return { client, secret }
}

/** What the log tells of a change that no administrator made. */
export const detailOf = (by?: RegisteredBy): NewEvent['detail'] => by && { by }

/** The client with this id. Throws NotFound, the same for one of another tenant. */
export async function getClient(ctx: Ctx, clientId: string): Promise<Client> {
  const where = { tenantId_id: { tenantId: ctx.tenant, id: clientId } }
  const client = isClientId(clientId) ? await dbFor(ctx.tenant).client.findUnique({ where }) : null
  if (!client) throw new NotFound('client')
  return client
}
