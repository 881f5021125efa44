import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Ctx } from '../../src/ctx.ts'
import type { PageArgs } from '../../src/page.ts'
import { closeRuntime, openRuntime } from '../../src/runtime.ts'
import {
  FILTER_MEMBERS,
  type FilterMember,
  toFilter,
  UserFilter,
} from '../../src/users/user-filter.fields.ts'
import { listUsers } from '../../src/users/user-list.ts'
import { chooseList, FLAGS, USER_LISTS, type UserList } from '../../src/users/user-list-choice.ts'
import { ctxFor, newTenant } from '../support/actors.ts'
import { captureStatements, explain, type Plan, type PlanNode } from '../support/plans.ts'

// Issue 3, "search, filter, order": every list that USER_LISTS lets through, on a large tenant among others, planned for
// its values as `plannedSql` has it.

const USERS = 30_000
const OTHERS = 10
const PAGE_SIZE = 20
const DEEP_PAGE = 100

let admin: pg.Client
let ctx: Ctx

/** Entries of the log stay hidden from other tests while a transaction is open: none of these is long. */
const BATCH = 1000
/** Names of which a 40th are alike, times of which 100 are, and a third of everything unset. */
const FILL = `
  INSERT INTO "User" ("tenantId", "id", "name", "email", "emailKey", "phoneNumber", "phoneNumberKey", "externalId", "locked",
    "emailVerified", "phoneNumberVerified", "hasCredential", "createdAt", "updatedAt", "lastSeenAt", "appMetadata")
  SELECT $1, 'user_' || lpad(i::text, 26, '0'),
    CASE WHEN i % 3 > 0 THEN (ARRAY['Anna', 'Łukasz', 'Søren', 'Zoë'])[1 + i % 4] || ' Family' || i / 7 % 10 END,
    e, e, CASE WHEN i % 3 = 1 THEN '+4179' || i END, CASE WHEN i % 3 = 1 THEN '+4179' || i END,
    CASE WHEN i % 3 = 2 THEN 'crm-' || i END, i % 5 = 0, i % 2 = 0, i % 7 = 0, i % 4 = 0,
    t, t, CASE WHEN i % 3 = 0 THEN t END, jsonb_build_object('plan', i % 2, 'org', jsonb_build_object('region', i % 3))
  FROM generate_series($2::int + 1, $2::int + ${BATCH}) i, LATERAL (SELECT
    CASE WHEN i % 3 < 2 THEN 'p' || i || '@example.com' END AS e, '2026-01-01'::timestamptz + i / 100 * interval '1 hour' AS t) x`

async function fill(tenant: string, users: number): Promise<void> {
  for (let from = 0; from < users; from += BATCH) await admin.query(FILL, [tenant, from])
  await admin.query(
    `INSERT INTO "IdentityProvider" ("tenantId", "id", "type", "name") VALUES ($1, 'acme', 'oidc', 'Acme')`,
    [tenant],
  )
  await admin.query(
    `INSERT INTO "IdpUser" ("tenantId", "id", "userId", "idpId", "externalId")
     SELECT $1, 'idpuser_' || "id", "id", 'acme', "id" FROM "User" WHERE "tenantId" = $1 AND ("hasCredential" OR $2)`,
    [tenant, users < USERS],
  )
}

