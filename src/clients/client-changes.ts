import { isDeepStrictEqual } from 'node:util'
import { invalidateClient } from '../access/client-cache.ts'
import { isClientId } from '../access/client-ids.ts'
import { requireNoEscalation } from '../access/require-scope.ts'
import { blockRedemptions } from '../access/revocation/revocation.sql.ts'
import { createRevocationEvents, revokeGrants } from '../access/revocation/revocation.ts'
import type { Ctx } from '../context/context.ts'
import { equalsConstantTime, sha256 } from '../core/crypto.ts'
import { Forbidden, NotFound } from '../core/errors.ts'
import { isScope, isUserScope, ORGANIZATION_SCOPE } from '../core/scopes.ts'
import type { Tx } from '../database/handle.ts'
import type { NewEvent } from '../events/create-event.ts'
import { createEvent } from '../events/create-event.ts'
import { recordEvents } from '../events/log.ts'
import { Prisma } from '../generated/prisma/client.ts'
import { ensureSigningKeys } from '../keys/key-rotation.ts'
import { type ClaimMapping, listClientMappings } from '../model/claim-mappings.ts'
import { assertExpectedUpdatedAt, moveForward } from '../schema/expected-updated-at.ts'
import { parseInput } from '../schema/input-shapes.ts'
import {
  CHANGEABLE_COLUMNS,
  type ChangeableClient,
  lockClientForDelete,
  lockClientRow,
} from './client-changes.sql.ts'
import { createClientPatchShape } from './client-inputs.fields.ts'
import { listCallbackOrigins, SECRET_FIELD_DEFAULTS } from './client-rules.fields.ts'
import { APP_TYPES, type AppType, HAS_SECRET, type RegisteredBy } from './client-types.ts'
import { type Client, listMappingScopes } from './clients.ts'
import { keepAdministratorSettings } from './own-changes.ts'
import { completeSecuritySettings } from './security-profile.fields.ts'

export const mayHaveSecret = ({ appType }: Pick<Client, 'appType'>): boolean => HAS_SECRET[appType as AppType]

/** Throws Forbidden for operator clients, which act in every tenant: only the command line changes them. */
export function requirePlatformForSharedClient(ctx: Ctx, client: Pick<Client, 'allTenants'>): void {
  if (client.allTenants && ctx.actor.kind !== 'platform')
    throw new Forbidden("An operator's client is changed and deleted on the command line only.")
}

/**
 * Throws Forbidden unless the caller has every management scope of the client and those of its claim mappings, because
 * controlling a client means getting its tokens. A client that registered itself, or the publisher of its document (`by`),
 * does not control it once an administrator has assigned `account`, `organization` or mappings either.
 */
export function requireClientControl(
  ctx: Ctx,
  states: Pick<Client, 'scopes' | 'claimMappings' | 'groupsClaim'>[],
  by?: RegisteredBy,
): void {
  const scopes = new Set(states.flatMap((state) => state.scopes))
  const mappings = states.flatMap(({ claimMappings, groupsClaim }) => [
    ...listClientMappings({ claimMappings: claimMappings as ClaimMapping[], groupsClaim }),
  ])
  requireNoEscalation(
    ctx,
    new Set([
      ...[...scopes].filter(isScope),
      ...(scopes.has(ORGANIZATION_SCOPE) ? (['organizations:write'] as const) : []),
      ...listMappingScopes(mappings),
    ]),
  )
  if (by && mappings.length > 0)
    throw new Forbidden('Only administrators change a client with claim mappings.')
  const assigned = [...scopes].find(isUserScope)
  if (by && assigned) throw new Forbidden(`Only administrators change a client with scope ${assigned}.`)
}

/** Display fields of a client. All other fields affect who gets tokens, or where users are redirected. */
const PRESENTATION_FIELDS: readonly string[] = [
  'name',
  'description',
  'themeColor',
  'logoUrl',
  'clientUri',
  'policyUrl',
  'termsUrl',
  'translations',
]

