import { isDeepStrictEqual } from 'node:util'
import { requireAccountControl } from '../access/account-control.ts'
import { resolveRoles } from '../access/held-roles.sql.ts'
import { requireNoEscalation } from '../access/require-scope.ts'
import type { Ctx } from '../context/context.ts'
import { newId } from '../core/crypto.ts'
import { Conflict, InvalidInput, NotFound, Unavailable } from '../core/errors.ts'
import { getRoleScopes, type HeldRoles } from '../core/scopes.ts'
import { toAppError } from '../core/to-app-error.ts'
import type { Db, Tx } from '../database/handle.ts'
import { createEvent } from '../events/create-event.ts'
import { recordEvents } from '../events/log.ts'
import type { Prisma } from '../generated/prisma/client.ts'
import { moveForward } from '../schema/expected-updated-at.ts'
import { parseInput } from '../schema/input-shapes.ts'
import { lockUserRow } from '../users/lock-user.sql.ts'
import { type ExternalIdentity, proveIdentity } from './external-identity.ts'
import { IdpUserAdd, IdpUserLink } from './idp-users.fields.ts'
import { assertLinkIds, type IdpUser } from './idp-users.ts'
import { shareIdp } from './idps.sql.ts'
import { toProvider } from './provider/provider.ts'
import { type ProviderTokens, replaceTokens } from './tokens/kept-tokens.ts'

const createUserNotFoundError = () => new NotFound('user')
const createIdpNotFoundError = () => new NotFound('identity provider')

/** The account on which a link is created. */
export type LinkAuthority = {
  /** Throws Forbidden when the caller may not change the links of a user. */
  requireControl: (db: Db, ctx: Ctx, user: { id: string; roles: HeldRoles }) => Promise<void> | void
  /** Links that the management API creates survive the first verification of an address. */
  byManagement: boolean
}

/** Who links an identity signs in as the user. */
const MANAGEMENT_AUTHORITY: LinkAuthority = { requireControl: requireAccountControl, byManagement: true }

/** The user's own account, for an application that has the scopes of the user's roles. */
export const ACCOUNT_AUTHORITY: LinkAuthority = {
  requireControl: (_db, ctx, { roles }) => requireNoEscalation(ctx, getRoleScopes(roles)),
  byManagement: false,
}

type LinkTarget = { userId: string; idpId: string }

const createAlreadyLinkedError = () =>
  new Conflict(
    [{ field: 'idpId', description: 'is a provider to which the user is already linked' }],
    'The user is linked to another identity of this provider.',
  )

/** Runs a write. An identity that is linked to another user becomes a Conflict. */
async function translateConflicts<T>(write: () => Promise<T>): Promise<T> {
  try {
    return await write()
  } catch (thrown) {
    const isTaken = toAppError(thrown).fields.some(({ field }) => field === 'externalId')
    if (!isTaken) throw thrown
    throw new Conflict(
      [{ field: 'externalId', description: 'is linked to another user' }],
      'The identity is linked to another user.',
    )
  }
}

/** The columns that a link is written with. */
type LinkColumns = Pick<IdpUser, 'issuer' | 'externalId' | 'byManagement' | 'lastLoginAt'> & {
  metadata: Prisma.InputJsonObject
}

async function insertLinkWithEvent(
  tx: Tx,
  ctx: Ctx,
  target: LinkTarget,
  columns: LinkColumns,
  type: 'idpuser.added' | 'idpuser.linked',
): Promise<IdpUser> {
  const link = { id: newId('idpuser'), ...target }
  const row = await tx.prisma.idpUser.create({ data: { tenantId: tx.tenant, ...link, ...columns } })
  await recordEvents(tx, ctx, [createEvent(type, { ...target, linkId: link.id })])
  return row
}

/**
 * Locks a provider until the transaction ends, and reads the link that a locked user has there. The link is read after
 * the user is locked: it is the current one. Throws NotFound without a provider.
 */
async function shareIdpAndFindLink(tx: Tx, { userId, idpId }: LinkTarget) {
  const idp = await shareIdp(tx, idpId)
  if (!idp) throw createIdpNotFoundError()
  return { idp, link: await findLink(tx, { userId, idpId }) }
}

const findLink = ({ prisma, tenant }: Tx, target: LinkTarget): Promise<IdpUser | null> =>
  prisma.idpUser.findUnique({ where: { tenantId_userId_idpId: { tenantId: tenant, ...target } } })

