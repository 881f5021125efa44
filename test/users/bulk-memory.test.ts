import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { describe, expect } from 'vitest'
import { liveBytes } from '../support/heap.ts'
import { hasServices } from '../support/services.ts'
import { toNdjson } from '../support/user-lines.ts'
import { startUpload, test } from '../support/user-transfer.ts'

describe.runIf(hasServices)('POST /users/import', () => {
  test('stops reading while the client reads no results', async ({ app, tenant, token }) => {
    const sent = startUpload(app.origin, tenant, token)
    const answered = once(sent, 'response')
    // The result of each line is far larger than the line.
    const line = Buffer.from(`{${Array.from({ length: 100 }, (_, i) => `"x${i}":0`).join(',')}}\n`)
    const hasDrained = () =>
      once(sent, 'drain', { signal: AbortSignal.timeout(1000) }).then(
        () => true,
        () => false,
      )
    let written = 0
    let isBlocked = false
    const LIMIT = 200_000_000
    while (!isBlocked && written < LIMIT) {
      isBlocked = !sent.write(line) && !(await hasDrained())
      written += line.length
    }
    expect(isBlocked).toBe(true)
    expect(written).toBeLessThan(LIMIT / 2)
    const [response] = (await answered) as [IncomingMessage]
    // The import continues as soon as results are read.
    response.resume()
    await once(sent, 'drain')
    sent.destroy()
  })

  test('uses no more memory for a long file than for a short one', async ({ openImport, download }) => {
    const LINES = 5000
    const running = openImport()
    const heap: number[] = []
    const listLines = (from: number) =>
      Array.from({ length: 100 }, (_, i) => ({ externalId: `crm-${from + i}` }))
    const send = async () => {
      for (let n = 1; n <= LINES; n += 100)
        if (!running.sent.write(toNdjson(listLines(n)))) await once(running.sent, 'drain')
      running.sent.end()
    }
    const sending = send()
    for (let line = await running.next(), n = 0; line; line = await running.next(), n++) {
      if (line.summary) expect(line.summary).toMatchObject({ created: LINES, failed: 0 })
      if (n % 1000 === 0) heap.push(liveBytes())
    }
    await sending
    // A hundred bytes for each of 5,000 lines would be as much.
    expect(Math.max(...heap) - (heap[0] ?? 0)).toBeLessThan(500_000)
    const response = await download()
    let count = 0
    for await (const chunk of response.body as ReadableStream<Uint8Array>)
      for (const byte of chunk) if (byte === 10) count++
    expect(count).toBe(LINES)
  }, 120_000)
})