/** What each member of the filter is tried with; finds more than DEEP_PAGE pages, but for what is unique. */
const SAMPLES: Record<FilterMember, object[]> = {
  search: [{ search: 'family' }, { search: 'an fam' }, { search: 'p1' }],
  email: [{ email: 'p300@example.com' }],
  phoneNumber: [{ phoneNumber: '+41791234' }],
  externalId: [{ externalId: 'crm-302' }],
  locked: [{ locked: true }, { locked: false }, { locked: true, emailVerified: false }],
  emailVerified: [{ emailVerified: true }, { emailVerified: false, hasCredential: false }],
  phoneNumberVerified: [{ phoneNumberVerified: true }, { phoneNumberVerified: false }],
  hasCredential: [
    { hasCredential: true },
    { locked: false, emailVerified: true, phoneNumberVerified: false, hasCredential: true },
  ],
  idpId: [{ idpId: 'acme' }],
  createdAt: [
    { createdAt: { gte: '2026-01-02T00:00:00Z' } },
    { createdAt: { gte: '2026-01-02T00:00:00Z', lt: '2026-06-01T00:00:00Z' } },
  ],
  updatedAt: [{ updatedAt: { lt: '2026-06-01T00:00:00Z' } }],
  lastSeenAt: [
    { lastSeenAt: { gte: '2026-01-02T00:00:00Z' } },
    { lastSeenAt: { lt: '2026-06-01T00:00:00Z' } },
  ],
  appMetadata: [{ appMetadata: { plan: 1 } }, { appMetadata: { plan: 1, 'org.region': 2 } }],
}
/** What comes along is tested on what was found: no order or index is asked of it. */
const COMPANIONS: object[] = [
  { locked: false },
  { idpId: 'acme' },
  { appMetadata: { plan: 0 } },
  { createdAt: { gte: '2026-01-02T00:00:00Z' } },
  Object.assign({}, ...FILTER_MEMBERS.map((member) => SAMPLES[member][0])),
]

type Case = { title: string; list: UserList; args: object; isFiltered: boolean }
const casesOf = (list: UserList): Case[] => {
  const filters = list.by.length === 0 ? [{}] : list.by.flatMap((member) => SAMPLES[member])
  const companions = list.with.length > FLAGS.length ? COMPANIONS : []
  const filtered = filters
    .slice(0, 1)
    .flatMap((filter) => companions.map((other) => ({ ...other, ...filter })))
  // Of one user, or with an order of its own, a list needs no order by name.
  const orders = list.by.length === 0 && list.orderBy.length > 0 ? list.orderBy : [null, ...list.orderBy]
  return [...filters, ...filtered].flatMap((filter) =>
    (filtered.includes(filter) ? [null] : orders).flatMap((orderBy) =>
      ['asc', 'desc'].map((direction) => ({
        title: `${JSON.stringify(filter)} by ${orderBy ?? 'its own order'}, ${direction}`,
        list: chooseList(toFilter(UserFilter.parse(filter)), orderBy),
        args: { filter, orderBy, direction },
        isFiltered: filtered.includes(filter),
      })),
    ),
  )
}
const cases = USER_LISTS.flatMap(casesOf)

/** Indexes that answer what is asked of one user at a time. */
const LOOKUPS = [
  'User_pkey',
  'UserTerm_tenantId_userId_term_idx',
  'IdpUser_user_idp_key',
  'IdpUser_tenantId_idpId_userId_idx',
]

const isScan = ({ 'Node Type': type }: PlanNode): boolean =>
  /Scan$/.test(type) && !/^(CTE|Function|Subquery|Values|Result)/.test(type)

/** Of several that name one user, the planner takes one. */
const UNIQUE = ['User_email_key', 'User_phoneNumber_key', 'User_externalId_key']

/**
 * Reads its index and no other, of this tenant alone; a page of it no more than the page. By offset, the index is read up
 * to the page, and what is counted is read as a whole.
 */
