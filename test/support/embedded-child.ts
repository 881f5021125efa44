import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { openEmbedded } from '../../src/embedded.ts'

// node --import tsx embedded-child.ts <directory> <name> <rows>: opens the database, says who owns it, writes `rows`
// rows one commit each, and prints every id once the database acknowledged it.
const [directory = '', name = '', rows = '0'] = process.argv.slice(2)

const startedAt = performance.now()
const embedded = await openEmbedded(directory)
process.stdout.write(`owner ${embedded.owner} ${Math.round(performance.now() - startedAt)}\n`)

const pool = new pg.Pool({ ...embedded.connection, max: 1 })
// Transactional, so that it excludes other connections of the same backend session too.
await pool.query(`
  BEGIN;
  SELECT pg_advisory_xact_lock(1);
  CREATE TABLE IF NOT EXISTS row (id text PRIMARY KEY, filler text NOT NULL);
  COMMIT`)
for (let i = 0; i < Number(rows); i++) {
  const id = `${name}-${i}`
  await pool.query({ name: 'insert', text: 'INSERT INTO row VALUES ($1, $2)', values: [id, 'x'.repeat(200)] })
  process.stdout.write(`wrote ${id}\n`)
}
await pool.end()
process.stdout.write('done\n')
// The owner goes on serving the others until its input ends.
if (embedded.owner) for await (const _ of process.stdin) await sleep(0)
await embedded.close()
