import { type BudgetName, STORAGE_BUDGETS, takeStorage } from '../../src/coordination/storage-budgets.ts'
import { dbFor, sql } from '../../src/database/db.ts'
import type { TestApp } from './app.ts'
import { test as base, newOpenTenant } from './client-documents.ts'
import { PageBrowser } from './page-browser.ts'
import { authorizePath, makeClient } from './protocol.ts'

/** A browser with an address: the server trusts one proxy. */
export class BrowserFrom extends PageBrowser {
  readonly #ip: string

  constructor({ origin }: { origin: string }, ip: string) {
    super(origin)
    this.#ip = ip
  }

  override fetch(path: string, init: RequestInit = {}): Promise<Response> {
    return super.fetch(path, { ...init, headers: { ...init.headers, 'x-forwarded-for': this.#ip } })
  }
}

type Visited = { slug: string; client: { id: string; secret: string } }

/** The parameters of an authorize request with a state of `stateBytes`. */
const toParameters = ({ slug, client }: Visited, stateBytes: number) =>
  new URLSearchParams(authorizePath(slug, client, { state: 'x'.repeat(stateBytes) }).split('?')[1])

/** Starts a sign-in from an address, with a large request. */
export const startSignIn = (
  app: Pick<TestApp, 'origin'>,
  visited: Visited,
  ip: string,
  stateBytes = 15_000,
): Promise<Response> =>
  new BrowserFrom(app, ip).fetch(`/${visited.slug}/oidc/authorize`, {
    method: 'POST',
    body: toParameters(visited, stateBytes),
  })

/** Starts sign-ins one after another until one is rejected; returns how many were not, and the rejection. */
export async function floodSignIns(start: (index: number) => Promise<Response>) {
  for (let count = 0; count < 400; count++) {
    const response = await start(count)
    if (response.status !== 303) return { count, response }
  }
  throw new Error('no sign-in was rejected')
}

/** The bytes of the pending sign-ins of a tenant. */
export async function measureInteractions(slug: string): Promise<number> {
  const [row] = await sql<{ bytes: number }>(
    `SELECT sum(octet_length("request"::text))::int AS "bytes" FROM "Interaction" WHERE "tenantId" = $1`,
    [slug],
  )
  return row?.bytes ?? 0
}

/** Stores parts of the budget of a network in a tenant until no further part is accepted. */
export async function storeParts(name: BudgetName, ip: string, tenant: string, parts: number): Promise<void> {
  const rows = STORAGE_BUDGETS[name].network.rows / parts
  while ((await takeStorage(name, { tenant, ip }, { rows, bytes: 0 })) === null);
}

/**
 * Uses up a budget of a network, as calls in another tenant do. Less than a hundredth of a row is left, so that
 * some time passes before the budget has drained by a row.
 */
export async function useUp(name: BudgetName, ip: string): Promise<void> {
  const { rows } = STORAGE_BUDGETS[name].network
  for (const parts of [100, rows, rows * 100]) await storeParts(name, ip, 'another', parts)
}

let addresses = 0

/** The rows of a tenant that strangers may write. */
async function countRows(tenantId: string): Promise<number[]> {
  const db = dbFor(tenantId)
  const where = { tenantId }
  return Promise.all([
    db.interaction.count({ where }),
    db.pushedRequest.count({ where }),
    db.deviceCode.count({ where }),
    db.passcode.count({ where }),
    db.user.count({ where }),
    db.event.count({ where }),
  ])
}

/** `test` with tenants, and addresses that have stored nothing. */
export const test = base
  .extend('newVisited', { scope: 'file' }, ({ app: _ }) => async (more: object = {}): Promise<Visited> => {
    const slug = await newOpenTenant()
    return { slug, client: await makeClient(slug, more) }
  })
  .extend('visited', { scope: 'file' }, ({ newVisited }) => newVisited())
  .extend('neighbor', { scope: 'file' }, ({ newVisited }) => newVisited())
  .extend('countRows', { scope: 'file' }, async () => countRows)
  .extend(
    'newIp',
    { scope: 'file' },
    ({ app: _ }) =>
      () =>
        `10.1.${++addresses >> 8}.${addresses & 255}`,
  )
