import { isDeepStrictEqual } from 'node:util'
import { newId } from '../crypto.ts'
import { type Ctx, scopesOfRoles } from '../ctx.ts'
import { inTransaction, type Sql, sql } from '../db.ts'
import { Conflict, describeError, NotFound, Unavailable } from '../errors.ts'
import { toEventRow, wakeReaders } from '../events.ts'
import { parse } from '../fields.ts'
import { requireNoEscalation } from '../scopes.ts'
import { holdUser } from '../users/hold-user.sql.ts'
import { IdpUserAdd, IdpUserLink } from './idp-users.fields.ts'
import {
  deleteLink,
  holdIdpAndLink,
  insertLink,
  type LinkColumns,
  refreshLink,
  selectUserAndIdp,
} from './idp-users.sql.ts'
import { assertLinkIds, type IdpUser } from './idp-users.ts'
import { type ExternalIdentity, proveIdentity } from './prove-identity.ts'
import { providerOf } from './provider.ts'

const NO_USER = () => new NotFound('user')
const NO_IDP = () => new NotFound('identity provider')

/** On whose account a link is made. */
export type LinkedBy = {
  /** Throws Forbidden where the caller may not change the links of a user with these roles. */
  assertMayChange: (ctx: Ctx, roles: readonly string[]) => void
  /** Links of management callers outlive the first proof of an address. */
  byManagement: boolean
}

/** Nobody changes the links of a user whose roles permit what the caller may not. */
export const BY_MANAGEMENT: LinkedBy = {
  assertMayChange: (ctx, roles) => requireNoEscalation(ctx, scopesOfRoles(roles)),
  byManagement: true,
}

type Target = { userId: string; idpId: string }

const userIsLinked = () =>
  new Conflict(
    [{ field: 'idpId', description: 'is a provider that the user is linked to already' }],
    'The user is linked to another identity of this provider.',
  )

/** Runs a write; an identity that somebody else is linked to becomes a Conflict that says so. */
async function namingConflicts<T>(write: () => Promise<T>): Promise<T> {
  try {
    return await write()
  } catch (thrown) {
    const isTaken = describeError(thrown).fields.some(({ field }) => field === 'externalId')
    if (!isTaken) throw thrown
    throw new Conflict(
      [{ field: 'externalId', description: 'is linked to another user' }],
      'The identity is linked to another user.',
    )
  }
}

async function insert(
  sql: Sql,
  ctx: Ctx,
  { userId, idpId }: Target,
  columns: LinkColumns,
  type: 'added' | 'linked',
) {
  const id = newId('idpuser')
  const event = toEventRow(ctx, { type: `idpuser.${type}`, userId, subjectIds: [id, idpId] })
  return insertLink(sql, ctx.tenant, { id, userId, idpId, ...columns }, event)
}

/**
 * Adds a link on the word of the caller (spec: Add IdP user): nothing is asked of the provider. A locked user can be
 * linked; it lets nobody in. Throws InvalidInput, NotFound, Conflict (`idpId`: the user has a link there; `externalId`:
 * another user has this one), and Forbidden for a user whose roles permit what the caller may not.
 */
export async function addIdpUser(ctx: Ctx, userId: string, idpId: string, input: unknown): Promise<IdpUser> {
  const { externalId, metadata } = parse(IdpUserAdd, input)
  assertLinkIds(userId, idpId)
  const link = await namingConflicts(() =>
    inTransaction(async (sql) => {
      const user = await holdUser(sql, ctx.tenant, userId)
      if (!user) throw NO_USER()
      BY_MANAGEMENT.assertMayChange(ctx, user.roles)
      const held = await holdIdpAndLink(sql, ctx.tenant, idpId, userId)
      if (!held) throw NO_IDP()
      if (held.link) throw userIsLinked()
      // Where the issuer depends on the organisation, the first proof tells it.
      const issuer = providerOf(held.idp).issuer ?? ''
      return insert(
        sql,
        ctx,
        { userId, idpId },
        { issuer, externalId, metadata, byManagement: true, lastLoginAt: null },
        'added',
      )
    }),
  )
  wakeReaders(ctx.tenant)
  return link
}

