import { requireScope } from '../access/require-scope.ts'
import type { Ctx } from '../context/context.ts'
import type { User } from '../generated/prisma/client.ts'
import { parseInput } from '../schema/input-shapes.ts'
import { type ListArgs, type Page, parseListArgs, parsePaging, toPage } from '../schema/page.ts'
import {
  PERMISSION_FILTER,
  PermissionCheck,
  PermissionChecks,
  type PermissionReason,
} from './checks.fields.ts'
import {
  type CheckRow,
  countPermittedUsers,
  type PermissionPath,
  selectChecks,
  selectPermittedUsers,
  selectUserPermissions,
} from './checks.sql.ts'

export type PermissionResult = { isPermitted: boolean; reason: PermissionReason; paths: PermissionPath[] }

/** Ways of an explanation. */
const MAX_PATHS = 10
/** Permissions of a user. */
const MAX_PERMISSIONS = 10_000

function findReason({ locked, isKnown, isMember, paths }: CheckRow): PermissionReason {
  if (locked === null) return 'no-user'
  if (locked) return 'locked'
  if (!isKnown) return 'no-permission'
  if (!isMember) return 'no-member'
  return paths.length > 0 ? 'granted' : 'no-role'
}

function toResult(row: CheckRow, isExplained: boolean): PermissionResult {
  const reason = findReason(row)
  return { isPermitted: reason === 'granted', reason, paths: isExplained ? row.paths : [] }
}

/**
 * Answers up to 1000 checks by one statement, which reads what is true now: no process caches roles. A locked user has no
 * permission. Throws InvalidInput.
 */
export async function checkPermissions(ctx: Ctx, input: unknown): Promise<{ results: PermissionResult[] }> {
  const { checks, explain } = parseInput(PermissionChecks, input)
  const rows = await selectChecks(
    ctx.db,
    checks.map((check, index) => ({ ...check, index })),
    explain ? MAX_PATHS : 1,
  )
  return { results: rows.map((row) => toResult(row, explain === true)) }
}

/** Answers one check, as checkPermissions does. Throws InvalidInput. */
export async function checkPermission(ctx: Ctx, input: unknown): Promise<PermissionResult> {
  const { explain, ...check } = parseInput(PermissionCheck, input)
  const { results } = await checkPermissions(ctx, { checks: [check], explain })
  return results[0] as PermissionResult
}

/** The permissions of a user, by API and name, at most 10,000: one statement. */
export const listUserPermissions = (
  ctx: Ctx,
  userId: string,
  organizationId: string | null,
): Promise<{ api: string; name: string }[]> =>
  selectUserPermissions(ctx.db, userId, organizationId, MAX_PERMISSIONS)

/**
 * The users who have a permission and are not locked, oldest first: two statements, and one more for totalSize. Nobody has
 * one that is not named. Throws InvalidInput about the paging, and Forbidden for a filter without the scope roles:read.
 */
export async function listPermittedUsers(ctx: Ctx, args: ListArgs): Promise<Page<User>> {
  const { filter } = parseListArgs(args, PERMISSION_FILTER)
  if (Object.keys(filter).length > 0) requireScope(ctx, 'roles:read')
  const { api = '', permission = '', organizationId = null } = filter
  const searched = { api, permission, organizationId }
  const name = `${ctx.tenant}:who-can:${JSON.stringify(searched)}`
  const paging = parsePaging(ctx, args, name)
  const ids = await selectPermittedUsers(ctx.db, searched, {
    after: paging.mode === 'cursor' ? (paging.seek?.id ?? null) : null,
    limit: paging.pageSize + 1,
    skip: paging.mode === 'offset' ? paging.page * paging.pageSize : 0,
    isBackward: paging.mode === 'cursor' && paging.backward,
  })
  const users = await ctx.db.prisma.user.findMany({ where: { tenantId: ctx.tenant, id: { in: ids } } })
  const byId = new Map(users.map((user) => [user.id, user]))
  return toPage(
    paging,
    ids.flatMap((id) => byId.get(id) ?? []),
    {
      name,
      toKey: ({ id }) => ({ value: null, id }),
      countAll: () => countPermittedUsers(ctx.db, searched),
    },
  )
}
