import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { Socket } from 'node:net'
import { describe, expect, vi } from 'vitest'
import { NDJSON } from '../../src/core/json/ndjson.ts'
import { getUserByEmail } from '../../src/users/users.ts'
import { ctxFor, newTenant, tokenFor } from '../support/actors.ts'
import { toNdjson, userLine, userLines } from '../support/user-lines.ts'
import { readLines, test } from '../support/user-transfer.ts'

describe('GET /users/export', () => {
  test('returns a line for each user, and continues after afterId', async ({
    tenant,
    token,
    upload,
    download,
  }) => {
    await readLines(await upload(toNdjson(userLines(3))))
    const lines = await readLines(await download())
    expect(lines).toMatchObject(userLines(3))
    expect(Object.keys(lines[0]).slice(0, 2)).toEqual(['id', 'name'])
    expect(await readLines(await download(`?afterId=${lines[1].id}`))).toEqual([lines[2]])
    expect(await (await download(`?afterId=${lines[2].id}`)).text()).toBe('')
    expect((await download('?afterId=unknown')).status).toBe(400)
    expect((await download('', await tokenFor(tenant, ['users:write']))).status).toBe(403)
    const [line] = await readLines(await download('', await tokenFor(tenant, ['users:read'])))
    expect(line).not.toHaveProperty('appMetadata')
    const head = await download('', token, 'HEAD')
    expect([head.status, head.headers.get('content-type'), await head.text()]).toEqual([200, NDJSON, ''])
  })

  test('closes the connection of a reader that receives nothing for a minute', async ({ download }) => {
    const limits: unknown[] = []
    const watch = (message: unknown) => {
      const { socket } = message as { socket: Socket }
      vi.spyOn(socket, 'setTimeout').mockImplementation((limit) => {
        limits.push(limit)
        return socket
      })
    }
    subscribe('http.server.request.start', watch)
    await (await download()).text()
    unsubscribe('http.server.request.start', watch)
    vi.restoreAllMocks()
    expect(limits).toContain(60_000)
  })

  test('returns the users of the tenant of the caller only', async ({ upload, download }) => {
    const theirs = await newTenant()
    await readLines(await upload(toNdjson([userLine(1)]), { tenant: theirs }))
    expect(await (await download()).text()).toBe('')
    // The keys belong to other users here.
    expect(await readLines(await upload(toNdjson([{ ...userLine(1), name: 'Ours' }])))).toMatchObject([
      { status: 'created' },
      {},
    ])
    expect(await getUserByEmail(await ctxFor(theirs), 'p1@example.com')).toMatchObject({ name: 'Person 1' })
  })
})
