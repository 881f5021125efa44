import { isJsonObject } from '../core/json/json-object.ts'
import { Prisma } from '../generated/prisma/client.ts'

/** Thrown before a statement is sent. It is a bug in Vestibule, so it becomes a 500. */
export class TenantGuardError extends Error {
  constructor(model: string, operation: string, reason: string) {
    super(`${model}.${operation} was rejected: ${reason}`)
    this.name = 'TenantGuardError'
  }
}

type Args = Record<string, unknown>

/** The tenant of a `where`: `tenantId` itself, or in a compound key such as `tenantId_id`. */
function readWhereTenant(where: unknown): unknown {
  if (!isJsonObject(where)) return undefined
  if (Object.hasOwn(where, 'tenantId')) return where.tenantId
  const key = Object.entries(where).find(([name]) => name.startsWith('tenantId_'))?.[1]
  return isJsonObject(key) ? key.tenantId : undefined
}

const getModelColumns = (model: string): object =>
  (Prisma as unknown as Record<string, object>)[`${model}ScalarFieldEnum`] ?? {}

/** A relation in `data` is a nested write, which reaches rows outside the `where` that the guard checks. */
const findNestedWrite = (model: string, data: Args): string | undefined =>
  Object.keys(data).find((name) => !Object.hasOwn(getModelColumns(model), name))

const WHERE_OPERATIONS = new Set([
  'findUnique',
  'findUniqueOrThrow',
  'findFirst',
  'findFirstOrThrow',
  'findMany',
  'count',
  'aggregate',
  'groupBy',
  'update',
  'updateMany',
  'updateManyAndReturn',
  'upsert',
  'delete',
  'deleteMany',
])
const UPDATE_DATA: Record<string, string> = {
  update: 'data',
  updateMany: 'data',
  updateManyAndReturn: 'data',
  upsert: 'update',
}
const CREATE_DATA: Record<string, string> = {
  create: 'data',
  createMany: 'data',
  createManyAndReturn: 'data',
  upsert: 'create',
}

/** Why an operation is not allowed for `tenant`, or null. */
export function findTenantViolation(
  tenant: string,
  model: string,
  operation: string,
  args: Args,
): string | null {
  if (!WHERE_OPERATIONS.has(operation) && !CREATE_DATA[operation])
    return 'the guard does not know the operation'
  // Prisma takes `undefined` as "any", and {not: …} matches other tenants: only a plain string is accepted.
  if (WHERE_OPERATIONS.has(operation) && readWhereTenant(args.where) !== tenant)
    return 'where.tenantId is not the tenant'
  const created = CREATE_DATA[operation] ? args[CREATE_DATA[operation]] : undefined
  const rows = created === undefined ? [] : Array.isArray(created) ? created : [created]
  for (const row of rows) {
    if (!isJsonObject(row) || row.tenantId !== tenant) return 'data.tenantId is not the tenant'
    const nested = findNestedWrite(model, row)
    if (nested) return `nested write to ${nested}`
  }
  if (UPDATE_DATA[operation]) {
    const change = args[UPDATE_DATA[operation]]
    if (!isJsonObject(change)) return 'no data'
    if (Object.hasOwn(change, 'tenantId')) return 'a row cannot move to another tenant'
    const nested = findNestedWrite(model, change)
    if (nested) return `nested write to ${nested}`
  }
  return null
}

/** Throws unless a statement of a *.sql.ts file has a tenant condition on its first value. */
export function assertTenantStatement(text: string): void {
  if (!text.includes('"tenantId"') || !/\$1\b/.test(text))
    throw new TenantGuardError('SQL', text.trim().split(/\s/, 1)[0] ?? '', 'it has no tenant condition')
}

/**
 * Why raw SQL is not allowed through Prisma, or null. Statements of *.sql.ts files pass with the tenant as
 * first value.
 */
function findRawViolation(tenant: string, operation: string, args: unknown): string | null {
  if (operation !== '$queryRawUnsafe') return 'raw SQL belongs in *.sql.ts files'
  const [text, first] = args as [string, unknown]
  assertTenantStatement(text)
  return first === tenant ? null : 'the first value of the statement is not the tenant'
}

/**
 * Prisma extension that allows operations on `tenant` only. Tenant `system` may also read the table of
 * tenants.
 */
export function createTenantGuard(tenant: string, systemTenant: string) {
  return Prisma.defineExtension({
    name: 'tenant-guard',
    query: {
      async $allOperations({ model, operation, args, query }) {
        const seesAllTenants = model === 'Tenant' && tenant === systemTenant
        const violation = model
          ? seesAllTenants
            ? null
            : findTenantViolation(tenant, model, operation, (args ?? {}) as Args)
          : findRawViolation(tenant, operation, args)
        if (violation) throw new TenantGuardError(model ?? 'SQL', operation, violation)
        return query(args)
      },
    },
  })
}
