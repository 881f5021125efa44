import { isDeepStrictEqual } from 'node:util'
import { listUngrantableRights, requireRightsControl } from '../access/account-control.ts'
import { shareRoles } from '../access/held-roles.sql.ts'
import { requireNoEscalation } from '../access/require-scope.ts'
import { invalidateTenant } from '../access/tenant-cache.ts'
import type { Ctx } from '../context/context.ts'
import { InvalidInput, NotFound } from '../core/errors.ts'
import { isJsonObject } from '../core/json/json-object.ts'
import { getRoleScopes, listManagementScopes } from '../core/scopes.ts'
import type { Db, Tx } from '../database/handle.ts'
import { listInOrder } from '../database/page-query.ts'
import { createEvent } from '../events/create-event.ts'
import { recordEvents } from '../events/log.ts'
import { type IdentityProvider as IdpRow, Prisma } from '../generated/prisma/client.ts'
import { lockTenantRow } from '../keys/keys.sql.ts'
import { getOrganization } from '../organizations/organizations.ts'
import { takeProviderRoles } from '../permissions/provider-roles.ts'
import { assertExpectedUpdatedAt, moveForward } from '../schema/expected-updated-at.ts'
import { addStandards } from '../schema/fields.ts'
import { isIdpId } from '../schema/idp-id.ts'
import { parseInput } from '../schema/input-shapes.ts'
import type { Page, PageArgs } from '../schema/page.ts'
import {
  buildBackchannelLogoutUrl,
  buildCallbackUrl,
  buildLogoutCallbackUrl,
  buildSignalsUrl,
} from './callback-url.ts'
import { listMappedRoles, requireMapping } from './claimed-roles.ts'
import { requireOrganization } from './idp-organization.ts'
import { createIdpPatchShape, IDP_FIELD_NAMES, IDP_FIELDS, IdpCreate, type IdpFields } from './idps.fields.ts'
import {
  deleteIdpLinks,
  deleteIdpTokens,
  lockIdp,
  selectLinkedRights,
  selectLinkedUserRoles,
} from './idps.sql.ts'
import { listMissingFields } from './missing-fields.ts'
import { findSecretExpiry } from './provider/apple-secret.ts'
import { clearIdTokens } from './provider/provider-sessions.ts'
import type { RequirableField } from './provider/provider-types.ts'
import { type SecretColumn, sealIdpSecrets, unsealIdpSecrets } from './secrets/idp-secrets.ts'

/**
 * An identity provider without its secrets; only their presence is included. `missing` has the fields that it
 * still needs.
 */
export type Idp = Omit<IdpRow, SecretColumn | 'clientSecretExpiresAt' | 'signalsSecretHash'> & {
  missing: RequirableField[]
  callbackUrl: string
  logoutCallbackUrl: string
  backchannelLogoutUrl: string
  signalsUrl: string
  hasSignalsSecret: boolean
  hasProvenDomains: boolean
  hasClientSecret: boolean
  hasIdTokenSigningKey: boolean
}

/** Removes the secrets from a row. */
export function toIdp(stored: IdpRow): Idp {
  const { clientSecret, clientSecretExpiresAt: _, idTokenSigningKey, signalsSecretHash, ...row } = stored
  return {
    ...row,
    missing: listMissingFields(stored),
    callbackUrl: buildCallbackUrl(row.tenantId, row.id),
    logoutCallbackUrl: buildLogoutCallbackUrl(row.tenantId, row.id),
    backchannelLogoutUrl: buildBackchannelLogoutUrl(row.tenantId, row.id),
    signalsUrl: buildSignalsUrl(row.tenantId, row.id),
    hasSignalsSecret: signalsSecretHash !== null,
    hasProvenDomains: row.organizationId !== null,
    hasClientSecret: clientSecret !== null,
    hasIdTokenSigningKey: idTokenSigningKey !== null,
  }
}

/** Fields as Prisma writes them: an unset JSON column is null in the database. */
const toColumns = <Fields extends Partial<Pick<IdpFields, 'claims' | 'trustAcr'>>>(fields: Fields) => ({
  ...fields,
  ...(fields.claims === null && { claims: Prisma.DbNull }),
  ...(fields.trustAcr === null && { trustAcr: Prisma.DbNull }),
})

/**
 * Creates an identity provider. The caller chooses its id; id and type never change. Secrets are sealed and
 * never returned. Throws InvalidInput, or Conflict (the id is taken).
 */
