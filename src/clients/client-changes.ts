import { isDeepStrictEqual } from 'node:util'
import { equals, randomToken, sha256 } from '../crypto.ts'
import { type Ctx, isScope } from '../ctx.ts'
import { inTransaction, type Sql } from '../db.ts'
import { Forbidden, InvalidInput, NotFound } from '../errors.ts'
import { type NewEvent, recordEvents, toEventRow, wakeReaders } from '../events.ts'
import { assertExpected } from '../expected-updated-at.ts'
import { parse } from '../fields.ts'
import { ensureSigningKeys } from '../oidc/keys/key-rotation.ts'
import { forgetKeys } from '../oidc/keys/keys.ts'
import { revokeGrantsOf } from '../oidc/token/revoke-grants.sql.ts'
import { requireNoEscalation } from '../scopes.ts'
import { forgetClient } from './client-cache.ts'
import {
  CHANGEABLE,
  type ChangeableClient,
  deleteClientRow,
  holdClient,
  holdForDeletion,
  rotateSecretRow,
  updateClientRow,
} from './client-changes.sql.ts'
import { isClientId } from './client-ids.ts'
import { NO_SECRET_FIELDS } from './client-rules.fields.ts'
import { APP_TYPES, type AppType, HAS_SECRET, type RegisteredBy } from './client-types.ts'
import { clientPatch, SecretRotation } from './clients.fields.ts'
import type { SecretJson } from './clients.sql.ts'
import { type Client, detailOf } from './clients.ts'

const canKeepSecret = ({ appType }: Pick<Client, 'appType'>): boolean => HAS_SECRET[appType as AppType]

/** Throws Forbidden for operators' clients, which act in every tenant: only the platform (the command line) changes them. */
function requirePlatformFor(ctx: Ctx, client: Pick<Client, 'allTenants'>): void {
  if (client.allTenants && ctx.actor.kind !== 'platform')
    throw new Forbidden("An operator's client is changed and deleted on the command line only.")
}

/** Throws Forbidden unless the caller may do all that whoever controls the client may: its tokens would be theirs. */
function requireControl(ctx: Ctx, ...states: Pick<Client, 'scopes'>[]): void {
  requireNoEscalation(ctx, new Set(states.flatMap(({ scopes }) => scopes.filter(isScope))))
}

/** What people see of a client. Everything else decides who gets tokens, or where people are sent. */
const PRESENTATION: readonly string[] = ['name', 'description', 'themeColor', 'logoUrl']

const isCurrentSecret = (secrets: SecretJson[]) => (sent: unknown) => {
  const current = secrets.find(({ expiresAt }) => expiresAt === null)
  if (!current) return sent === null
  return typeof sent === 'string' && equals(Buffer.from(current.hash, 'hex'), sha256(sent))
}

const WITH_SECRET = APP_TYPES.filter((type) => HAS_SECRET[type])

/** Whether a change makes a single-page or native client of whatever it is about. */
const losesSecret = (input: unknown): boolean => {
  const { appType } = (input ?? {}) as { appType?: unknown }
  return APP_TYPES.some((type) => type === appType && !HAS_SECRET[type])
}

/**
 * Revokes what a client got that proved to be itself, before it is one that cannot: its refresh tokens would work for whoever
 * has a copy. A transaction that refuses the change takes it back. Before the client is held, as a deletion does it.
 */
async function revokeAuthenticated(sql: Sql, ctx: Ctx, clientId: string): Promise<void> {
  const detail = { reason: 'revoked' }
  const events = {
    revoked: toEventRow(ctx, { type: 'grant.revoked', detail }),
    ended: toEventRow(ctx, { type: 'session.ended', detail }),
  }
  await revokeGrantsOf(sql, ctx.tenant, { clientId, appTypes: WITH_SECRET }, events, new Date())
}

/**
 * Changes a client (spec: Update client): omitted fields are unchanged, '' and null unset (a list: empty it); response-only
 * fields, and `type`, are ignored where they are as they were. The client must be valid as a whole for its app type. One
 * that becomes single-page or native loses its secrets and its grants; one that becomes web or machine has none until
 * rotateClientSecret. A change that changes nothing leaves updatedAt and the log alone. With `expectedUpdatedAt`, nothing is
 * written to a client that was changed since: Conflict. Throws NotFound, InvalidInput, and Forbidden where the caller
 * lacks scopes that the client has or gets, or for an operator's client. `by` tells the log whose doing it is, unless an
 * administrator's.
 */
