import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { databaseUrl } from '../support/connections.ts'

const SCRIPT = `
  const { default: pg } = await import('pg')
  const client = new pg.Client(process.argv[1])
  await client.connect()
  await client.query('SELECT $1::text\\n AS "value"', ['a secret'])
  await client.end()
  new Function('parsers', 'return (fields) => fields')
  new Function('others', 'return 1')`

test('tools/trace.mjs prints statements without their values, and the functions that the program generates', async () => {
  const args = ['--import', './tools/trace.mjs', '--input-type=module', '-e', SCRIPT, databaseUrl()]
  const { stderr } = await promisify(execFile)(process.execPath, args)
  expect(stderr.replaceAll(/^[\d:.]+ /gm, '')).toBe('SELECT $1::text AS "value"\nreturn (fields) => fields\n')
})