/**
 * Adds a link that the caller asserts; the provider is not contacted. A locked user can be linked, but still
 * cannot sign in. Throws InvalidInput, NotFound, Conflict (`idpId`: the user has a link there; `externalId`:
 * another user has this identity), and Forbidden for a user whom the caller does not control.
 */
export async function addIdpUser(ctx: Ctx, userId: string, idpId: string, input: unknown): Promise<IdpUser> {
  const { externalId, metadata } = parseInput(IdpUserAdd, input)
  assertLinkIds(userId, idpId)
  const link = await translateConflicts(() =>
    ctx.db.transaction(async (tx) => {
      const user = await lockUserRow(tx, userId)
      if (!user) throw createUserNotFoundError()
      await requireAccountControl(tx, ctx, { id: userId, roles: user.roles })
      const current = await shareIdpAndFindLink(tx, { userId, idpId })
      if (current.link) throw createAlreadyLinkedError()
      // Where the issuer depends on the organization, the first proof determines it.
      const issuer = toProvider(current.idp).issuer ?? ''
      return insertLinkWithEvent(
        tx,
        ctx,
        { userId, idpId },
        {
          issuer,
          externalId,
          metadata: metadata as Prisma.InputJsonObject,
          byManagement: true,
          lastLoginAt: null,
        },
        'idpuser.added',
      )
    }),
  )
  return link
}

/**
 * Adds the identities of a line of an import, for a locked user; a link that the user has at a provider stays. Throws
 * InvalidInput without the provider, and Conflict when another user has the identity.
 */
export async function importLinks(
  tx: Tx,
  ctx: Ctx,
  userId: string,
  identities: readonly { idpId: string; externalId: string }[],
): Promise<boolean> {
  let isChanged = false
  for (const [index, { idpId, externalId }] of identities.entries()) {
    const idp = await shareIdp(tx, idpId)
    if (!idp)
      throw new InvalidInput([
        { field: `identities.${index}.idpId`, description: 'must be an identity provider of the tenant' },
      ])
    if (await findLink(tx, { userId, idpId })) continue
    const issuer = toProvider(idp).issuer ?? ''
    const columns = { issuer, externalId, metadata: {}, byManagement: true, lastLoginAt: null }
    await translateConflicts(() => insertLinkWithEvent(tx, ctx, { userId, idpId }, columns, 'idpuser.added'))
    isChanged = true
  }
  return isChanged
}

/**
 * Links a user to the identity that a proof proves. The provider verifies the proof first, outside any
 * transaction; nothing is written before. The key is issuer and subject, never an e-mail address; the other
 * claims become the metadata of the link. Linking the same identity again updates lastLoginAt, and metadata
 * if it differs. A locked user can be linked, but still cannot sign in. Throws InvalidInput (a rejected
 * proof, by its field), NotFound, Conflict (`idpId`: the user has another identity there; `externalId`:
 * another user has this identity), Unavailable, and Forbidden where `by` says so.
 */
export async function linkIdpUser(
  ctx: Ctx,
  userId: string,
  idpId: string,
  input: unknown,
  by: LinkAuthority = MANAGEMENT_AUTHORITY,
): Promise<IdpUser> {
  const proof = parseInput(IdpUserLink, input)
  assertLinkIds(userId, idpId)
  const toKey = (id: string) => ({ tenantId_id: { tenantId: ctx.tenant, id } })
  const { prisma } = ctx.db
  const user = await prisma.user.findUnique({ where: toKey(userId), select: { id: true, roles: true } })
  if (!user) throw createUserNotFoundError()
  const idp = await prisma.identityProvider.findUnique({ where: toKey(idpId) })
  if (!idp) throw createIdpNotFoundError()
  await by.requireControl(ctx.db, ctx, { ...user, roles: await resolveRoles(ctx.db, user.roles) })
  const proven = await proveIdentity(idp, proof)
  const link = await translateConflicts(() =>
    ctx.db.transaction((tx) =>
      saveLink(tx, ctx, { userId, idpId }, { ...proven, by, provenAt: idp.updatedAt }),
    ),
  )
  return link
}

/**
 * Writes the proven identity, unless the roles of the user or the provider changed during the verification.
 */