export async function updateClient(
  ctx: Ctx,
  clientId: string,
  input: unknown,
  by?: RegisteredBy,
): Promise<Client> {
  if (!isClientId(clientId)) throw new NotFound('client')
  const { client, isChanged, hasNewKeys } = await inTransaction(async (sql) => {
    if (losesSecret(input)) await revokeAuthenticated(sql, ctx, clientId)
    const held = await holdClient(sql, ctx.tenant, clientId)
    if (!held) throw new NotFound('client')
    const before = held.client
    assertExpected(input, before.updatedAt)
    const patch = parse(
      clientPatch(ctx.tenant, { ...before, isSecret: isCurrentSecret(held.secrets) }),
      input,
    ) as Partial<ChangeableClient>
    const merged = Object.fromEntries(
      CHANGEABLE.map((column) => [column, patch[column] === undefined ? before[column] : patch[column]]),
    ) as ChangeableClient
    const after = canKeepSecret(merged) ? merged : { ...merged, ...NO_SECRET_FIELDS }
    const changedFields: string[] = CHANGEABLE.filter(
      (column) => !isDeepStrictEqual(before[column], after[column]),
    )
    if (changedFields.length === 0) return { client: before, isChanged: false, hasNewKeys: false }
    requirePlatformFor(ctx, before)
    if (changedFields.some((field) => !PRESENTATION.includes(field))) requireControl(ctx, before, after)
    const dropSecrets = canKeepSecret(before) && !canKeepSecret(after)
    if (dropSecrets) changedFields.push('secret')
    const event = toEventRow(ctx, {
      type: 'client.updated',
      subjectIds: [clientId],
      changedFields,
      detail: detailOf(by),
    })
    const written = await updateClientRow(sql, ctx.tenant, clientId, after, { dropSecrets, event })
    return { client: written, isChanged: true, hasNewKeys: await ensureSigningKeys(sql, ctx, after) }
  })
  if (hasNewKeys) forgetKeys(ctx.tenant)
  if (isChanged) tellAll(ctx.tenant, clientId)
  return client
}

/** After the commit: every process sees it within a second, at once where the bus works. */
function tellAll(tenant: string, clientId: string): void {
  forgetClient(tenant, clientId)
  wakeReaders(tenant)
}

export type RotatedSecret = {
  client: Client
  /** 256 random bits, told here and nowhere else. */
  secret: string
  /** When the secret before ends; null when none lives on. */
  previousSecretExpiresAt: Date | null
}

/**
 * Makes a new secret. The current one lives on for `overlapSeconds` (0 to 30 days, a day unless told); one before it ends
 * at once, so that two live at most. Throws NotFound, InvalidInput (also for a client that can keep no secret), and
 * Forbidden where the caller lacks scopes that the client has, or for an operator's client.
 */
export async function rotateClientSecret(
  ctx: Ctx,
  clientId: string,
  input: unknown,
  now = new Date(),
): Promise<RotatedSecret> {
  const { overlapSeconds } = parse(SecretRotation, input ?? {})
  if (!isClientId(clientId)) throw new NotFound('client')
  const secret = randomToken()
  const overlapEnd = overlapSeconds > 0 ? new Date(now.getTime() + overlapSeconds * 1000) : null
  const { client, overlaps } = await inTransaction(async (sql) => {
    const held = await holdClient(sql, ctx.tenant, clientId)
    if (!held) throw new NotFound('client')
    requirePlatformFor(ctx, held.client)
    requireControl(ctx, held.client)
    if (!canKeepSecret(held.client))
      throw new InvalidInput([
        { field: 'clientId', description: `is a ${held.client.appType} client, which can keep no secret` },
      ])
    return rotateSecretRow(sql, ctx.tenant, clientId, {
      secretHash: sha256(secret),
      previousExpiresAt: overlapEnd,
      event: toEventRow(ctx, { type: 'client.updated', subjectIds: [clientId], changedFields: ['secret'] }),
    })
  })
  tellAll(ctx.tenant, clientId)
  return { client, secret, previousSecretExpiresAt: overlaps ? overlapEnd : null }
}

/** Entries of one statement: a client may have very many sessions. */
const EVENT_BATCH = 1000

/**
 * Deletes a client for ever, with its secrets, grants, codes, pending sign-ins and consents; sessions that were handed to
 * it end as revoked. Browser sessions stay: people are signed in to the tenant. Throws NotFound, and Forbidden where
 * the caller lacks scopes that the client has, or for an operator's client.
 */
export async function deleteClient(
  ctx: Ctx,
  clientId: string,
  by?: RegisteredBy,
): Promise<{ deletedClientId: string }> {
  if (!isClientId(clientId)) throw new NotFound('client')
  await inTransaction(async (sql) => {
    const held = await holdForDeletion(sql, ctx.tenant, clientId)
    if (!held) throw new NotFound('client')
    requirePlatformFor(ctx, held)
    requireControl(ctx, held)
    const sessions = await deleteClientRow(sql, ctx.tenant, clientId)
    const events: NewEvent[] = [
      ...sessions.map(
        ({ id, userId }): NewEvent => ({
          type: 'session.ended',
          userId,
          sessionId: id,
          subjectIds: [clientId],
          detail: { reason: 'revoked' },
        }),
      ),
      { type: 'client.deleted', subjectIds: [clientId], detail: detailOf(by) },
    ]
    for (let start = 0; start < events.length; start += EVENT_BATCH)
      await recordEvents(sql, ctx, events.slice(start, start + EVENT_BATCH))
  })
  tellAll(ctx.tenant, clientId)
  return { deletedClientId: clientId }
}