/**
 * Links a user to the identity that a proof is of (spec: Link IdP user). The provider is asked first, outside any
 * transaction; nothing is written before it has said whose the proof is. The key is issuer and subject, never an e-mail
 * address; the other claims become the link's metadata. The same identity again changes lastLoginAt, and metadata where it
 * differs. A locked user can be linked; it lets nobody in. Throws InvalidInput (a refused proof, by its field), NotFound,
 * Conflict (`idpId`: the user has another identity there; `externalId`: another user has this one), Unavailable, and
 * Forbidden where `by` says so.
 */
export async function linkIdpUser(
  ctx: Ctx,
  userId: string,
  idpId: string,
  input: unknown,
  by: LinkedBy = BY_MANAGEMENT,
): Promise<IdpUser> {
  const proof = parse(IdpUserLink, input)
  assertLinkIds(userId, idpId)
  const { roles, idp } = await selectUserAndIdp(sql, ctx.tenant, userId, idpId)
  if (!roles) throw NO_USER()
  if (!idp) throw NO_IDP()
  by.assertMayChange(ctx, roles)
  const identity = await proveIdentity(idp, proof)
  const link = await namingConflicts(() =>
    inTransaction((sql) => saveLink(sql, ctx, { userId, idpId }, { identity, by, askedOf: idp.updatedAt })),
  )
  wakeReaders(ctx.tenant)
  return link
}

/** Writes what was proven, unless the user's roles or the provider changed while it was asked. */
async function saveLink(
  sql: Sql,
  ctx: Ctx,
  target: Target,
  { identity, by, askedOf }: { identity: ExternalIdentity; by: LinkedBy; askedOf: Date },
): Promise<IdpUser> {
  const { userId, idpId } = target
  const user = await holdUser(sql, ctx.tenant, userId)
  if (!user) throw NO_USER()
  by.assertMayChange(ctx, user.roles)
  const held = await holdIdpAndLink(sql, ctx.tenant, idpId, userId)
  if (!held) throw NO_IDP()
  if (held.idp.updatedAt.getTime() !== askedOf.getTime())
    throw new Unavailable('The identity provider was changed meanwhile; try again.')
  const { issuer, subject: externalId, claims: metadata } = identity
  const columns = { issuer, externalId, metadata, lastLoginAt: new Date(), byManagement: by.byManagement }
  if (!held.link) return insert(sql, ctx, target, columns, 'linked')
  // An issuer that was not known when the link was added is known now.
  const isSame = held.link.externalId === externalId && ['', issuer].includes(held.link.issuer)
  if (!isSame) throw userIsLinked()
  const changedFields = isDeepStrictEqual(held.link.metadata, metadata) ? [] : ['metadata']
  if (held.link.issuer !== issuer) changedFields.push('issuer')
  const subjectIds = [held.link.id, idpId]
  const events = [toEventRow(ctx, { type: 'idpuser.updated', userId, subjectIds, changedFields })]
  return refreshLink(sql, ctx.tenant, held.link.id, columns, changedFields.length > 0 ? events : [])
}

/**
 * Removes a user's link at a provider (spec: Unlink IdP user). Throws NotFound, and Forbidden where `by` says so.
 */
export async function unlinkIdpUser(
  ctx: Ctx,
  userId: string,
  idpId: string,
  by: LinkedBy = BY_MANAGEMENT,
): Promise<{ unlinkedIdpUserId: string; userId: string }> {
  assertLinkIds(userId, idpId)
  const unlinkedIdpUserId = await inTransaction(async (sql) => {
    const user = await holdUser(sql, ctx.tenant, userId)
    if (!user) throw NO_USER()
    by.assertMayChange(ctx, user.roles)
    const event = toEventRow(ctx, { type: 'idpuser.unlinked', userId })
    const id = await deleteLink(sql, ctx.tenant, { userId, idpId }, event)
    if (!id) throw new NotFound('link')
    return id
  })
  wakeReaders(ctx.tenant)
  return { unlinkedIdpUserId, userId }
}
