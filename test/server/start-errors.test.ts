import { createServer } from 'node:http'
import pg from 'pg'
import { describe, expect, onTestFinished, test } from 'vitest'
import { StartError } from '../../src/core/start-error.ts'
import { listenOnPort } from '../../src/server/listen.ts'
import { explainStartError } from '../../src/server/start-errors.ts'
import { databaseUrl } from '../support/connections.ts'
import { withConnection } from '../support/databases.ts'
import { freePort } from '../support/process.ts'

const catchError = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => null,
    (error) => error,
  )

describe('explainStartError', () => {
  test('says in one sentence that the port is in use', async () => {
    const server = createServer()
    onTestFinished(() => void server.close())
    const { port } = await listenOnPort(server, 0)
    const error = await catchError(listenOnPort(createServer(), port))
    expect(explainStartError(error)).toBe(`Port ${port} of 127.0.0.1 is in use by another process.`)
  })

  test('says in one sentence that the database does not answer, without its credentials', async () => {
    const port = await freePort()
    const client = new pg.Client({ connectionString: `postgresql://user:secret@localhost:${port}/nothing` })
    const sentence = explainStartError(await catchError(client.connect()))
    expect(sentence).toMatch(/^The database of DATABASE_URL \(.*\) does not answer: ECONNREFUSED/)
    expect(sentence).not.toContain('secret')
  })

  test('says in one sentence that the database does not exist', async () => {
    const url = new URL(databaseUrl())
    url.pathname = '/vestibule_absent'
    const error = await catchError(withConnection(url.href, async () => {}))
    expect(explainStartError(error)).toMatch(/^The database of DATABASE_URL \(.*\) does not exist\.$/)
  })

  test('repeats the sentence of a StartError, and leaves other errors to the log', () => {
    expect(explainStartError(new StartError('GEOIP_DB cannot be read.'))).toBe('GEOIP_DB cannot be read.')
    expect(explainStartError(new TypeError('a bug'))).toBeNull()
  })
})
