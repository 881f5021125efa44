import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { openEmbedded } from '../../src/database/embedded/open.ts'

// node embedded-child.mjs <directory> <name> <rows>
//
// Opens the database, prints whether it owns it and the directory of the socket, writes `rows` rows with one
// commit each, and prints every id after the database has acknowledged it.
const [directory = '', name = '', rows = '0'] = process.argv.slice(2)

const embedded = await openEmbedded(directory)
process.stdout.write(`owner ${embedded.owner} ${embedded.connection.host}\n`)

const pool = new pg.Pool({ ...embedded.connection, max: 1 })
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
// The owner serves the others until its input ends.
if (embedded.owner) for await (const _ of process.stdin) await sleep(0)
await embedded.close()
