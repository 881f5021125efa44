// npm run seed -- --users 1000000 [--tenant demo-large]: fills a tenant with plausible people, in the database of
// DATABASE_URL or the embedded one, through the server that has it open. The same --random-seed makes the same people.
import { parseArgs } from 'node:util'
import pg from 'pg'
import { startProgress } from '../src/cli/progress.ts'
import { env } from '../src/env.ts'
import { log } from '../src/log.ts'
import { closeRuntime, openRuntime } from '../src/runtime.ts'
import { seedTenant } from './seed/tenant.ts'

const DAY_MS = 86_400_000

function numberOf(name: string, text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new Error(`--${name} must be a whole number.`)
  return Number(text)
}

/** Statistics, so that lists are planned for what is there now and not for an empty tenant. */
async function analyze(): Promise<void> {
  if (!env.databaseUrl) return
  const client = new pg.Client({ connectionString: env.databaseUrl })
  await client.connect()
  await client.query('ANALYZE').finally(() => client.end())
}

const USAGE = `npm run seed -- [--users 1000] [--tenant demo-large] [--clients 5] [--sessions N] [--random-seed 1] [--force]
Fills a tenant with plausible people, in the database of DATABASE_URL or the embedded one.`

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
    throw new Error('This writes made-up people. In production it wants to be asked with --force.')
  const users = numberOf('users', values.users)
  const options = {
    tenant: values.tenant,
    users,
    sessions: values.sessions === undefined ? Math.ceil(users / 10) : numberOf('sessions', values.sessions),
    clients: numberOf('clients', values.clients),
    randomSeed: numberOf('random-seed', values['random-seed']),
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
      progress: (written) => progress.at(written, note(written)),
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
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
  process.exitCode = 1
})