function assertPlan(
  { nodes, text }: Plan,
  { list, isFiltered }: Case,
  what: 'page' | 'offset' | 'count',
): void {
  const isUnique = list.by.length > 0 && list.indexes.some((index) => UNIQUE.includes(index))
  const leading = isUnique ? UNIQUE : list.indexes
  const scans = nodes.filter(isScan)
  const kinds = new Set(scans.map(({ 'Node Type': type }) => type))
  expect(
    [...kinds].filter((kind) => !/^Index( Only)? Scan$/.test(kind)),
    text,
  ).toEqual([])
  for (const scan of scans) {
    expect(scan['Index Cond'], text).toContain('"tenantId" = ')
    expect([...leading, ...LOOKUPS], text).toContain(scan['Index Name'])
  }
  expect(
    scans.map(({ 'Index Name': name }) => name).some((name) => leading.includes(name ?? '')),
    text,
  ).toBe(true)
  if (what === 'count') return
  const isOfTerms = list.indexes.includes('UserTerm_pkey')
  const branches = list.by.includes('locked') ? 2 ** FLAGS.length : 1
  const most = (PAGE_SIZE + 1 + (what === 'offset' ? DEEP_PAGE * PAGE_SIZE : 0)) * branches
  const sorts = nodes.filter(({ 'Node Type': type }) => type.includes('Sort'))
  for (const { Plans: [input] = [] } of sorts)
    expect((input?.['Actual Rows'] ?? 0) * (input?.['Actual Loops'] ?? 1), text).toBeLessThanOrEqual(
      branches > 1 ? most : PAGE_SIZE + 1,
    )
  if (!isFiltered && !isOfTerms)
    for (const scan of scans) expect(scan['Rows Removed by Filter'] ?? 0, text).toBe(0)
}

/** The plans of what `work` sends: the plain list is prepared, so that it may be planned for any values too. */
async function plansOf({ list }: Case, work: () => Promise<unknown>): Promise<Plan[]> {
  const [statement, ...rest] = await captureStatements(work)
  if (!statement || rest.length > 0) throw new Error('a list is one statement')
  const plans = await explain(admin, statement)
  const isPlain = list.by.length === 0 && list.order === 'id'
  return plans.filter(({ kind }) => isPlain || kind === 'force_custom_plan')
}

describe.skipIf(!process.env.DATABASE_URL)('every list of users is read by its index', () => {
  beforeAll(async () => {
    await openRuntime()
    admin = new pg.Client({
      connectionString: process.env.DATABASE_URL,
      options: '-c timezone=UTC -c jit=off',
    })
    await admin.connect()
    for (const table of ['User', 'UserTerm', 'IdpUser'])
      await admin.query(`ALTER TABLE "${table}" SET (autovacuum_enabled = false)`)
    for (let other = 0; other < OTHERS; other += 1) await fill(await newTenant(), USERS / OTHERS)
    const tenant = await newTenant()
    await fill(tenant, USERS)
    ctx = await ctxFor(tenant)
    for (const table of ['User', 'UserTerm', 'IdpUser']) await admin.query(`VACUUM ANALYZE "${table}"`)
  }, 120_000)
  afterAll(async () => {
    await admin.end()
    await closeRuntime()
  })

  const page = (args: object, paging: PageArgs) => () => listUsers(ctx, { ...args, ...paging })

  test.each(cases.map((one) => [one.title, one] as const))('%s', async (_title, one) => {
    const { args, list, isFiltered } = one
    const first = await plansOf(one, page(args, { first: PAGE_SIZE }))
    for (const plan of first) assertPlan(plan, one, 'page')
    if (list.by.length > 0) {
      const start = await page(args, { first: 1 })()
      for (const plan of await plansOf(one, () => start.countAll())) assertPlan(plan, one, 'count')
    }
    for (const plan of await plansOf(one, page(args, { page: DEEP_PAGE, pageSize: PAGE_SIZE })))
      assertPlan(plan, one, 'offset')
    // What is unique, or filtered further, has no page as deep.
    if (isFiltered || list.orderBy.length > 1) return
    const deep = await page(args, { page: DEEP_PAGE, pageSize: PAGE_SIZE })()
    expect(deep.rows).toHaveLength(PAGE_SIZE)
    const cursor = deep.cursorOf(deep.rows[0] as never)
    for (const paging of [
      { first: PAGE_SIZE, after: cursor },
      { last: PAGE_SIZE, before: cursor },
      { last: PAGE_SIZE },
    ])
      for (const [index, plan] of (await plansOf(one, page(args, paging))).entries()) {
        assertPlan(plan, one, 'page')
        expect(plan.buffers, plan.text).toBeLessThan(1.3 * (first[index]?.buffers ?? 0) + 30)
      }
  })
})