/** The check whether a response-only secret that is sent back is the one that a client has. */
async function createSecretCheck({ prisma, tenant }: Tx, clientId: string) {
  const current = await prisma.clientSecret.findFirst({
    where: { tenantId: tenant, clientId, expiresAt: null },
    select: { secretHash: true },
  })
  return (sent: unknown) =>
    current
      ? typeof sent === 'string' && equalsConstantTime(Buffer.from(current.secretHash), sha256(sent))
      : sent === null
}

/** A patch, where null unsets `allowedOrigins`. */
type ClientPatch = Partial<Omit<ChangeableClient, 'allowedOrigins'>> & { allowedOrigins?: string[] | null }

/**
 * The origins after an update: unset ones follow the callbacks. A client that is sent back as it was read keeps them
 * unset.
 */
function mergeOrigins(
  before: Pick<ChangeableClient, 'allowedOrigins' | 'hasDefaultOrigins'>,
  sent: string[] | null | undefined,
  callbacks: readonly string[],
): Pick<ChangeableClient, 'allowedOrigins' | 'hasDefaultOrigins'> {
  const isSame = sent === undefined || isDeepStrictEqual(sent, before.allowedOrigins)
  const hasDefaultOrigins = sent === null || (isSame && before.hasDefaultOrigins)
  const allowedOrigins = hasDefaultOrigins ? listCallbackOrigins(callbacks) : (sent ?? before.allowedOrigins)
  return { allowedOrigins, hasDefaultOrigins }
}

/** The fields of the API that differ. */
function listChangedFields(before: ChangeableClient, after: ChangeableClient): string[] {
  const columns = CHANGEABLE_COLUMNS.filter((column) => !isDeepStrictEqual(before[column], after[column]))
  return [...new Set(columns.map((column) => (column === 'hasDefaultOrigins' ? 'allowedOrigins' : column)))]
}

const APP_TYPES_WITH_SECRET = APP_TYPES.filter((type) => HAS_SECRET[type])

/** Whether an update makes the client a single-page or native client. */
const losesSecret = (input: unknown): boolean => {
  const { appType } = (input ?? {}) as { appType?: unknown }
  return APP_TYPES.some((type) => type === appType && !HAS_SECRET[type])
}

/**
 * Revokes the grants of a confidential client before it becomes a public one, because its refresh tokens
 * would then work for anyone with a copy. A rejected update rolls this back. The client is locked: a code that is
 * redeemed meanwhile waits, and is rejected because the app type has changed.
 */
async function revokeAuthenticatedGrants(tx: Tx, ctx: Ctx, clientId: string): Promise<void> {
  const scope = { kind: 'client', clientId, appTypes: APP_TYPES_WITH_SECRET } as const
  await revokeGrants(tx, ctx, scope, 'revoked', new Date())
}

/**
 * Updates a client: omitted fields are unchanged, null unsets (or empties a list), '' unsets a text; read-only
 * fields and `type` are ignored with their returned value. The client must be valid as a whole for its app
 * type. A client that becomes single-page or native loses its secrets and grants; one that becomes web or
 * machine has no secret until rotateClientSecret. An update without a difference changes neither updatedAt nor
 * the event log. Throws Conflict when the client has changed since `expectedUpdatedAt`; NotFound; InvalidInput;
 * and Forbidden when the caller lacks scopes that the client has or gets, or for an operator's client. `by` is
 * recorded in the event when the client changes itself; then settings of administrators stay.
 */
