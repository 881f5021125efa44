import type { Provisioner } from '../access/authenticate.ts'
import { NotFound } from '../core/errors.ts'
import { isJsonObject } from '../core/json/json-object.ts'
import { toAppError } from '../core/to-app-error.ts'
import type { Db, Tx } from '../database/handle.ts'
import { lockTenantRow } from '../keys/keys.sql.ts'
import {
  addGroupMembers,
  createGroup as createGroupOfApi,
  deleteGroup,
  deleteGroupMembers,
  type Group,
  updateGroup,
} from '../permissions/groups.ts'
import { moveForward } from '../schema/expected-updated-at.ts'
import { parseInput, text } from '../schema/input-shapes.ts'
import { findAttribute, GROUP_ATTRIBUTES, isServiceAttribute, type Json, readValue } from './attributes.ts'
import { type Filter, getMember } from './filter.ts'
import { diffMembers, MAX_MEMBERS, selectMemberVersion } from './groups.sql.ts'
import { type PatchOperation, readOperations, splitPath } from './patch.ts'
import { ScimError } from './scim-errors.ts'
import { type Precondition, requireVersion } from './users.ts'

/** Users that the service adds or removes at once. */
const BATCH = 1000
const EXTERNAL_ID = text(255).nullable()

type GroupInput = { displayName?: string; externalId?: string | null; members?: string[] }

const joinCaller = (caller: Provisioner, tx: Tx): Provisioner => ({
  ...caller,
  ctx: { ...caller.ctx, db: tx.join() },
})

/** Returns a group of the tenant itself, or of the organization. Throws NotFound. */
export async function getGroup({ ctx, organizationId }: Provisioner, id: string): Promise<Group> {
  const where = { tenantId: ctx.tenant, id, organizationId }
  const group = await ctx.db.prisma.group.findFirst({ where })
  if (!group) throw new NotFound('group')
  return group
}

/** The ids of members as requests have them. Throws ScimError invalidValue. */
function readMembers(value: unknown): string[] {
  const attribute = findAttribute(GROUP_ATTRIBUTES, 'members')
  const members = ((attribute && readValue(attribute, value, MAX_MEMBERS)) ?? []) as Json[]
  return [
    ...new Set(
      members.map(({ value: id, type = 'User' }) => {
        if (typeof id !== 'string' || String(type).toLowerCase() !== 'user')
          throw new ScimError('invalidValue', 'members must be users.')
        return id
      }),
    ),
  ]
}

function readText(name: string, value: unknown): string | null {
  const attribute = findAttribute(GROUP_ATTRIBUTES, name)
  return ((attribute && readValue(attribute, value)) ?? null) as string | null
}

/** Reads a group. Throws ScimError. */
function readGroup(body: unknown): GroupInput & { displayName: string } {
  if (!isJsonObject(body)) throw new ScimError('invalidSyntax', 'The body must be an object.')
  const displayName = readText('displayName', getMember(body, 'displayName'))
  if (displayName === null) throw new ScimError('invalidValue', 'displayName is required.')
  return {
    displayName,
    externalId: readText('externalId', getMember(body, 'externalId')),
    members: readMembers(getMember(body, 'members')),
  }
}

/** Runs a change of members. The id of another tenant's user, or of a user outside of the organization, is an invalid value. */
async function changeMembers(
  change: typeof addGroupMembers,
  { ctx }: Provisioner,
  groupId: string,
  userIds: readonly string[],
): Promise<void> {
  for (let at = 0; at < userIds.length; at += BATCH)
    await change(ctx, groupId, { userIds: userIds.slice(at, at + BATCH) }).catch((thrown: unknown) => {
      const error = toAppError(thrown)
      if (!(error instanceof NotFound) || error.fields.length === 0) throw error
      const unknown = error.fields.slice(0, 10).map(({ field }) => userIds[at + Number(field.split('.')[1])])
      throw new ScimError(
        'invalidValue',
        `members has ids of nobody who may be in the group: ${unknown.join(', ')}.`,
      )
    })
}

async function setMembers(tx: Tx, caller: Provisioner, groupId: string, userIds: readonly string[]) {
  const { added, removed } = await diffMembers(tx, groupId, userIds)
  await changeMembers(deleteGroupMembers, caller, groupId, removed)
  await changeMembers(addGroupMembers, caller, groupId, added)
}

async function setFields(
  tx: Tx,
  { ctx }: Provisioner,
  group: Group,
  { displayName, externalId }: GroupInput,
): Promise<void> {
  if (displayName !== undefined && displayName !== group.name)
    await updateGroup(ctx, group.id, { name: displayName })
  if (externalId === undefined || externalId === group.scimExternalId) return
  await tx.prisma.group.update({
    where: { tenantId_id: { tenantId: tx.tenant, id: group.id } },
    data: { scimExternalId: parseInput(EXTERNAL_ID, externalId), updatedAt: moveForward(group.updatedAt) },
  })
}

