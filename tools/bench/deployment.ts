import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { createDatabase, dropDatabase } from '../../test/support/databases.ts'
import { freePort } from '../../test/support/process.ts'
import { readCpuSeconds, readDatabaseCpuSeconds } from './cpu.ts'

const ADMIN_URL = process.env.TEST_DATABASE_URL ?? 'postgresql://postgres@127.0.0.1:5432/postgres'
const START_LIMIT_MS = 30_000

/** A server process with its own PostgreSQL database, and the counters of both. */
export type Deployment = {
  origin: string
  operator: { id: string; secret: string }
  db: pg.Client
  databaseUrl: string
  /** Answers the questions of server.ts. */
  server: ChildProcess
  /** The files of a key and a certificate of localhost, which the server trusts. */
  tls: { key: string; certificate: string }
  /** Statements sent so far. */
  statements: () => Promise<number>
  /** CPU seconds of the server process so far. */
  cpuSeconds: () => number
  /** CPU seconds of the connections of the server so far. */
  databaseCpuSeconds: () => Promise<number>
  /** Bytes of write-ahead log written by the cluster so far. */
  walBytes: () => Promise<number>
  stop: () => Promise<void>
}

function createCertificate(): Deployment['tls'] {
  const directory = mkdtempSync(join(tmpdir(), 'vestibule-bench-'))
  const [key, certificate] = [join(directory, 'key.pem'), join(directory, 'certificate.pem')]
  const options = ['-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '1']
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost']
  execFileSync('openssl', ['req', ...options, ...subject, '-keyout', key, '-out', certificate], {
    stdio: 'ignore',
  })
  return { key, certificate }
}

/** Waits until a server is ready; throws when it ends before. */
export async function untilReady(origin: string, child: ChildProcess): Promise<void> {
  const deadline = Date.now() + START_LIMIT_MS
  while (Date.now() < deadline) {
    if (child.exitCode !== null) throw new Error(`the server ended with ${child.exitCode}`)
    const ready = await fetch(`${origin}/health/ready`).then(
      (answer) => answer.ok,
      () => false,
    )
    if (ready) return
    await sleep(100)
  }
  throw new Error('the server did not become ready')
}

/**
 * Starts the server, which sends mails to `smtpUrl`. With `profileDirectory` it writes a CPU profile there when it
 * stops.
 */
export async function deploy(smtpUrl: string, profileDirectory?: string): Promise<Deployment> {
  const name = `vestibule_bench_${process.pid}`
  const admin = new pg.Client({ connectionString: ADMIN_URL })
  await admin.connect()
  await createDatabase(admin, name)
  const url = new URL(ADMIN_URL)
  url.pathname = `/${name}`

  const tls = createCertificate()
  const port = await freePort()
  const origin = `http://localhost:${port}`
  const operator = { id: 'bench-operator', secret: randomBytes(32).toString('base64url') }
  const profiling = profileDirectory ? ['--cpu-prof', `--cpu-prof-dir=${profileDirectory}`] : []
  const child = spawn(
    process.execPath,
    [...profiling, '--import', 'tsx', new URL('server.ts', import.meta.url).pathname],
    {
      env: {
        PATH: process.env.PATH,
        NODE_ENV: 'production',
        LOG_LEVEL: 'warn',
        HOST: '127.0.0.1',
        PORT: String(port),
        BASE_URL: origin,
        DATABASE_URL: url.href,
        ENCRYPTION_KEY: randomBytes(32).toString('base64url'),
        SMTP_URL: smtpUrl,
        // One client makes every call.
        RATE_LIMIT: '1000000000',
        GRANTS_PER_HOUR: '1000000000',
        // The receiver of webhooks is on loopback.
        FETCH_PRIVATE: '1',
        NODE_EXTRA_CA_CERTS: tls.certificate,
        BOOTSTRAP_CLIENT_ID: operator.id,
        BOOTSTRAP_CLIENT_SECRET: operator.secret,
      },
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    },
  )
  await untilReady(origin, child)
  const db = new pg.Client({ connectionString: url.href })
  await db.connect()

  return {
    origin,
    operator,
    db,
    databaseUrl: url.href,
    server: child,
    tls,
    statements: async () => {
      child.send('statements')
      const [count] = await once(child, 'message')
      return count as number
    },
    cpuSeconds: () => readCpuSeconds(child.pid),
    databaseCpuSeconds: () => readDatabaseCpuSeconds(db, ''),
    walBytes: async () => {
      const { rows } = await db.query("SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::float8 AS bytes")
      return rows[0].bytes
    },
    stop: async () => {
      child.kill('SIGTERM')
      if (child.exitCode === null) await once(child, 'exit')
      await db.end()
      await dropDatabase(admin, name)
      await admin.end()
      rmSync(dirname(tls.key), { recursive: true })
    },
  }
}