export async function updateClient(
  ctx: Ctx,
  clientId: string,
  input: unknown,
  by?: RegisteredBy,
): Promise<Client> {
  if (!isClientId(clientId)) throw new NotFound('client')
  return ctx.db.transaction(async (tx) => {
    const before = await lockClientRow(tx, clientId)
    if (!before) throw new NotFound('client')
    if (losesSecret(input)) await revokeAuthenticatedGrants(tx, ctx, clientId)
    assertExpectedUpdatedAt(input, before.updatedAt)
    const isCurrentSecret = await createSecretCheck(tx, clientId)
    const patch = parseInput(
      createClientPatchShape(ctx.tenant, { ...before, isCurrentSecret }),
      by ? keepAdministratorSettings(input as Record<string, unknown>, before, by) : input,
    ) as ClientPatch
    const chosen = Object.fromEntries(
      CHANGEABLE_COLUMNS.map((column) => [
        column,
        patch[column] === undefined ? before[column] : patch[column],
      ]),
    ) as ChangeableClient
    const merged = completeSecuritySettings(chosen)
    const after = {
      ...merged,
      ...(!mayHaveSecret(merged) && SECRET_FIELD_DEFAULTS),
      ...mergeOrigins(before, patch.allowedOrigins, merged.callbacks),
    }
    const changedFields = listChangedFields(before, after)
    if (changedFields.length === 0) return before
    requirePlatformForSharedClient(ctx, before)
    if (changedFields.some((field) => !PRESENTATION_FIELDS.includes(field)))
      requireClientControl(ctx, [before, after], by)
    if (mayHaveSecret(before) && !mayHaveSecret(after)) {
      changedFields.push('secret')
      await tx.prisma.clientSecret.deleteMany({ where: { tenantId: ctx.tenant, clientId } })
    }
    const written = await writeClient(tx, before, {
      ...after,
      translations: after.translations as Prisma.InputJsonArray,
      claimMappings: after.claimMappings,
      jwks: (after.jwks as Prisma.InputJsonObject | null) ?? Prisma.DbNull,
    })
    await recordEvents(tx, ctx, [
      createEvent('client.updated', { clientId, changedFields }, by ? { by } : null),
    ])
    await ensureSigningKeys(tx, ctx, after)
    return written
  })
}

/** Updates a locked client. Every process sees the change within a second, immediately with Redis. */
export async function writeClient(
  tx: Tx,
  { id, updatedAt }: Client,
  data: Prisma.ClientUncheckedUpdateInput,
): Promise<Client> {
  invalidateClient(tx, id)
  return tx.prisma.client.update({
    where: { tenantId_id: { tenantId: tx.tenant, id } },
    data: { ...data, updatedAt: moveForward(updatedAt) },
  })
}

/** Events per statement, because a client may have very many sessions. */
const EVENT_BATCH = 1000

/**
 * Deletes a client permanently, with its secrets, grants, codes, pending sign-ins and consents; its sessions
 * end as revoked. Browser sessions stay active, because users are signed in to the tenant. Throws NotFound,
 * and Forbidden when the caller lacks scopes of the client, or for an operator's client.
 */
export async function deleteClient(
  ctx: Ctx,
  clientId: string,
  by?: RegisteredBy,
): Promise<{ deletedClientId: string }> {
  if (!isClientId(clientId)) throw new NotFound('client')
  await ctx.db.transaction(async (tx) => {
    const ofClient = { tenantId: ctx.tenant, clientId }
    // The session of a grant is started with the grant locked and waits for the client, as its foreign key does (FOR KEY
    // SHARE). The deletion takes these rows in the same order, so that they cannot deadlock. The redemptions of codes
    // have ended before: it sees and takes every grant.
    await blockRedemptions(tx, clientId)
    await tx.prisma.grant.deleteMany({ where: ofClient })
    const current = await lockClientForDelete(tx, clientId)
    if (!current) throw new NotFound('client')
    requirePlatformForSharedClient(ctx, current)
    requireClientControl(ctx, [current], by)
    const sessions = await tx.prisma.session.findMany({
      where: { ...ofClient, endedAt: null, expiresAt: { gt: new Date() } },
      select: { id: true, userId: true, clientId: true },
    })
    await tx.prisma.interaction.deleteMany({ where: ofClient })
    // Foreign keys delete secrets, sessions and consents inserted since. A code issued since is worthless without its
    // client.
    await tx.prisma.client.deleteMany({ where: { tenantId: ctx.tenant, id: clientId } })
    invalidateClient(tx, clientId)
    const events: NewEvent[] = [
      ...createRevocationEvents({ sessions, grants: [] }, 'revoked'),
      createEvent('client.deleted', { clientId }, by ? { by } : null),
    ]
    for (let start = 0; start < events.length; start += EVENT_BATCH)
      await recordEvents(tx, ctx, events.slice(start, start + EVENT_BATCH))
  })
  return { deletedClientId: clientId }
}