/** Creates a group with its members. Throws ScimError, InvalidInput and Conflict (the name is taken, or there are too many). */
export async function createGroup(caller: Provisioner, body: unknown): Promise<Group> {
  const input = readGroup(body)
  const { organizationId } = caller
  return caller.ctx.db.transaction(async (tx) => {
    const joined = joinCaller(caller, tx)
    const group = await createGroupOfApi(joined.ctx, { name: input.displayName, organizationId })
    await setFields(tx, joined, group, input)
    await changeMembers(addGroupMembers, joined, group.id, input.members ?? [])
    return getGroup(joined, group.id)
  })
}

/** Changes a group in one transaction, which others of the tenant's groups wait for. */
const writeGroup = (
  caller: Provisioner,
  id: string,
  ifMatch: Precondition,
  change: (tx: Tx, joined: Provisioner, group: Group) => Promise<void>,
): Promise<Group> =>
  caller.ctx.db.transaction(async (tx) => {
    const joined = joinCaller(caller, tx)
    await getGroup(joined, id)
    await lockTenantRow(tx)
    const group = await getGroup(joined, id)
    if (ifMatch !== null) requireVersion(ifMatch, await readGroupVersion(tx, group))
    await change(tx, joined, group)
    return getGroup(joined, id)
  })

/** Replaces a group. Without a difference, nothing is written. */
export function replaceGroup(
  caller: Provisioner,
  id: string,
  body: unknown,
  ifMatch: Precondition,
): Promise<Group> {
  const input = readGroup(body)
  return writeGroup(caller, id, ifMatch, async (tx, joined, group) => {
    await setFields(tx, joined, group, input)
    await setMembers(tx, joined, id, input.members ?? [])
  })
}

/** The ids that `members[value eq "x"]` names, or several of them joined by `or`. Throws ScimError invalidPath. */
function listSelected(filter: Filter): string[] {
  if (filter.op === 'or') return filter.parts.flatMap(listSelected)
  if (filter.op === 'eq' && filter.path === 'value' && typeof filter.value === 'string') return [filter.value]
  throw new ScimError('invalidPath', 'Members are selected by value eq.')
}

const GROUP_PREFIX = /^urn:ietf:params:scim:schemas:core:2\.0:Group:/i

async function patchMembers(
  tx: Tx,
  caller: Provisioner,
  id: string,
  operation: PatchOperation,
  filter: Filter | null,
) {
  const { op, value } = operation
  if (op === 'add') return changeMembers(addGroupMembers, caller, id, readMembers(value))
  if (op === 'replace') return setMembers(tx, caller, id, readMembers(value))
  // Entra ID sends the values to remove instead of a filter.
  const selected = filter
    ? listSelected(filter)
    : value === undefined || value === null
      ? null
      : readMembers(value)
  return selected === null
    ? setMembers(tx, caller, id, [])
    : changeMembers(deleteGroupMembers, caller, id, selected)
}

/** Applies a PATCH (RFC 7644, section 3.5.2). Members are added and removed without reading the others. */
export const patchGroup = (
  caller: Provisioner,
  id: string,
  body: unknown,
  ifMatch: Precondition,
): Promise<Group> => {
  const operations = readOperations(body, ({ op, value: given }) =>
    Object.entries(given as Json).map(([path, value]) => ({ op, path, value })),
  )
  return writeGroup(caller, id, ifMatch, async (tx, joined, first) => {
    let group = first
    for (const operation of operations) {
      const { name, filter } = splitPath((operation.path ?? '').replace(GROUP_PREFIX, ''))
      const attribute = findAttribute(GROUP_ATTRIBUTES, name)
      // Okta sends the id of the group with its name.
      if (!attribute && isServiceAttribute(name)) continue
      if (!attribute)
        throw new ScimError('invalidPath', `${name.slice(0, 100)} is not an attribute of groups.`)
      if (attribute.name === 'members') await patchMembers(tx, joined, id, operation, filter)
      else {
        const value = operation.op === 'remove' ? null : readText(attribute.name, operation.value)
        if (attribute.name === 'displayName' && value === null)
          throw new ScimError('invalidValue', 'displayName is required.')
        await setFields(tx, joined, group, { [attribute.name]: value })
        group = await getGroup(joined, id)
      }
    }
  })
}

/** Deletes a group. Throws NotFound, and Conflict while groups are nested in it. */
export const removeGroup = async (caller: Provisioner, id: string, ifMatch: Precondition): Promise<void> =>
  caller.ctx.db.transaction(async (tx) => {
    const joined = joinCaller(caller, tx)
    const group = await getGroup(joined, id)
    if (ifMatch !== null) requireVersion(ifMatch, await readGroupVersion(tx, group))
    await deleteGroup(joined.ctx, id)
  })

/** The weak entity tag of a group: it changes with its members too. */
export const readGroupVersion = async (db: Db, { id, updatedAt }: Group): Promise<string> =>
  `W/"${updatedAt.getTime().toString(36)}-${await selectMemberVersion(db, id)}"`
