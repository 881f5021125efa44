import type { Provisioner } from '../access/authenticate.ts'
import type { Db } from '../database/handle.ts'
import type { Group } from '../permissions/groups.ts'
import { GROUP_SCHEMA, type Json } from './attributes.ts'
import { type Filter, type FilterTerm, listTerms, matches } from './filter.ts'
import { MAX_MEMBERS, selectMembers } from './groups.sql.ts'
import { ScimError } from './scim-errors.ts'
import { toGroupLocation, toUserLocation } from './user-resource.ts'

/** Groups as responses have them; with their members only if these are wanted. Throws ScimError tooMany. */
export async function toGroupResources(
  db: Db,
  groups: readonly Group[],
  hasMembers: boolean,
): Promise<Json[]> {
  const members = hasMembers
    ? await selectMembers(
        db,
        groups.map(({ id }) => id),
      )
    : []
  if (members.length > MAX_MEMBERS)
    throw new ScimError(
      'tooMany',
      `The groups have more than ${MAX_MEMBERS} members: send excludedAttributes=members.`,
    )
  const byGroup = new Map<string, typeof members>()
  for (const member of members) {
    const known = byGroup.get(member.groupId)
    if (known) known.push(member)
    else byGroup.set(member.groupId, [member])
  }
  return groups.map((group) => {
    const { id, name, scimExternalId, createdAt, updatedAt, tenantId } = group
    return {
      schemas: [GROUP_SCHEMA],
      id,
      ...(scimExternalId !== null && { externalId: scimExternalId }),
      displayName: name,
      ...(hasMembers && {
        members: (byGroup.get(id) ?? []).map((member) => ({
          value: member.userId,
          $ref: toUserLocation(tenantId, member.userId),
          display: member.name ?? member.email ?? member.userId,
          type: 'User',
        })),
      }),
      meta: {
        resourceType: 'Group',
        created: createdAt.toISOString(),
        lastModified: updatedAt.toISOString(),
        location: toGroupLocation(tenantId, id),
      },
    }
  })
}

const GROUP_READERS: Record<string, (group: Group) => string | null> = {
  id: ({ id }) => id,
  displayname: ({ name }) => name,
  externalid: ({ scimExternalId }) => scimExternalId,
  'meta.created': ({ createdAt }) => createdAt.toISOString(),
  'meta.lastmodified': ({ updatedAt }) => updatedAt.toISOString(),
}
const isMemberTerm = ({ path }: FilterTerm): boolean => path === 'members' || path === 'members.value'

/** The groups of each user whom the filter names. */
async function findMemberships({ prisma, tenant }: Db, filter: Filter): Promise<Set<string>> {
  const userIds = listTerms(filter).flatMap((term) => {
    if (!isMemberTerm(term)) return []
    if (term.op !== 'eq' || typeof term.value !== 'string')
      throw new ScimError('invalidFilter', 'members is compared with an id by eq.')
    return [term.value]
  })
  if (userIds.length === 0) return new Set()
  const where = { tenantId: tenant, userId: { in: userIds } }
  const rows = await prisma.groupMember.findMany({ where, select: { groupId: true, userId: true } })
  return new Set(rows.map(({ groupId, userId }) => `${groupId} ${userId}`))
}

/** The groups of the tenant itself, or of the organization, that match: all are read, of which there are 2,000 at most. */
export async function findGroups(
  { ctx, organizationId }: Provisioner,
  { filter, sortBy, descending }: { filter: Filter | null; sortBy: string | null; descending: boolean },
): Promise<Group[]> {
  const { db } = ctx
  const where = { tenantId: db.tenant, organizationId }
  const groups = await db.prisma.group.findMany({ where, orderBy: { id: 'asc' } })
  const memberships = filter ? await findMemberships(db, filter) : new Set()
  const read = (group: Group, path: string): string | null => {
    const reader = Object.hasOwn(GROUP_READERS, path) ? GROUP_READERS[path] : undefined
    if (!reader)
      throw new ScimError('invalidFilter', `Groups are neither filtered nor sorted by ${path.slice(0, 100)}.`)
    return reader(group)
  }
  // Also without a group.
  for (const term of filter ? listTerms(filter) : [])
    if (!isMemberTerm(term) && !Object.hasOwn(GROUP_READERS, term.path))
      throw new ScimError('invalidFilter', `Groups are not filtered by ${term.path.slice(0, 100)}.`)
  const matching = groups.filter(
    (group) =>
      filter === null ||
      matches(filter, group, (path, term) =>
        isMemberTerm(term)
          ? memberships.has(`${group.id} ${term.op === 'eq' ? term.value : ''}`) && term.op === 'eq'
            ? term.value
            : undefined
          : read(group, path),
      ),
  )
  if (sortBy !== null)
    matching.sort((a, b) => {
      const [left, right] = [read(a, sortBy) ?? '', read(b, sortBy) ?? '']
      return left.toLowerCase() < right.toLowerCase() ? -1 : left.toLowerCase() > right.toLowerCase() ? 1 : 0
    })
  return descending ? matching.reverse() : matching
}