export async function createIdentityProvider(ctx: Ctx, input: unknown): Promise<Idp> {
  const fields = parseInput(IdpCreate, input)
  // `node(id:)` finds the tenant by its slug.
  if (fields.id === ctx.tenant)
    throw new InvalidInput([{ field: 'id', description: 'is the name of the tenant' }])
  const { id, type } = fields
  const sealed = sealIdpSecrets(ctx.tenant, id, addStandards(IDP_FIELDS, fields) as IdpFields)
  const clientSecretExpiresAt = findSecretExpiry(type, fields.clientSecret)
  const row = await ctx.db.transaction(async (tx) => {
    if (fields.claimRoles?.length) await lockTenantRow(tx)
    await requireOrganization(tx, ctx, fields.organizationId)
    const made = await tx.prisma.identityProvider.create({
      data: {
        tenantId: ctx.tenant,
        id,
        type,
        ...toColumns(sealed),
        clientSecretExpiresAt,
      } as Prisma.IdentityProviderUncheckedCreateInput,
    })
    const { organizationId } = made
    if (fields.claimRoles?.length) await requireMapping(tx, ctx, made)
    await recordEvents(tx, ctx, [createEvent('idp.created', { idpId: id, organizationId })])
    invalidateTenant(tx)
    return made
  })
  return toIdp(row)
}

/** Returns an identity provider. Throws NotFound. */
export async function getIdentityProvider(ctx: Ctx, idpId: string): Promise<Idp> {
  const where = { tenantId_id: { tenantId: ctx.tenant, id: idpId } }
  const row = isIdpId(idpId) ? await ctx.db.prisma.identityProvider.findUnique({ where }) : null
  if (!row) throw new NotFound('identity provider')
  return toIdp(row)
}

/** Finds identity providers by id for a loader: one statement. */
export async function findIdentityProviders(db: Db, ids: string[]): Promise<Idp[]> {
  const where = { tenantId: db.tenant, id: { in: ids } }
  return (await db.prisma.identityProvider.findMany({ where })).map(toIdp)
}

/** What cursors of the list of identity providers are bound to. */
export const toIdpListName = (tenant: string): string => `${tenant}:idps`

function listIdps(ctx: Ctx, args: PageArgs, name: string, organizationId?: string): Promise<Page<Idp>> {
  const isListed = { tenantId: ctx.tenant, ...(organizationId !== undefined && { organizationId }) }
  const { identityProvider } = ctx.db.prisma
  return listInOrder(ctx, args, {
    name,
    column: 'id',
    read: async (page) => {
      if (organizationId !== undefined) await getOrganization(ctx, organizationId)
      const where = { ...isListed, ...page.where }
      return (await identityProvider.findMany({ ...page, where })).map(toIdp)
    },
    countAll: () => identityProvider.count({ where: isListed }),
  })
}

/**
 * Lists the identity providers by id: one statement, and one more for totalSize. Throws InvalidInput about
 * the paging.
 */
export const listIdentityProviders = (ctx: Ctx, args: PageArgs): Promise<Page<Idp>> =>
  listIdps(ctx, args, toIdpListName(ctx.tenant))

/** Lists those of an organization: a statement more. Throws NotFound, too. */
export const listOrganizationIdps = (ctx: Ctx, id: string, args: PageArgs): Promise<Page<Idp>> =>
  listIdps(ctx, args, `${toIdpListName(ctx.tenant)}:${id}`, id)

/**
 * Controlling a provider means controlling the accounts that are linked to it: throws Forbidden when a linked user has
 * roles or rights that the caller may not give.
 */
export async function requireIdpControl(tx: Tx, ctx: Ctx, idpId: string): Promise<void> {
  const { actor, tenant, scopes } = ctx
  if (actor.kind === 'platform' || listManagementScopes(tenant).every((scope) => scopes.has(scope))) return
  requireNoEscalation(ctx, getRoleScopes(await shareRoles(tx, await selectLinkedUserRoles(tx, idpId))))
  if (listUngrantableRights(ctx).length === 0) return
  const held = await selectLinkedRights(tx, idpId)
  if (held) requireRightsControl(ctx, held)
}

/** Display fields of a provider. All other fields affect authentication. */
const PRESENTATION_FIELDS: readonly string[] = ['name', 'scopes']

/** The roles that members get. They give nobody an account. */
const MAPPING_FIELDS: readonly string[] = ['roleClaim', 'claimRoles']

/** Fields that say which server gets kept refresh tokens, and as which client. */
const TOKEN_FIELDS: readonly string[] = ['keepTokens', 'clientId', 'issuer', 'tokenEndpoint']

/** Requires the client secret with another server, which would get the stored one. Throws InvalidInput. */
function requireSecretOfServer(before: IdpFields, patch: Partial<IdpFields>): void {
  if (before.clientSecret === null || patch.clientSecret !== undefined) return
  const isMoved = (['issuer', 'tokenEndpoint'] as const).some(
    (field) => patch[field] && patch[field] !== before[field],
  )
  if (!isMoved) return
  throw new InvalidInput([
    { field: 'clientSecret', description: 'is required with another server, which would get the stored one' },
  ])
}

