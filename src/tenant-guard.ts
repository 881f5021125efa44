import { Prisma } from './generated/prisma/client.ts'

/** Thrown before a statement is sent. Reaching it is a bug of ours, so that it ends as a 500. */
export class TenantGuardError extends Error {
  constructor(model: string, operation: string, why: string) {
    super(`${model}.${operation} was refused: ${why}`)
    this.name = 'TenantGuardError'
  }
}

type Args = Record<string, unknown>
const isObject = (value: unknown): value is Args =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The tenant that a `where` demands: `tenantId` itself, or inside a compound key such as `tenantId_id`. */
function tenantOfWhere(where: unknown): unknown {
  if (!isObject(where)) return undefined
  if (Object.hasOwn(where, 'tenantId')) return where.tenantId
  const key = Object.entries(where).find(([name]) => name.startsWith('tenantId_'))?.[1]
  return isObject(key) ? key.tenantId : undefined
}

const columnsOf = (model: string): object =>
  (Prisma as unknown as Record<string, object>)[`${model}ScalarFieldEnum`] ?? {}

/** A relation in `data` is a nested write, which reaches rows that no `where` of ours names. */
const nestedWrite = (model: string, data: Args): string | undefined =>
  Object.keys(data).find((name) => !Object.hasOwn(columnsOf(model), name))

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

/** Why an operation may not be sent for `tenant`, or null. */
export function tenantFault(tenant: string, model: string, operation: string, args: Args): string | null {
  if (!WHERE_OPERATIONS.has(operation) && !CREATE_DATA[operation])
    return 'the operation is not known to the guard'
  // `undefined` means "any" to Prisma, and so does {not: ...}: only a plain string will do.
  if (WHERE_OPERATIONS.has(operation) && tenantOfWhere(args.where) !== tenant)
    return 'where.tenantId is not the tenant'
  const created = CREATE_DATA[operation] ? args[CREATE_DATA[operation]] : undefined
  const rows = created === undefined ? [] : Array.isArray(created) ? created : [created]
  for (const row of rows) {
    if (!isObject(row) || row.tenantId !== tenant) return 'data.tenantId is not the tenant'
    const nested = nestedWrite(model, row)
    if (nested) return `nested write to ${nested}`
  }
  if (UPDATE_DATA[operation]) {
    const change = args[UPDATE_DATA[operation]]
    if (!isObject(change)) return 'no data'
    if (Object.hasOwn(change, 'tenantId')) return 'a row cannot move to another tenant'
    const nested = nestedWrite(model, change)
    if (nested) return `nested write to ${nested}`
  }
  return null
}

/** Throws unless a statement of a *.sql.ts file asks for its first value as the tenant. */
export function assertTenantStatement(text: string): void {
  if (!text.includes('"tenantId"') || !/\$1\b/.test(text))
    throw new TenantGuardError('SQL', text.trim().split(/\s/, 1)[0] ?? '', 'it does not ask for a tenant')
}

/** Why raw SQL may not be sent through Prisma. Statements of *.sql.ts files come here with their tenant first. */
function rawFault(tenant: string, operation: string, args: unknown): string | null {
  if (operation !== '$queryRawUnsafe') return 'raw SQL belongs into *.sql.ts files'
  const [text, first] = args as [string, unknown]
  assertTenantStatement(text)
  return first === tenant ? null : 'the first value of the statement is not the tenant'
}

/** Prisma extension that lets only operations on `tenant` through; `system` may also see the table of tenants. */
export function guardTenant(tenant: string, systemTenant: string) {
  return Prisma.defineExtension({
    name: 'tenant-guard',
    query: {
      async $allOperations({ model, operation, args, query }) {
        const seesAllTenants = model === 'Tenant' && tenant === systemTenant
        const fault = model
          ? seesAllTenants
            ? null
            : tenantFault(tenant, model, operation, (args ?? {}) as Args)
          : rawFault(tenant, operation, args)
        if (fault) throw new TenantGuardError(model ?? 'SQL', operation, fault)
        return query(args)
      },
    },
  })
}
