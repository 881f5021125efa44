import { parseArgs } from 'node:util'
import pg from 'pg'
import { startProgress } from '../src/cli/progress.ts'
import { env } from '../src/core/env.ts'
import { errorMessage } from '../src/core/error-message.ts'
import { log } from '../src/core/log.ts'
import { closeRuntime, openRuntime } from '../src/server/runtime.ts'
import { seedTenant } from './seed/tenant.ts'

// npm run seed -- --users 1000000 [--tenant demo-large]
//
// Fills a tenant with generated users, in the database of DATABASE_URL or the embedded one. The same
// --random-seed generates the same users.

const DAY_MS = 86_400_000

function parseCount(name: string, text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new Error(`--${name} must be a whole number.`)
  return Number(text)
}

/** Updates the statistics: without them, lists are planned for an empty tenant. */
async function analyze(): Promise<void> {
  if (!env.databaseUrl) return
  const client = new pg.Client({ connectionString: env.databaseUrl })
  await client.connect()
  await client.query('ANALYZE').finally(() => client.end())
}

const USAGE = `npm run seed -- [--users 1000] [--tenant demo-large] [--clients 5] [--sessions N] [--random-seed 1] [--force]
Fills a tenant with generated users, in the database of DATABASE_URL or the embedded one.`

async function seed(): Promise<void> {
  const { values } = parseArgs({
    options: {
      help: { type: 'boolean', default: false },
      users: { type: 'string', default: '1000' },
      tenant: { type: 'string', default: 'demo-large' },
      clients: { type: 'string', default: '5' },
      sessions: { type: 'string' },
      'random-seed': { type: 'string', default: '1' },
      force: { type: 'boolean', default: false },
    },
  })
  if (values.help) {
    process.stdout.write(`${USAGE}\n`)
    return
  }
  if (env.isProduction && !values.force)
    throw new Error('This writes generated users. In production it requires --force.')
  const users = parseCount('users', values.users)
  const options = {
    tenant: values.tenant,
    users,
    sessions: values.sessions === undefined ? Math.ceil(users / 10) : parseCount('sessions', values.sessions),
    clients: parseCount('clients', values.clients),
    randomSeed: parseCount('random-seed', values['random-seed']),
    // The same all day long.
    until: new Date(Math.floor(Date.now() / DAY_MS) * DAY_MS),
  }
  log.level = 'warn'
  const started = performance.now()
  await openRuntime()
  const progress = startProgress({ total: users, isShown: true })
  try {
    const note = (written: number) => `${written.toLocaleString('en')} users`
    await seedTenant(options, {
      parallel: env.databaseUrl ? 2 : 1,
      progress: (written) => progress.report(written, note(written)),
    })
    await analyze()
  } finally {
    progress.stop()
    await closeRuntime()
  }
  const seconds = Math.round((performance.now() - started) / 1000)
  process.stdout.write(
    `Tenant ${options.tenant} has ${users.toLocaleString('en')} users now (${seconds} s).\n`,
  )
}

await seed().catch((error: unknown) => {
  process.stderr.write(`${errorMessage(error)}\n`)
  process.exitCode = 1
})