async function saveLink(
  tx: Tx,
  ctx: Ctx,
  target: LinkTarget,
  { identity, by, provenAt, tokens }: ProvenIdentity & { by: LinkAuthority },
): Promise<IdpUser> {
  const user = await lockUserRow(tx, target.userId)
  if (!user) throw createUserNotFoundError()
  await by.requireControl(tx, ctx, { id: target.userId, roles: user.roles })
  const current = await shareIdpAndFindLink(tx, target)
  if (current.idp.updatedAt.getTime() !== provenAt.getTime())
    throw new Unavailable('The identity provider has changed; try again.')
  const { issuer, subject: externalId } = identity
  const metadata = identity.claims as Prisma.InputJsonObject
  const columns = { issuer, externalId, metadata, lastLoginAt: new Date(), byManagement: by.byManagement }
  const link = current.link
    ? await updateLink(tx, ctx, target, current.link, columns)
    : await insertLinkWithEvent(tx, ctx, target, columns, 'idpuser.linked')
  if (tokens) await replaceTokens(tx, link, tokens)
  return link
}

/** Writes the proven identity to the link that the user has. */
async function updateLink(
  tx: Tx,
  ctx: Ctx,
  target: LinkTarget,
  link: IdpUser,
  columns: LinkColumns,
): Promise<IdpUser> {
  const { issuer, externalId, metadata, lastLoginAt } = columns
  // The issuer was not known when the link was added.
  const isSame = link.externalId === externalId && ['', issuer].includes(link.issuer)
  if (!isSame) throw createAlreadyLinkedError()
  const changedFields = isDeepStrictEqual(link.metadata, metadata) ? [] : ['metadata']
  if (link.issuer !== issuer) changedFields.push('issuer')
  const isChanged = changedFields.length > 0
  if (isChanged)
    await recordEvents(tx, ctx, [
      createEvent('idpuser.updated', { ...target, linkId: link.id, changedFields }),
    ])
  return tx.prisma.idpUser.update({
    where: { tenantId_id: { tenantId: tx.tenant, id: link.id } },
    data: { issuer, metadata, lastLoginAt, ...(isChanged && { updatedAt: moveForward(link.updatedAt) }) },
  })
}

/** The user has just proven both the account and the identity. */
const OWNER_AUTHORITY: LinkAuthority = { requireControl: () => {}, byManagement: false }

/**
 * A proven identity, the updatedAt of the provider at which it was proven, and the tokens that the provider issued, if
 * it keeps them.
 */
export type ProvenIdentity = {
  identity: ExternalIdentity
  provenAt: Date
  tokens: ProviderTokens | null
}

/** Links a user inside the caller's transaction. Throws like linkIdpUser. */
export const insertProvenLink = (
  tx: Tx,
  ctx: Ctx,
  target: LinkTarget,
  proven: ProvenIdentity,
): Promise<IdpUser> => saveLink(tx, ctx, target, { ...proven, by: OWNER_AUTHORITY })

/**
 * Links a user who has proven the account to a proven identity. Throws Conflict (`idpId`, `externalId`),
 * NotFound, and Unavailable when the provider has changed since.
 */
export async function linkProvenIdentity(
  ctx: Ctx,
  target: LinkTarget,
  proven: ProvenIdentity,
): Promise<void> {
  await translateConflicts(() => ctx.db.transaction((tx) => insertProvenLink(tx, ctx, target, proven)))
}

/**
 * Removes the link of a user to a provider. Throws NotFound, and Forbidden where `by` says so.
 */
export async function unlinkIdpUser(
  ctx: Ctx,
  userId: string,
  idpId: string,
  by: LinkAuthority = MANAGEMENT_AUTHORITY,
): Promise<{ unlinkedIdpUserId: string; userId: string }> {
  assertLinkIds(userId, idpId)
  const unlinkedIdpUserId = await ctx.db.transaction(async (tx) => {
    const user = await lockUserRow(tx, userId)
    if (!user) throw createUserNotFoundError()
    await by.requireControl(tx, ctx, { id: userId, roles: user.roles })
    const link = await findLink(tx, { userId, idpId })
    const { count } = await tx.prisma.idpUser.deleteMany({ where: { tenantId: ctx.tenant, userId, idpId } })
    if (!link || count === 0) throw new NotFound('link')
    await recordEvents(tx, ctx, [createEvent('idpuser.unlinked', { userId, linkId: link.id, idpId })])
    return link.id
  })
  return { unlinkedIdpUserId, userId }
}