/**
 * Changes an identity provider: omitted fields are unchanged, null and, for text, '' unset; response-only fields, and
 * `type`, are ignored where they are as they were. It must be valid as a whole afterwards. Links stay, under
 * the issuer that they were made with. Kept tokens are deleted when they are not kept any more, or would be sent
 * elsewhere, and ID tokens when the logout there is switched off. A change that changes nothing leaves updatedAt and the log alone.
 * Throws NotFound, InvalidInput (also for another server without the client secret), Conflict (`expectedUpdatedAt`), and
 * Forbidden where linked people have roles that permit what the caller may not.
 */
export async function updateIdentityProvider(ctx: Ctx, idpId: string, input: unknown): Promise<Idp> {
  if (!isIdpId(idpId)) throw new NotFound('identity provider')
  const row = await ctx.db.transaction(async (tx) => {
    if (isJsonObject(input) && input.claimRoles) await lockTenantRow(tx)
    const current = await lockIdp(tx, idpId)
    if (!current) throw new NotFound('identity provider')
    assertExpectedUpdatedAt(input, current.updatedAt)
    const before = unsealIdpSecrets(current)
    const patch = parseInput(createIdpPatchShape({ ...toIdp(current), ...(before as IdpFields) }), input)
    const changedFields = IDP_FIELD_NAMES.filter(
      (name) => patch[name] !== undefined && !isDeepStrictEqual(patch[name], before[name]),
    )
    if (changedFields.length === 0) return current
    const isDecisive = changedFields.some((field) => !PRESENTATION_FIELDS.includes(field))
    if (changedFields.some((field) => ![...PRESENTATION_FIELDS, ...MAPPING_FIELDS].includes(field)))
      await requireIdpControl(tx, ctx, idpId)
    requireSecretOfServer(before as IdpFields, patch)
    if (changedFields.includes('organizationId')) await requireOrganization(tx, ctx, patch.organizationId)
    const changed: Partial<IdpFields> = Object.fromEntries(changedFields.map((name) => [name, patch[name]]))
    if (changedFields.some((field) => TOKEN_FIELDS.includes(field))) await deleteIdpTokens(tx, idpId)
    if (changed.upstreamLogout === false) await clearIdTokens(tx, { idpId })
    const next = { ...current, ...toColumns(changed) } as IdpRow
    // Who controls the claims of a provider gives the roles of its mapping.
    if (isDecisive && [current, next].some(({ claimRoles }) => listMappedRoles(claimRoles).length > 0))
      await requireMapping(tx, ctx, next)
    const isMoved = changedFields.includes('organizationId')
    if (isMoved || changedFields.includes('claimRoles'))
      await takeProviderRoles(tx, idpId, isMoved ? [] : listMappedRoles(next.claimRoles))
    const { organizationId } = next
    await recordEvents(tx, ctx, [createEvent('idp.updated', { idpId, organizationId, changedFields })])
    invalidateTenant(tx)
    return tx.prisma.identityProvider.update({
      where: { tenantId_id: { tenantId: ctx.tenant, id: idpId } },
      data: {
        ...toColumns(sealIdpSecrets(ctx.tenant, idpId, changed)),
        ...('clientSecret' in changed && {
          clientSecretExpiresAt: findSecretExpiry(current.type, changed.clientSecret),
        }),
        ...(changed.signalsIssuer === null && { signalsSecretHash: null }),
        updatedAt: moveForward(current.updatedAt),
      } as Prisma.IdentityProviderUncheckedUpdateInput,
    })
  })
  return toIdp(row)
}

/**
 * Deletes an identity provider with all links to it, for ever, in one transaction. The log has one entry,
 * with the number of links. Throws NotFound, and Forbidden where linked people have roles that permit what
 * the caller may not.
 */
export async function deleteIdentityProvider(
  ctx: Ctx,
  idpId: string,
): Promise<{ deletedIdentityProviderId: string }> {
  if (!isIdpId(idpId)) throw new NotFound('identity provider')
  await ctx.db.transaction(async (tx) => {
    const idp = await lockIdp(tx, idpId)
    if (!idp) throw new NotFound('identity provider')
    await requireIdpControl(tx, ctx, idpId)
    const links = await deleteIdpLinks(tx, idpId)
    await tx.prisma.identityProvider.delete({ where: { tenantId_id: { tenantId: ctx.tenant, id: idpId } } })
    const { organizationId } = idp
    await recordEvents(tx, ctx, [createEvent('idp.deleted', { idpId, organizationId }, { links })])
    invalidateTenant(tx)
  })
  return { deletedIdentityProviderId: idpId }
}
